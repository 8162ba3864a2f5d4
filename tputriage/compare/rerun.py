"""Rerun representatives on two targets and yield each verdict as soon as it is known.

Errors that hide another come first: a secondary one is rerun with launch-blocking, a death without last words as
it is, and goes to the bucket of its real error before anything is judged. A target that turns out to be unusable
for everybody, as a chip that another process holds, is one error and a stop, not a verdict for each bucket.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tputriage.compare.casebook import BLOCKING, KERNELS, Rules
from tputriage.compare.desk import Desk, Question, Side
from tputriage.compare.evidence import slim, tells_of_itself
from tputriage.compare.inquiry import Findings, Inquiry, investigate
from tputriage.compare.judge import judge_moved
from tputriage.compare.machine import Watch
from tputriage.compare.parts import rehome
from tputriage.console import Steps
from tputriage.model import Bucket, Failure, Run, Verdict
from tputriage.signatures import family_of
from tputriage.targets.seam import Runner

INQUIRIES_AT_ONCE = 6  # enough to keep both workers busy, few enough for verdicts to come one by one
MOST_HIDDEN = 200  # tests whose report hides the real error that are rerun for it
LACKS_KERNELS = "emulator-custom-call"  # family of what an emulator says to a TPU kernel
SECONDARY = "secondary"
# {family whose words name no cause: whether a rerun's failure does}. A death of which the report has no words, as
# pytest-xdist's, has them in a rerun: all that die of one failed check are one bucket.
TELL_MORE: Mapping[str, Callable[[Failure], bool]] = MappingProxyType(
    {
        SECONDARY: lambda seen: family_of(seen).name != SECONDARY,
        "crash": lambda seen: family_of(seen).name == "crash-check",
    }
)


def compare(
    buckets: Sequence[Bucket],
    device: Runner,
    reference: Runner,
    *,
    limit_s: float,
    order: Mapping[str, Sequence[str]] | None = None,
    on_progress: Steps | None = None,
    also: Runner | None = None,
    settled: Sequence[Bucket] = (),
    settings: bool = True,
) -> Iterator[tuple[Bucket, Verdict]]:
    """(bucket, verdict) in the order they become known; a bucket may come back changed.

    A bucket that was split keeps its id for its largest part, and the other parts are new buckets. A failure
    that was secondary is in the bucket of its real error, under its reported phase; where that left a bucket
    without failures it comes with `failures=()`, and its verdict says where they went. `order` maps a test
    file to its node ids as the report ran them; `settled` are buckets that need no rerun, but may be where a
    real error belongs; `also` is one more target that gives one more column; without `settings` no knob is tried.

    Raises TargetError where a target cannot be used at all.
    """
    runners = {Side.DEVICE: device, Side.REFERENCE: reference} | ({Side.ALSO: also} if also else {})
    with Desk(runners) as desk:
        rules = Rules(
            limit_s=limit_s,
            device=device.target.name,
            reference=reference.target.name,
            order=order or {},
            sides=desk.sides,
            also=also.target.name if also else "",
            settings=settings,
        )
        watch = Watch()
        found = _unmask(desk, [*buckets, *settled], rules, watch)
        rules = replace(rules, masked=found.masked)
        unchanged = {id(bucket) for bucket in settled}
        asked = [bucket for bucket in found.homes if id(bucket) not in unchanged]
        kept = {bucket.id for bucket in found.homes}
        for number, (bucket, verdict) in enumerate(_inquire(desk, asked, rules, watch)):
            if on_progress:
                on_progress(min(number + 1, len(asked)), len(asked), bucket.title)
            yield bucket, found.with_evidence(bucket, verdict)
        for bucket in buckets:
            if bucket.id not in kept:
                yield judge_moved(bucket, found.homes)


@dataclass(frozen=True, slots=True)
class _Unmasked:
    """What came of the reruns for real errors."""

    homes: list[Bucket]  # each hidden error is in the bucket of its real one
    runs: Mapping[str, Run]  # of each test that showed its real error
    masked: frozenset[str]  # tests that show it with launch-blocking only

    def with_evidence(self, bucket: Bucket, verdict: Verdict) -> Verdict:
        """The verdict with the runs that brought tests to this bucket; they count for no rate."""
        brought = [self.runs[test] for test in bucket.tests if test in self.runs]
        return replace(verdict, runs=slim((*verdict.runs, *brought))) if brought else verdict


def _unmask(desk: Desk, buckets: Sequence[Bucket], rules: Rules, watch: Watch) -> _Unmasked:
    hidden = [failure for bucket in buckets if bucket.signature.family in TELL_MORE for failure in bucket.failures]
    reported = {failure.test_id: family_of(failure).name for failure in hidden}
    blocking = {**BLOCKING, **(KERNELS if _had_kernels(buckets) else {})}
    desk.put(
        0,
        [
            Question(Side.DEVICE, test, rules.limit_s, blocking if family == SECONDARY else {})
            for test, family in list(reported.items())[:MOST_HIDDEN]
        ],
    )
    real: dict[str, Failure] = {}
    runs: dict[str, Run] = {}
    while desk.open:
        _, run = desk.get()
        watch.look(run)
        if tells_of_itself(run) and run.failure is not None and TELL_MORE[reported[run.test_id]](run.failure):
            real[run.test_id], runs[run.test_id] = run.failure, run
    found = [(failure, real[failure.test_id]) for failure in hidden if failure.test_id in real]
    masked = frozenset(test for test in real if reported[test] == SECONDARY)
    return _Unmasked(rehome(buckets, found) if found else list(buckets), runs, masked)


def _had_kernels(buckets: Sequence[Bucket]) -> bool:
    """Whether the reported run was on an emulator that called the TPU's own kernels, as some failure in it says.

    Our emulator avoids them, so what they hide behind a secondary error would pass here, and look as if it had gone.
    """
    return any(bucket.signature.family == LACKS_KERNELS for bucket in buckets)


@dataclass(slots=True)
class _Open:
    """An inquiry that waits for runs."""

    inquiry: Inquiry
    runs: list[Run | None] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return all(run is not None for run in self.runs)


def _inquire(desk: Desk, buckets: Sequence[Bucket], rules: Rules, watch: Watch) -> Iterator[tuple[Bucket, Verdict]]:
    waiting = deque(enumerate(buckets))
    opened: dict[int, _Open] = {}
    while waiting or opened:
        while waiting and len(opened) < INQUIRIES_AT_ONCE:
            number, bucket = waiting.popleft()
            opened[number] = _Open(investigate(bucket, rules))
            yield from _advance(desk, opened, number)
        if opened:
            (number, place), run = desk.get()
            watch.look(run)
            opened[number].runs[place] = run
            if opened[number].complete:
                yield from _advance(desk, opened, number)


def _advance(desk: Desk, opened: dict[int, _Open], number: int) -> Findings:
    """Give an inquiry its runs; its findings where it has come to its end, else its next questions are put."""
    current = opened[number]
    runs = [run for run in current.runs if run is not None]
    try:
        questions = current.inquiry.send(runs) if runs else next(current.inquiry)
    except StopIteration as end:
        del opened[number]
        findings: Findings = end.value
        return findings
    current.runs = [None] * len(questions)
    desk.put(number, questions)
    return []
