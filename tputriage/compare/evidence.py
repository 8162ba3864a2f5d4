"""What one run says about a bucket, and what all of them say together. Pure.

A run that hits the emulator's own limits, a hub that is offline, or a lost worker says nothing about the
bucket, so it is neither a failure nor a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tputriage.compare.hardcoded import absent_device
from tputriage.model import Failure, Outcome, Phase, Run, Signature
from tputriage.signatures import family_of, same_bug
from tputriage.signatures.families import BY_NAME, Kind

# Kinds in which the failure is the machine's or the emulator's, never the bucket's own.
FOREIGN = frozenset({Kind.INFRA, Kind.EMULATOR})
ENDED_FOR_MEMORY = "ended: it used more than"  # the worker's last words for a child that ate the machine's memory
WORDS_SHOWN = 160  # characters of another failure's message quoted in a reason


class Seen(StrEnum):
    SAME = "same"  # failed as the bucket does
    OTHER = "other"  # failed in another way
    PASSED = "pass"
    SKIP = "skip"
    FOREIGN = "foreign"  # stopped by the machine or the emulator before it could show anything
    NOTHING = "nothing"  # did not run


def kind_of(about: Failure | Signature) -> Kind:
    """What the family means for a verdict: infra, emulator, secondary, missing-op, crash, numeric, …"""
    if isinstance(about, Failure):
        return family_of(about).kind
    family = BY_NAME.get(about.family)
    return family.kind if family else Kind.EXCEPTION


def see(wanted: Signature, run: Run) -> Seen:
    """What this run says about a bucket of this signature."""
    if run.outcome.is_pass:
        return Seen.PASSED
    if run.outcome is Outcome.SKIPPED:
        return Seen.SKIP
    if not run.outcome.is_failure:
        return Seen.NOTHING
    if ENDED_FOR_MEMORY in run.last_words:
        return Seen.FOREIGN
    if _died_alike(wanted, run) or (run.failure is not None and same_bug(wanted, run.failure)):
        return Seen.SAME
    if run.failure is not None and run.failure.phase is Phase.COLLECT:
        return Seen.NOTHING  # its file cannot be imported here: that is no other way to fail, the test never ran
    if run.failure is not None and (kind_of(run.failure) in FOREIGN or absent_device(run)):
        return Seen.FOREIGN
    return Seen.OTHER


def tells_of_itself(run: Run) -> bool:
    """Whether a run failed by its own doing, not by the machine's: no time-out, no memory or network that gave out."""
    if not run.outcome.is_failure or run.outcome is Outcome.TIMEOUT or ENDED_FOR_MEMORY in run.last_words:
        return False
    return run.failure is None or kind_of(run.failure) is not Kind.INFRA


def _died_alike(wanted: Signature, run: Run) -> bool:
    """A death of which the report has no words is any death; where it has the failed check, the words decide."""
    if kind_of(wanted) is Kind.TIMEOUT:
        return run.outcome is Outcome.TIMEOUT
    return wanted.family == "crash" and run.outcome is Outcome.CRASH


@dataclass(frozen=True, slots=True)
class Tally:
    """How the runs on one side divide; `total` counts only those that say something."""

    same: int = 0
    other: int = 0
    passed: int = 0
    skipped: int = 0
    foreign: int = 0
    nothing: int = 0

    @property
    def total(self) -> int:
        return self.same + self.other + self.passed

    @property
    def mixed(self) -> bool:
        """Failed as wanted, and passed too."""
        return bool(self.same and self.passed)


def tally(wanted: Signature, runs: Iterable[Run]) -> Tally:
    """Count what the runs say."""
    counts = dict.fromkeys(Seen, 0)
    for run in runs:
        counts[see(wanted, run)] += 1
    return Tally(
        same=counts[Seen.SAME],
        other=counts[Seen.OTHER],
        passed=counts[Seen.PASSED],
        skipped=counts[Seen.SKIP],
        foreign=counts[Seen.FOREIGN],
        nothing=counts[Seen.NOTHING],
    )


def slim(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs with traceback and output kept once for each command and message: repeats only need to be counted."""
    met: set[tuple[str, str]] = set()
    kept = []
    for run in runs:
        failure = run.failure
        if failure is not None:
            said = (run.command, f"{failure.exception}: {failure.message}")
            if said in met:
                run = replace(run, failure=replace(failure, text="", captured="", frames=()), last_words="")
            met.add(said)
        kept.append(run)
    return tuple(kept)


def first(wanted: Signature, runs: Sequence[Run], seen: Seen) -> Run | None:
    """The first run that says this, or None."""
    return next((run for run in runs if see(wanted, run) is seen), None)


def quote(run: Run | None) -> str:
    """How a run failed, in one line for a reason: "ValueError: bad shape", or its outcome and last words."""
    if run is None:
        return "nothing"
    failure = run.failure
    if failure is None or not (failure.exception or failure.message):
        return " ".join((run.outcome.value, *run.last_words.strip().splitlines()[-1:]))[:WORDS_SHOWN]
    words = failure.message.strip().splitlines() or [""]
    name = failure.exception.rpartition(".")[2]
    return ": ".join(part for part in (name, words[0]) if part)[:WORDS_SHOWN]
