"""The runs that an inquiry has gathered of one bucket, and the questions that gather them.

An inquiry is a generator: it yields questions and is sent their runs in the same order, so that it reads as the
straight list of steps that it is, while many inquiries share the two workers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tputriage.compare.desk import Question, Side
from tputriage.compare.evidence import Tally, tally
from tputriage.compare.repeats import Spent
from tputriage.model import Bucket, Failure, Outcome, Phase, Run

Asking = Generator[Sequence[Question], Sequence[Run], None]

LIMIT_GROWTH = 3.0  # a first compilation is slow: a time-out is believed at this many times the limit
REPRESENTATIVES = 3
BLOCKING: Mapping[str, str] = MappingProxyType({"TORCH_TPU_LAUNCH_BLOCKING": "1"})
# The emulator runs attention without the TPU's kernels, which no CPU plugin has: with them, it fails as it would
# have failed where nobody took them away.
KERNELS: Mapping[str, str] = MappingProxyType({"TPUTRIAGE_ATTENTION_KERNELS": "1"})


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for all buckets of one comparison."""

    limit_s: float
    device: str  # names of the targets
    reference: str
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)  # {file: its tests as they ran}
    sides: frozenset[Side] = frozenset({Side.DEVICE, Side.REFERENCE})
    also: str = ""  # name of one more target, where there is one
    settings: bool = True  # whether the knobs are tried
    masked: frozenset[str] = frozenset()  # tests that show their real error with launch-blocking only


@dataclass(slots=True)
class Casebook:
    """What is known of a bucket so far; `runs` grows, everything else is fixed."""

    bucket: Bucket
    rules: Rules
    limit_s: float
    grown: bool = False
    runs: dict[Side, list[Run]] = field(default_factory=lambda: {side: [] for side in Side})

    def of(self, bucket: Bucket) -> Casebook:
        """The same book with only this part's tests in it."""
        tests = set(bucket.tests)
        kept = {side: [run for run in runs if run.test_id in tests] for side, runs in self.runs.items()}
        return replace(self, bucket=bucket, runs=kept)

    def tally(self, side: Side, tests: Iterable[str] | None = None) -> Tally:
        chosen = None if tests is None else set(tests)
        runs = self.runs[side]
        return tally(self.bucket.signature, (run for run in runs if chosen is None or run.test_id in chosen))

    def unsteady(self, side: Side) -> bool:
        """Whether a test has ended in different ways on this side."""
        tallies = [self.tally(side, [test]) for test in self.looked_at(side)]
        return any((counts.same > 0) + (counts.other > 0) + (counts.passed > 0) > 1 for counts in tallies)

    def spent(self, side: Side) -> Spent:
        return Spent(self.tally(side), sum(run.seconds for run in self.runs[side]))

    def looked_at(self, side: Side) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.test_id for run in self.runs[side]))

    def look(self, side_tests: Iterable[tuple[Side, str]]) -> Asking:
        """Run each test once on the side named with it, and note what comes of it."""
        asked = [self._question(side, test_id) for side, test_id in side_tests]
        if not asked:
            return
        runs = list((yield asked))
        yield from self._doubt(asked, runs)
        for question, run in zip(asked, runs, strict=True):
            self.runs[question.side].append(self._collected(run))

    def _collected(self, run: Run) -> Run:
        """A file that could not be collected has passed once the worker collected it and finds no test of its name."""
        broken = any(failure.phase is Phase.COLLECT for failure in self.bucket.failures)
        said = run.failure if run.outcome is Outcome.UNAVAILABLE else None
        if broken and said is not None and said.phase is Phase.COLLECT:
            return replace(run, outcome=Outcome.PASSED, failure=None)
        return run

    def _question(self, side: Side, test_id: str) -> Question:
        masked = side is Side.DEVICE and test_id in self.rules.masked
        return Question(side, test_id, self.limit_s, BLOCKING if masked else {})

    def _doubt(self, asked: Sequence[Question], runs: list[Run]) -> Asking:
        """Replace time-outs in `runs` by runs with a longer limit: one first, the others if that helped."""
        late = [place for place, run in enumerate(runs) if run.outcome is Outcome.TIMEOUT]
        if not late or self.grown:
            return
        self.grown = True
        longer = self.limit_s * LIMIT_GROWTH
        first, *rest = late
        (runs[first],) = yield [replace(asked[first], limit_s=longer)]
        if runs[first].outcome is Outcome.TIMEOUT:
            return
        self.limit_s = longer
        if rest:
            again = yield [replace(asked[place], limit_s=longer) for place in rest]
            for place, run in zip(rest, again, strict=True):
                runs[place] = run


def representatives(failures: Sequence[Failure], count: int = REPRESENTATIVES) -> tuple[str, ...]:
    """The quickest tests that have as little as possible in common: other files first, then other classes."""
    quickest = sorted(failures, key=lambda failure: failure.duration_s)
    tests = list(dict.fromkeys(failure.test_id for failure in quickest))
    chosen: list[str] = []
    for depth in (1, 2, None):  # file, file and class, anything
        met = {_stem(test, depth) for test in chosen}
        for test in tests:
            stem = _stem(test, depth)
            if stem not in met and len(chosen) < count:
                met.add(stem)
                chosen.append(test)
    return tuple(chosen)


def _stem(test_id: str, depth: int | None) -> str:
    if depth is None:
        return test_id
    # A parametrised id may hold "::" itself; only what stands before the first bracket is pytest's.
    return "::".join(test_id.partition("[")[0].split("::")[:depth])
