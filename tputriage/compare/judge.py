"""From the runs of a bucket to its verdict. Pure: no process is started and no clock is read here.

The order of the questions is the argument: did anything run at all, did the failure come back, does it come
back every time, whose check raised it, and what does the reference say to the same test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tputriage.compare.evidence import Seen, Tally, first, kind_of, quote, tally
from tputriage.compare.statistics import repeats_needed, wilson
from tputriage.compare.suite import deciding_line, raised_in_torch
from tputriage.model import Bucket, Run, Verdict, VerdictKind
from tputriage.signatures.families import CRASH, Kind

# Kinds whose words are torch_tpu's own: where the reference skips the test, these still name the culprit.
DEVICE_OWN = frozenset({Kind.MISSING_OP, Kind.COMPILE, Kind.CRASH, Kind.OUT_OF_MEMORY})
PLACES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found out beyond plain runs of the bucket's tests."""

    device: str = "the device"  # names of the targets, for the reasons
    reference: str = "cpu"
    after: tuple[str, ...] = ()  # the shortest sequence of earlier tests after which it fails
    randomness: str = ""  # what shows that the numbers differ only because random streams do
    knobs: Mapping[str, str] = field(default_factory=dict)
    matrix: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()  # half sentences that the reason ends with


def judge_without_runs(bucket: Bucket) -> Verdict:
    """What the report alone decides: infra for the machine's and the emulator's own failures, else undecided."""
    kinds = [kind_of(failure) for failure in bucket.failures]
    if kinds and all(kind is Kind.INFRA for kind in kinds):
        return _bare(VerdictKind.INFRA, f"the machine's or the network's failure, not a test's: {_first_words(bucket)}")
    if kinds and all(kind is Kind.EMULATOR for kind in kinds):
        return _bare(
            VerdictKind.INFRA,
            f"a limit of the emulator's plugin, which says nothing about a TPU: {_first_words(bucket)}",
        )
    return _bare(VerdictKind.UNDECIDED, "nothing was rerun yet: `tputriage collect` without --no-rerun decides")


def judge(
    bucket: Bucket, device_runs: Sequence[Run], reference_runs: Sequence[Run], facts: Facts | None = None
) -> Verdict:
    """The verdict on tests that agree (`parts.split` sees to that), with its reason and all runs as evidence."""
    case = _Case(bucket, tuple(device_runs), tuple(reference_runs), facts or Facts())
    kind, reason = _decide(case)
    counts = case.device
    return Verdict(
        kind=kind,
        reason="; ".join((reason, *case.facts.notes)),
        runs=case.device_runs + case.reference_runs,
        failed=counts.same,
        total=counts.total,
        interval=wilson(counts.same, counts.total),
        knobs=case.facts.knobs,
        matrix=(
            (case.facts.device, _words(counts)),
            (case.facts.reference, _words(case.reference)),
            *case.facts.matrix,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Case:
    bucket: Bucket
    device_runs: tuple[Run, ...]
    reference_runs: tuple[Run, ...]
    facts: Facts

    @property
    def device(self) -> Tally:
        return tally(self.bucket.signature, self.device_runs)

    @property
    def reference(self) -> Tally:
        return tally(self.bucket.signature, self.reference_runs)

    def device_words(self, seen: Seen) -> str:
        return quote(first(self.bucket.signature, self.device_runs, seen))

    def reference_words(self, seen: Seen) -> str:
        return quote(first(self.bucket.signature, self.reference_runs, seen))


def _decide(case: _Case) -> tuple[VerdictKind, str]:
    counts = case.device
    if not counts.total:
        return _nothing_ran(case)
    if case.facts.after:
        return _order(case)
    if not counts.same:
        return _not_seen(case)
    if counts.mixed:
        return _flaky(case)
    return _always(case)


def _nothing_ran(case: _Case) -> tuple[VerdictKind, str]:
    counts, name = case.device, case.facts.device
    if counts.foreign:
        return VerdictKind.INFRA, f"on {name} the run stops before the failure: {case.device_words(Seen.FOREIGN)}"
    if counts.skipped:
        return VerdictKind.NOT_REPRODUCED, f"{name} skips the test here"
    return VerdictKind.UNDECIDED, f"no run on {name} came to an end: {case.device_words(Seen.NOTHING)}"


def _not_seen(case: _Case) -> tuple[VerdictKind, str]:
    counts, name = case.device, case.facts.device
    if kind_of(case.bucket.signature) is Kind.TIMEOUT:
        return _no_hang(case)
    if counts.other:
        what = f"fails on {name} in {counts.other} of {counts.total} runs, but otherwise"
        return VerdictKind.NOT_REPRODUCED, f"{what}: {case.device_words(Seen.OTHER)}"
    most = wilson(0, counts.total)[1]
    return (
        VerdictKind.NOT_REPRODUCED,
        f"passes on {name} in all of {counts.total} runs alone (a flake of more than {most:.0%} would have shown)",
    )


def _no_hang(case: _Case) -> tuple[VerdictKind, str]:
    longest = max((run.seconds for run in case.device_runs), default=0.0)
    reason = f"no hang: on {case.facts.device} it ends within {longest:.1f} s in all of {case.device.total} runs"
    if case.device.other:
        reason += f", and fails otherwise: {case.device_words(Seen.OTHER)}"
    return VerdictKind.NOT_REPRODUCED, reason


def _flaky(case: _Case) -> tuple[VerdictKind, str]:
    counts, there = case.device, case.reference
    low, high = wilson(counts.same, counts.total)
    rate = counts.same / counts.total
    reason = (
        f"fails on {case.facts.device} in {counts.same} of {counts.total} runs ({rate:.0%}, 95 % interval"
        f" {low:.0%} to {high:.0%}; {_runs(repeats_needed(rate))} show it with 95 % confidence)"
    )
    if there.same:
        return VerdictKind.FLAKY, f"{reason}, and on {case.facts.reference} in {there.same} of {there.total}"
    return VerdictKind.FLAKY, f"{reason}, {_reference_half(case)}"


def _order(case: _Case) -> tuple[VerdictKind, str]:
    names = ", ".join(case.facts.after)
    reason = f"passes alone, and fails on {case.facts.device} after {names}"
    if case.reference.same:
        return VerdictKind.EVERYWHERE, f"{reason}, as it does on {case.facts.reference}: the tests disturb each other"
    return VerdictKind.TPU_ONLY, f"{reason}, {_reference_half(case)} in that order"


def _always(case: _Case) -> tuple[VerdictKind, str]:
    device, there = case.device, case.reference
    reason = f"fails on {case.facts.device} in {_of(device.same, device.total)}"
    if there.same:
        both = f"{reason}, and alike on {case.facts.reference} in {_of(there.same, there.total)}"
        return VerdictKind.EVERYWHERE, both
    line = deciding_line(case.bucket, case.device_runs)
    if line:
        return VerdictKind.SUITE, f"{reason} by a check of the suite or library on the device: {line}"
    if case.facts.randomness:
        return VerdictKind.SUITE, f"{reason}, but it is randomness: {case.facts.randomness}"
    if there.passed or there.other:
        return VerdictKind.TPU_ONLY, f"{reason}, {_reference_half(case)}"
    return _no_reference(case, reason)


def _no_reference(case: _Case, reason: str) -> tuple[VerdictKind, str]:
    """The reference has no say: it skips the test, or was kept from running it."""
    half = _reference_half(case)
    if kind_of(case.bucket.signature) in DEVICE_OWN:
        return VerdictKind.TPU_ONLY, f"{reason}, {half}; the message is torch_tpu's own, which decides"
    place = raised_in_torch(case.device_runs)
    if place:
        return VerdictKind.TPU_ONLY, f"{reason}, {half}; it is raised by {place}, not by a check of the suite"
    return VerdictKind.UNDECIDED, f"{reason}, {half}"


def _reference_half(case: _Case) -> str:
    name, there = case.facts.reference, case.reference
    if there.passed and there.other:
        other = case.reference_words(Seen.OTHER)
        return f"passes on {name} in {there.passed} of {there.total}, else fails there otherwise: {other}"
    if there.passed:
        return f"passes on {name} in {_of(there.passed, there.total)}"
    if there.other:
        return f"fails on {name} too, but otherwise ({case.reference_words(Seen.OTHER)}), which is another matter"
    if there.skipped:
        return f"while {name} skips the test"
    if there.foreign:
        return f"while {name} cannot run it ({case.reference_words(Seen.FOREIGN)})"
    return f"while {name} did not run it"


def _first_words(bucket: Bucket) -> str:
    return quote(Run(bucket.representative, "", bucket.failures[0].outcome, bucket.failures[0]))


def _bare(kind: VerdictKind, reason: str) -> Verdict:
    return Verdict(kind=kind, reason=reason)


def _of(count: int, total: int) -> str:
    return f"{count} of {total} runs" if total != 1 else "its one run"


def _runs(count: int) -> str:
    return f"{count} runs" if count != 1 else "one run"


def _words(counts: Tally) -> str:
    """ "failed 3 of 3", "passed 2 of 3", "skipped": a cell of the table for people."""
    if counts.total:
        told = ((counts.same, "failed"), (counts.passed, "passed"), (counts.other, "failed otherwise"))
        return ", ".join(f"{word} {count} of {counts.total}" for count, word in told if count)
    if counts.skipped:
        return "skipped"
    return "could not run" if counts.foreign or counts.nothing else "not run"


def judge_moved(bucket: Bucket, homes: Sequence[Bucket]) -> tuple[Bucket, Verdict]:
    """(the bucket without failures, where they went) for one whose failures all have their real error elsewhere.

    Where all went to what is judged without runs, as the emulator's own limits are, this bucket is judged so too.
    """
    tests = set(bucket.tests)
    gone = [home for home in homes if tests & set(home.tests)]
    kinds = {judge_without_runs(home).kind for home in gone}
    kind = VerdictKind.INFRA if kinds == {VerdictKind.INFRA} else VerdictKind.UNDECIDED
    names = ", ".join(f"{home.id} ({home.title})" for home in gone[:PLACES_SHOWN])
    more = f" and {len(gone) - PLACES_SHOWN} more" if len(gone) > PLACES_SHOWN else ""
    died = bucket.signature.family == CRASH.name
    how = "a death without last words: rerun," if died else "only a secondary error: with launch-blocking"
    reason = f"{how} its failures show their real error, in {names}{more}"
    return replace(bucket, failures=()), _bare(kind, reason)
