"""Signatures: what makes two failures the same bug, and whether a failure is a bug that is wanted.

A signature is made by a `RuleSet`, which is data. A newer one gets a higher version; `old_keys` signs by the
older ones too, so that a bug stored under an old key is still found. The key is made of what the rules say
and not of their version: a failure that a new rule leaves alone keeps its key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tputriage.model import Failure, Signature
from tputriage.signatures.families import BY_NAME, Family, Identity, Kind, family_of, last_words, match_family
from tputriage.signatures.origin import (
    cpp_origin,
    device_place_of,
    expression_of,
    fails_where_asserted,
    operator_named,
    place_of,
    plain_operator,
    test_of,
)
from tputriage.signatures.rules import RULES, Rule, normalise, unwrap


@dataclass(frozen=True, slots=True, eq=False)
class RuleSet:
    """One version of the rules."""

    version: int
    rules: tuple[Rule, ...]


CURRENT = RuleSet(1, RULES)
PAST: tuple[RuleSet, ...] = ()  # older versions, newest first; each release that changes RULES adds one

_QUOTED = re.compile(r"`[^`\n]{0,400}`|'[^'\n]{0,400}'|\"[^\"\n]{0,400}\"")
_SPELLING = str.maketrans({'"': "'", " ": None})
_ASSERTING = ("assert ", "self.assert")
_TELLING = 12  # characters of an assertion's first line that say enough: more than `assert not (`
_LIST = re.compile(r"\[N(?:, (?:N|…))*\]|\((?:N, )+N?\)")
_NUMBERED = re.compile(r"_(?:N|\d+)\b")  # how names are kept apart where functions are inlined
_ASSERTED = frozenset({"assertion", "assert-numbers"})
_DEVICE = frozenset({Kind.INFRA, Kind.EMULATOR, Kind.SECONDARY, Kind.MISSING_OP, Kind.OUT_OF_MEMORY, Kind.COMPILE})
_COMPILED = "torch.compile"
_VAGUE = frozenset({Identity.PLACE, Identity.EXPRESSION})
_CAUSELESS = frozenset({Kind.INFRA, Kind.EMULATOR})  # no operator of torch_tpu is at fault


def sign(failure: Failure, by: RuleSet = CURRENT) -> Signature:
    """The failure's signature; pure, and the same on every machine."""
    plain, wrapper = _unwrapped(failure)
    family = family_of(plain)
    operator = "" if family.kind in _CAUSELESS else plain_operator(failure.operator) or _operator(family, plain.message)
    known = bool(failure.operator and operator) and (family.identity in _VAGUE or family.kind is Kind.SECONDARY)
    origin = () if known else _origin(family, plain, wrapper)
    # Whoever stopped a hang, a plugin by an exception of its own or we by ending the process, it is one hang.
    nameless = family.identity in (Identity.FAMILY, Identity.OPERATOR) or family.kind is Kind.TIMEOUT
    exception = "" if nameless else _short_type(plain.exception)
    template = family.says if known else _template(family, plain, by)
    key = _key(family.name, exception, template, operator, *origin)
    return Signature(by.version, family.name, exception, template, operator, origin, key)


def old_keys(failure: Failure, past: Sequence[RuleSet] = PAST) -> tuple[str, ...]:
    """The keys under which older versions of the rules know this failure, newest first, without repeats."""
    current = sign(failure).key
    return tuple(dict.fromkeys(key for rules in past if (key := sign(failure, rules).key) != current))


def second_key(failure: Failure) -> str:
    """`file.cc:function` where torch_tpu's C++ trace starts; not part of the key, since few runs print it."""
    return cpp_origin(failure.message) or cpp_origin(failure.text)


def same_bug(wanted: Signature, seen: Failure) -> bool:
    """Whether `seen`, perhaps from a standalone script with other frames and shapes, is the wanted bug.

    Numeric mismatches are one class: a shrunk script asserts in its own words. For texts that say little
    the innermost function or the asserted expression must agree. A named operator must agree. A bare assert is
    known by its expression: pytest writes its values into the message, plain Python writes nothing.
    """
    found = sign(seen)
    if _share_an_assertion(wanted, found):
        return True
    kind = BY_NAME[wanted.family].kind if wanted.family in BY_NAME else Kind.EXCEPTION
    if kind is Kind.NUMERIC:
        return BY_NAME[found.family].kind is Kind.NUMERIC and _agree(wanted.operator, found.operator)
    if wanted.family != found.family or not _agree(wanted.operator, found.operator):
        return False
    if wanted.exception != found.exception and kind is not Kind.TIMEOUT:  # older keys of hangs have it
        return False
    if BY_NAME[found.family].identity in _VAGUE and kind is Kind.EXCEPTION:
        return _share_a_place(wanted, found)
    return _loose(wanted.template) == _loose(found.template)


def _share_an_assertion(wanted: Signature, found: Signature) -> bool:
    """The same asserted expression: outside pytest a bare assert has no message that could be compared."""
    if not wanted.exception == found.exception == "AssertionError":
        return False
    pairs = [(one, other) for one in wanted.origin for other in found.origin]
    return any(one.startswith(_ASSERTING) and _same_expression(one, other) for one, other in pairs)


def _same_expression(one: str, other: str) -> bool:
    """Quotes, spaces and numbers of names aside; where only the first line of several is known, as far as that goes."""
    short, long = (_NUMBERED.sub("", part.translate(_SPELLING)) for part in (one, other))
    return short == long or (short.endswith("(") and len(short) > _TELLING and long.startswith(short))


def _agree(one: str, other: str) -> bool:
    return not one or not other or one.rpartition("::")[2] == other.rpartition("::")[2]


def _share_a_place(wanted: Signature, found: Signature) -> bool:
    functions = {part.rpartition(":")[2] for part in wanted.origin}
    return not wanted.origin or any(part.rpartition(":")[2] in functions for part in found.origin)


def _loose(template: str) -> str:
    """A template in which shapes of any rank are alike, and the first letter's case does not count."""
    return _LIST.sub("[N]", template).lower()


def _unwrapped(failure: Failure) -> tuple[Failure, str]:
    """The failure with what wraps it taken off, and the wrapper's type or ""."""
    exception, message, wrapper = unwrap(failure.exception, failure.message[:4_000])
    plain = replace(failure, exception=exception, message=message) if wrapper else failure
    return _caused(plain) if failure.causes else plain, wrapper


def _caused(failure: Failure) -> Failure:
    """The failure as the exception it was raised from, where that one is the device's and this one is any.

    torch's own tests raise a plain Exception with the message of the real one, and name its type no more.
    """
    if family_of(failure).identity is not Identity.MESSAGE or family_of(failure).name != "exception":
        return failure
    for cause in failure.causes:
        exception, message, _ = unwrap(*_split_cause(cause))
        if match_family(f"{exception}: {message}").kind in _DEVICE:
            return replace(failure, exception=exception, message=message)
    first = _split_cause(failure.causes[0])
    same = failure.exception == "Exception" and failure.message.startswith(first[1][:200])
    return replace(failure, exception=first[0]) if same else failure


def _split_cause(cause: str) -> tuple[str, str]:
    """("KeyError", "'k'") of "KeyError: 'k'"."""
    exception, _, message = cause.partition(": ")
    return exception, message


def _operator(family: Family, message: str) -> str:
    return "" if family.kind in (Kind.NUMERIC, Kind.SECONDARY) else operator_named(message[:2_000])


def _template(family: Family, failure: Failure, by: RuleSet) -> str:
    if family.identity in (Identity.FAMILY, Identity.OPERATOR, Identity.EXPRESSION):
        return family.says
    if family.name == "crash-check":
        return _check(family, failure, by)
    if family.identity is Identity.TEST:
        return family.says
    said = failure.message[:4_000]
    # A plugin appends its internals; its first line names what it lacks.
    said = said.strip().split("\n", 1)[0] if family.kind is Kind.EMULATOR else said
    text = _first_letter_down(_normalised(said, by))
    if family.identity is Identity.NAMES:
        return _QUOTED.sub("'…'", text)
    if family.identity is Identity.PLACE:
        return _QUOTED.sub("'…'", _first_line(family, failure, by))
    return text


def _check(family: Family, failure: Failure, by: RuleSet) -> str:
    """A failed CHECK's file and text: its line moves with every release."""
    found = family.pattern.search(last_words(failure))
    if not found:
        return family.says
    return f"{found['file'].rpartition('/')[2]}: {_normalised(found['check'], by)}"


def _first_line(family: Family, failure: Failure, by: RuleSet) -> str:
    """Where values differ, the first line says so and the rest are the values.

    An asserted expression says it all, unless a helper raised: then its message tells which of its checks.
    """
    lines = failure.message[:4_000].strip().split("\n")
    if lines[0].startswith("assert ") or (family.name in _ASSERTED and fails_where_asserted(failure)):
        return "assert"
    return _first_letter_down(_normalised(lines[0] if family.kind is not Kind.COMPILE else "\n".join(lines), by))


def _normalised(text: str, by: RuleSet) -> str:
    return normalise(text, by.rules)


def _first_letter_down(text: str) -> str:
    """torch_tpu lowers the first letter of texts that it adapts, so its case says nothing."""
    return text[:1].lower() + text[1:]


def _origin(family: Family, failure: Failure, wrapper: str) -> tuple[str, ...]:
    route = (_COMPILED,) if wrapper and family.kind in (Kind.COMPILE, Kind.EMULATOR) else ()
    if family.identity is Identity.TEST:
        return (test_of(failure.test_id),)
    if family.identity is Identity.EXPRESSION:
        return (expression_of(failure),)
    if family.identity is not Identity.PLACE:
        return route
    if family.kind in (Kind.COMPILE, Kind.OUT_OF_MEMORY):
        return (device_place_of(failure), *route)
    return tuple(part for part in (place_of(failure), expression_of(failure)) if part)


def _short_type(exception: str) -> str:
    return exception.rpartition(".")[2]


def _key(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]
