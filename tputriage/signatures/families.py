"""Families of messages: what kind of trouble a text speaks of, and what of it makes two failures one bug.

One row a family, tried in order; a row matches if its pattern is found in "Type: message", unwrapped, its
numbers masked as N.
Rows say by example what they match and what they must leave alone; the tests walk the table. Sources: TT is
the public copy of torch_tpu, XLA its error pages (openxla.org/xla/errors), RUN a run made for this table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from tputriage.model import Failure, Outcome
from tputriage.signatures._rows import ROWS
from tputriage.signatures.origin import compares_values, is_recorded, raised_in
from tputriage.signatures.rules import masked_numbers


class Kind(StrEnum):
    """What a family means for its verdict."""

    INFRA = "infra"  # the machine, the network or the installation
    EMULATOR = "emulator"  # the CPU plugin's limits; verdict infra
    SECONDARY = "secondary"  # an earlier failure read later; names no cause
    MISSING_OP = "missing-op"
    OUT_OF_MEMORY = "out-of-memory"
    TIMEOUT = "timeout"
    CRASH = "crash"
    SUITE = "suite"  # the suite's own check of the device
    COMPILE = "compile"
    NUMERIC = "numeric"  # values differ
    EXCEPTION = "exception"


class Identity(StrEnum):
    """What, beside the family, two failures must share to be the same bug."""

    FAMILY = "family"  # nothing: the family is one trouble
    MESSAGE = "message"  # the template of the message
    NAMES = "names"  # the template with quoted names masked too
    OPERATOR = "operator"  # the operator, without its overload
    PLACE = "place"  # the frame, the asserted expression and the template: the text says too little
    EXPRESSION = "expression"  # the asserted expression, wherever it stands
    TEST = "test"  # the test function: there is no stack


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    kind: Kind
    identity: Identity
    pattern: re.Pattern[str]
    needles: tuple[
        str, ...
    ]  # lower-case literals, one of which a match must hold; the last row has none and is what is left
    says: str  # the trouble in a person's words; `{operator}` is filled in
    example: str
    counterexample: str
    source: str


def _family(row: Sequence[str | tuple[str, ...]]) -> Family:
    name, kind, identity, needles, pattern, says, example, counterexample, source = row
    assert isinstance(needles, tuple)
    compiled = re.compile(str(pattern), re.I | re.M)
    words = (str(name), Kind(str(kind)), Identity(str(identity)), compiled, needles)
    return Family(*words, str(says), str(example), str(counterexample), str(source))


FAMILIES = tuple(_family(row) for row in ROWS)
# Flat and in the rows' order: a failure costs a hundred of these substring searches and few patterns.
_NEEDLES = tuple((needle, family) for family in FAMILIES for needle in family.needles)
BY_NAME = {family.name: family for family in FAMILIES}
EXCEPTION, CRASH, CRASH_CHECK, TIMEOUT, RECORDED, ASSERTION, NOT_CLOSE = (
    BY_NAME[name]
    for name in ("exception", "crash", "crash-check", "timeout", "recorded-values", "assertion", "not-close")
)
_FATAL = (BY_NAME["emulator-partitioner"], CRASH_CHECK)  # what a process says when it aborts itself


def match_family(said: str) -> Family:
    """The first family whose row matches "Type: message"; the last row matches anything."""
    return _match(masked_numbers(said))


@lru_cache(maxsize=20_000)
def _match(said: str) -> Family:
    low = said.lower()
    for needle, family in _NEEDLES:
        if needle in low and family.pattern.search(said):
            return family
    return EXCEPTION


def family_of(failure: Failure) -> Family:
    """The family of a failure, by its outcome first (a crash is one whatever it printed), then its text."""
    if from_outcome := _by_outcome(failure):
        return from_outcome
    if failure.exception.endswith("AssertionError") and is_recorded(failure):
        return RECORDED
    family = match_family(said_by(failure))
    if family is ASSERTION and compares_values(failure):
        return NOT_CLOSE
    # torch_tpu's own refusals are TorchTPU's, however much they sound like a suite's.
    return EXCEPTION if family.kind is Kind.SUITE and "torch_tpu/" in raised_in(failure) else family


def _by_outcome(failure: Failure) -> Family | None:
    if failure.outcome is Outcome.TIMEOUT:
        return TIMEOUT
    if failure.outcome is Outcome.CRASH:
        words = last_words(failure)
        return next((family for family in _FATAL if family.pattern.search(words)), CRASH)
    return None


def said_by(failure: Failure) -> str:
    return f"{failure.exception}: {failure.message}" if failure.exception else failure.message


def last_words(failure: Failure) -> str:
    """What a dying process left: its captured output, then its message."""
    return f"{failure.captured}\n{failure.message}"
