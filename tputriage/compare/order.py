"""Order dependence: what passes alone but failed in the suite is rerun after the tests that ran before it.

If it fails then, halving finds one culprit after the other, and delta debugging (Zeller and Hildebrandt, 2002)
makes sure of it: one test less in any place, and it passes. Several culprits needed together are found too. A
sequence that dies or hangs before the test has run is not a failure of the test.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Sequence

from tputriage.compare.casebook import LIMIT_GROWTH, Casebook
from tputriage.compare.desk import Question, Side
from tputriage.compare.evidence import Seen, see
from tputriage.model import Outcome, Run

Tests = tuple[str, ...]
Answers = Generator[Sequence[Question], Sequence[Run], list[Run]]
Search = Generator[Sequence[Question], Sequence[Run], tuple[Tests, list[Run], list[Run]]]

MOST_RUNS = 120  # of whole sequences, while one sequence is searched
EARLIER_S = 2.0  # what each earlier test adds to a sequence's time limit
MOST_ALONE = 150  # earlier tests that are run alone to find the one that ends the process
# A flake may fail after other tests by chance: the whole sequence must make it fail three times in a row before
# anything is searched, and the sequence found five times. A flake of 50 % gets through once in 256.
SIGHTINGS = 3
CONFIRMATIONS = 5
REFERENCE_RUNS = 2
DEATHS = frozenset({Outcome.CRASH, Outcome.TIMEOUT})


def earlier(test_id: str, casebook: Casebook) -> Tests:
    """The tests of the same file that the report ran before this one."""
    file = test_id.partition("::")[0]
    ran = tuple(casebook.rules.order.get(file, ()))
    return ran[: ran.index(test_id)] if test_id in ran else ()


def by_file(test_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """{file: its tests in this order}: what `compare` takes as `order`, from a report's tests as they ran."""
    files: dict[str, list[str]] = {}
    for test_id in test_ids:
        files.setdefault(test_id.partition("::")[0], []).append(test_id)
    return {file: tuple(tests) for file, tests in files.items()}


def search(casebook: Casebook, test_id: str) -> Search:
    """(shortest sequence, its device runs, its reference runs); all empty where the earlier tests change nothing."""
    oracle = _Oracle(casebook, test_id)
    before = yield from _whole(oracle, earlier(test_id, casebook))
    if not before:
        return (), [], []
    before = yield from _ddmin(oracle, (yield from _halve(oracle, before)))
    device = yield from oracle.run([before] * CONFIRMATIONS, Side.DEVICE)
    if not all(see(casebook.bucket.signature, run) is Seen.SAME for run in device):
        return (), [], []
    reference = yield from oracle.run([before] * REFERENCE_RUNS, Side.REFERENCE)
    return before, device, reference


class _Oracle:
    """Runs sequences in front of one test, within a budget."""

    def __init__(self, casebook: Casebook, test_id: str) -> None:
        self.casebook = casebook
        self.test_id = test_id
        self.left = MOST_RUNS
        self.died = False  # whether a sequence of the last question ended its process
        self._known: dict[Tests, bool] = {}

    def run(self, sequences: Sequence[Tests], side: Side = Side.DEVICE) -> Answers:
        self.left -= len(sequences)
        runs = yield [Question(side, self.test_id, self._limit(before), before=before) for before in sequences]
        self.died = any(run.outcome in DEATHS for run in runs)
        return list(runs)

    def _limit(self, before: Tests) -> float:
        return self.casebook.limit_s * LIMIT_GROWTH + EARLIER_S * len(before)

    def first_failing(self, sequences: Sequence[Tests]) -> Generator[Sequence[Question], Sequence[Run], Tests | None]:
        """The first of these after which the test fails as wanted; asks at most once for each."""
        new = [before for before in dict.fromkeys(sequences) if before not in self._known][: max(0, self.left)]
        if new:
            runs = yield from self.run(new)
            for before, run in zip(new, runs, strict=True):
                self._known[before] = see(self.casebook.bucket.signature, run) is Seen.SAME
        return next((before for before in sequences if self._known.get(before)), None)


def _whole(oracle: _Oracle, before: Tests) -> Generator[Sequence[Question], Sequence[Run], Tests]:
    """`before` where the test fails after it, without those that end the process; () where it does not."""
    if not before:
        return ()
    if (yield from _surely(oracle, before)):
        return before
    if not oracle.died or len(before) > MOST_ALONE:
        return ()
    limit = oracle.casebook.limit_s
    alone = yield [Question(Side.DEVICE, test, limit) for test in before]
    fatal = {run.test_id for run in alone if run.outcome in DEATHS}
    harmless = tuple(test for test in before if test not in fatal)
    if not fatal or not harmless:
        return ()
    return harmless if (yield from _surely(oracle, harmless)) else ()


def _surely(oracle: _Oracle, before: Tests) -> Generator[Sequence[Question], Sequence[Run], bool]:
    if not (yield from oracle.first_failing([before])):
        return False
    runs = yield from oracle.run([before] * (SIGHTINGS - 1))
    return all(see(oracle.casebook.bucket.signature, run) is Seen.SAME for run in runs)


def _halve(oracle: _Oracle, failing: Tests) -> Generator[Sequence[Question], Sequence[Run], Tests]:
    """The last test of the shortest failing prefix, again and again: a few runs for each culprit.

    Right where one test more never makes the failure go away; where that does not hold the result does not
    fail, and `failing` is given back.
    """
    needed: Tests = ()
    rest = failing
    while rest and not (yield from oracle.first_failing([needed] if needed else [])):
        low, high = 0, len(rest)  # the prefix of length `low` is too short, that of length `high` fails
        while high - low > 1 and oracle.left > 0:
            middle = (low + high) // 2
            if (yield from oracle.first_failing([rest[:middle] + needed])):
                high = middle
            else:
                low = middle
        needed, rest = (rest[high - 1], *needed), rest[: high - 1]
    return needed if (yield from oracle.first_failing([needed])) else failing


def _ddmin(oracle: _Oracle, failing: Tests) -> Generator[Sequence[Question], Sequence[Run], Tests]:
    pieces = 2
    while len(failing) > 1 and oracle.left > 0:
        chunks = _cut(failing, pieces)
        found = yield from oracle.first_failing(chunks)
        if found:
            failing, pieces = found, 2
            continue
        found = yield from oracle.first_failing([_without(failing, chunk) for chunk in chunks])
        if found:
            failing, pieces = found, max(2, pieces - 1)
        elif pieces >= len(failing):
            return failing
        else:
            pieces = min(len(failing), 2 * pieces)
    return failing


def _cut(tests: Tests, pieces: int) -> list[Tests]:
    """`tests` in this many pieces of nearly equal length, none of them empty."""
    ends = [len(tests) * number // pieces for number in range(pieces + 1)]
    return [tests[start:end] for start, end in itertools.pairwise(ends) if start < end]


def _without(tests: Tests, chunk: Tests) -> Tests:
    gone = set(chunk)
    return tuple(test for test in tests if test not in gone)
