"""How many more runs a bucket deserves: agreement stops early, disagreement buys runs up to a budget. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tputriage.compare.evidence import Tally, kind_of
from tputriage.model import Signature
from tputriage.signatures.families import CRASH_CHECK, Kind

# The report is one sighting already. A flake that fails every second time survives 8 agreeing runs with a chance
# of 0.4 %; a message that names an operator or a failed check is no matter of chance, and 3 runs are for show.
AGREE = 8
AGREE_CERTAIN = 3
AGREE_TIMEOUT = 2  # each costs the whole limit, and the second has had three times the first's
BUDGET = 20  # runs of a bucket whose runs disagree, or never show the failure: 0.7 ** 20 is below 0.1 %
REFERENCE_AGREE = 2
REFERENCE_BUDGET = 10
PATIENCE_S = 90.0  # machine time of one bucket's repeats; the first AGREE_CERTAIN runs are made whatever they cost
CERTAIN = frozenset({Kind.MISSING_OP, Kind.COMPILE, Kind.SUITE})


def is_certain(signature: Signature) -> bool:
    """Whether the bucket's words are no matter of chance: a failed check, or an error that names its operator."""
    kind = kind_of(signature)
    named = kind is Kind.EXCEPTION and bool(signature.operator)
    return kind in CERTAIN or named or signature.family == CRASH_CHECK.name


@dataclass(frozen=True, slots=True)
class Spent:
    """What a bucket has had so far on one side."""

    tally: Tally
    seconds: float


def device_runs_wanted(signature: Signature, spent: Spent) -> int:
    """How many more device runs to ask for now; 0 where the runs so far are enough."""
    counts = spent.tally
    if not counts.total:
        return 0
    if kind_of(signature) is Kind.TIMEOUT and counts.same:
        return max(0, AGREE_TIMEOUT - counts.total)
    goal = _goal(signature, counts)
    if spent.seconds > PATIENCE_S:
        goal = min(goal, AGREE_CERTAIN)
    return max(0, goal - counts.total)


def _goal(signature: Signature, counts: Tally) -> int:
    if counts.mixed or (counts.passed and not counts.same):
        return BUDGET
    if counts.same and not is_certain(signature):
        return AGREE
    return AGREE_CERTAIN


def reference_runs_wanted(spent: Spent, *, unsteady: bool) -> int:
    """How many more reference runs to ask for now; `unsteady` where a test ends in different ways on either side."""
    counts = spent.tally
    if not counts.total or spent.seconds > PATIENCE_S:
        return 0
    goal = REFERENCE_BUDGET if unsteady else REFERENCE_AGREE
    return max(0, goal - counts.total)
