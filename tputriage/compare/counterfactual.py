"""What a bucket that fails on the device alone is asked beyond plain runs: would it pass under another setting?

Random numbers drawn on CPU (only where numbers differ), each knob, one more target, and the C++ trace that
torch_tpu's maintainers ask for. Each is one run of the bucket's quickest test that fails as wanted.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from tputriage.compare import knobs
from tputriage.compare.casebook import Casebook
from tputriage.compare.desk import Question, Side
from tputriage.compare.evidence import Seen, kind_of, quote, see
from tputriage.compare.judge import Facts
from tputriage.compare.numbers import read_mismatch
from tputriage.model import Run
from tputriage.signatures.families import Kind
from tputriage.targets.runs import CPU_RANDOM

RANDOM_RUNS = 2  # what passes in them differs by its random stream alone; a wrong result stays wrong

Asked = Generator[Sequence[Question], Sequence[Run], tuple[Facts, list[Run]]]


def randomness(book: Casebook, facts: Facts) -> Asked:
    """(facts, runs) with what shows that the numbers are only those of another random stream."""
    test_id = witness(book)
    if not test_id or kind_of(book.bucket.signature) is not Kind.NUMERIC:
        return facts, []
    runs = list((yield [Question(Side.DEVICE, test_id, book.limit_s, CPU_RANDOM)] * RANDOM_RUNS))
    rows = _numbers(book, test_id)
    facts = replace(facts, matrix=(*facts.matrix, *rows))
    if not all(see(book.bucket.signature, run) is Seen.PASSED for run in runs):
        return facts, runs
    words = f"it passes in {len(runs)} of {len(runs)} runs once random numbers are drawn as on {facts.reference}"
    return replace(facts, randomness=words), runs


def settings(book: Casebook, facts: Facts) -> Asked:
    """(facts, runs) with the outcome under each knob, and on one more target where there is one."""
    test_id = witness(book) if book.rules.settings else ""
    if not test_id or kind_of(book.bucket.signature) is Kind.TIMEOUT:  # each run would cost the whole limit
        return facts, []
    asked = knobs.questions(book.bucket.signature, test_id, book.limit_s, masked=test_id in book.rules.masked)
    if Side.ALSO in book.rules.sides:
        asked.append(Question(Side.ALSO, test_id, book.limit_s))
    runs = list((yield asked))
    outcomes, note = knobs.read(book.bucket.signature, runs)
    facts = replace(facts, knobs=outcomes, notes=(*facts.notes, *([note] if note else [])))
    return (_also(book, facts, runs[-1]) if Side.ALSO in book.rules.sides else facts), runs


def witness(book: Casebook) -> str:
    """The test that fails as wanted most quickly; "" where none does."""
    wanted = book.bucket.signature
    failing = [run for run in book.runs[Side.DEVICE] if see(wanted, run) is Seen.SAME]
    # A masked test needs launch-blocking to fail as wanted, so another one is the better witness.
    failing.sort(key=lambda run: (run.test_id in book.rules.masked, run.seconds))
    return failing[0].test_id if failing else ""


def _also(book: Casebook, facts: Facts, run: Run) -> Facts:
    """One more column: what fails on the emulator too is torch_tpu's lowering, not libtpu's or the chip's."""
    name, seen = book.rules.also, see(book.bucket.signature, run)
    words = {Seen.SAME: "fails alike", Seen.PASSED: "passes"}.get(seen, f"{run.outcome.value}: {quote(run)}")
    notes = {
        Seen.SAME: f"it fails on {name} too, so the chip and libtpu are not at fault",
        Seen.PASSED: f"it passes on {name}, so libtpu or the chip takes part",
    }
    told = [notes[seen]] if seen in notes else []
    return replace(facts, matrix=(*facts.matrix, (name, words)), notes=(*facts.notes, *told))


def _numbers(book: Casebook, test_id: str) -> tuple[tuple[str, str], ...]:
    """How far off the numbers are, as the first failing run of this test says."""
    for run in book.runs[Side.DEVICE]:
        if run.test_id == test_id and run.failure is not None:
            found = read_mismatch(run.failure.message)
            if found:
                return found.words()
    return ()
