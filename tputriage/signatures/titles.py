"""A bucket's title: one line that a person might have written, at most 110 characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tputriage.model import Failure, Signature
from tputriage.signatures.families import BY_NAME, Identity, Kind
from tputriage.signatures.origin import test_of
from tputriage.signatures.rules import CUTS, normalise, unwrap

LONGEST = 110
_CLAUSE = re.compile(r"(?:; |\. |\.$|: please |, please )", re.I)
_ACTUAL = re.compile(r"Actual message: '?([^\n]*?)'?$", re.M)
_COMPILER = re.compile(r"\Afailed to compile MLIR module(?: --|:) (?:the XLA compiler failed with: )?")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{5,16}\b|(?<![\w.])0x[0-9a-fA-F]{8,16}\b")
_SPACE = re.compile(r"\s+")
# absl's and glog's line head: level and date, time, thread; the source file and its line follow, and stay.
_STAMP = re.compile(r"^[FEWI]\d{4} [\d:.]+ +\d+ (?=[\w./+-]+:\d+\] )", re.MULTILINE)


def title_of(signature: Signature, failures: Sequence[Failure]) -> str:
    """The operator and what happens, worded after the first failure."""
    family = BY_NAME.get(signature.family)
    if family is None:
        return _fit(signature.template)
    if family.identity in (Identity.FAMILY, Identity.OPERATOR):
        return _fit(family.says.format(operator=signature.operator))
    if family.identity is Identity.TEST:
        return _fit(f"{signature.origin[0].rpartition(':')[2]}: {family.says}" if signature.origin else family.says)
    if family.identity is Identity.EXPRESSION:
        return _fit(f"{_test(failures)}: {signature.origin[0] if signature.origin else family.says}")
    if family.name == "crash-check":
        return _fit(f"the process aborts in {signature.template}")
    if family.name == "message-wording" and failures:
        return _fit(_wording(failures[0].message))
    if family.kind in (Kind.NUMERIC, Kind.COMPILE, Kind.OUT_OF_MEMORY) or family.name in ("assertion", "not-raised"):
        return _fit(_placed(signature, family.says, failures))
    return _fit(_led(signature, _said(failures) or signature.template or family.says))


def unstamped(text: str) -> str:
    """What a native library logged, without the date, the time and the thread at the head of its lines."""
    return _STAMP.sub("", text)


def _placed(signature: Signature, says: str, failures: Sequence[Failure]) -> str:
    if signature.operator:
        return f"{signature.operator}: {says}"
    place = signature.origin[0] if signature.origin else ""
    function = place.rpartition(":")[2] if "/" in place or place.count(":") == 1 else ""
    if signature.family == "out-of-memory":
        return f"{function}: {says}"
    expression = signature.origin[-1] if signature.origin and signature.origin[-1] != place else ""
    detail = expression if expression.startswith("assert ") else _said(failures)
    return ": ".join(part for part in (function, detail or says) if part)


def _test(failures: Sequence[Failure]) -> str:
    return test_of(failures[0].test_id).rpartition(":")[2] if failures else "a test"


def _wording(message: str) -> str:
    found = _ACTUAL.search(message)
    return f"an error is worded otherwise than expected: {found[1]}" if found else message


def _said(failures: Sequence[Failure]) -> str:
    """The first clause of the first failure's message, with its type where the message names no operator."""
    if not failures:
        return ""
    exception, message, _ = unwrap(failures[0].exception, failures[0].message)
    text = _COMPILER.sub("", normalise(message, CUTS)).split("\n", 1)[0]
    found = _CLAUSE.search(text, 20)
    text = text[: found.start()] if found else text
    kind = exception.rpartition(".")[2]
    return text if not kind or kind in ("RuntimeError", "AssertionError") or not text else f"{kind}: {text}"


def _led(signature: Signature, text: str) -> str:
    name = signature.operator.rpartition("::")[2]
    return f"{signature.operator}: {text}" if name and name not in text else text


def _fit(text: str) -> str:
    # Where an object lay in memory is new in each run, and says nothing.
    text = _ADDRESS.sub(lambda found: "" if found[0].startswith(" at") else "0x…", text)
    line = _SPACE.sub(" ", text).strip() or "a failure without a message"
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
