"""The inquiry into one bucket, step by step: which runs are asked for, and in which order.

`investigate` is a generator of questions (see casebook.py); what it returns is the bucket with its verdict, or
its parts with theirs where the members disagree.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace

from tputriage.compare import counterfactual, order
from tputriage.compare.casebook import Asking, Casebook, Rules, representatives
from tputriage.compare.desk import Question, Side
from tputriage.compare.evidence import slim
from tputriage.compare.judge import Facts, judge, judge_without_runs
from tputriage.compare.parts import split
from tputriage.compare.repeats import AGREE_CERTAIN, BUDGET, device_runs_wanted, reference_runs_wanted
from tputriage.compare.suite import deciding_line
from tputriage.model import Bucket, Run, Verdict, VerdictKind

Findings = list[tuple[Bucket, Verdict]]
Inquiry = Generator[Sequence[Question], Sequence[Run], Findings]

MOST_MEMBERS = 64  # members looked at one by one where representatives disagree, or the reference skips them
WITNESSES_AT_ONCE = 8  # members that the reference is asked for before its answers are looked at
AT_ONCE = 4  # repeats asked for before the runs so far are looked at again
# What a single test cannot tell by itself: it goes where the bucket's other tests go.
_SILENT = frozenset({VerdictKind.UNDECIDED, VerdictKind.INFRA})


def investigate(bucket: Bucket, rules: Rules) -> Inquiry:
    """Compare a bucket on the two targets."""
    at_once = judge_without_runs(bucket)
    if at_once.kind is not VerdictKind.UNDECIDED:
        return [(bucket, at_once)]
    book = Casebook(bucket, rules, rules.limit_s)
    yield from book.look(_both(representatives(bucket.failures)))
    yield from _find_witness(book)
    if _disagree(book):
        yield from _repeat_each(book)
    if _disagree(book):
        seen = set(book.looked_at(Side.DEVICE))
        rest = [test for test in bucket.tests if test not in seen]
        yield from book.look(_both(rest[:MOST_MEMBERS]))
    findings: Findings = []
    for part in split(bucket, _kinds(book)) if _disagree(book) else [bucket]:
        findings.append((part, (yield from _settle(book.of(part), is_part=part.tests != bucket.tests))))
    return findings


def _both(tests: Iterable[str]) -> list[tuple[Side, str]]:
    return [(side, test) for test in tests for side in (Side.DEVICE, Side.REFERENCE)]


def _find_witness(book: Casebook) -> Asking:
    """Where the reference skips every representative, look for a member of the bucket that it does run.

    A check of the device that the suite makes itself is known by its line: there the reference need not say anything.
    """
    there = book.tally(Side.REFERENCE)
    if there.total or not there.skipped or deciding_line(book.bucket, book.runs[Side.DEVICE]):
        return
    seen = set(book.looked_at(Side.REFERENCE))
    rest = [test for test in representatives(book.bucket.failures, MOST_MEMBERS) if test not in seen]
    for start in range(0, len(rest), WITNESSES_AT_ONCE):
        asked = rest[start : start + WITNESSES_AT_ONCE]
        yield from book.look((Side.REFERENCE, test) for test in asked)
        witness = next((test for test in asked if book.tally(Side.REFERENCE, [test]).total), "")
        if witness:
            yield from book.look([(Side.DEVICE, witness)])
            return


def _kinds(book: Casebook) -> dict[str, VerdictKind]:
    """What each test would be judged by its own runs; tests that cannot tell are left out."""
    kinds = {}
    for test in book.looked_at(Side.DEVICE):
        device, reference = (
            [run for run in book.runs[side] if run.test_id == test] for side in (Side.DEVICE, Side.REFERENCE)
        )
        kind = judge(book.bucket, device, reference).kind
        if kind not in _SILENT and book.tally(Side.REFERENCE, [test]).total:
            kinds[test] = kind
    return kinds


def _disagree(book: Casebook) -> bool:
    return len(set(_kinds(book).values())) > 1


def _repeat_each(book: Casebook) -> Asking:
    """Runs that tell a flake, which disagrees with itself, from members that disagree with each other."""
    tests = list(_kinds(book))
    for _ in range(AT_ONCE):
        yield from book.look(_both(tests))


def _settle(book: Casebook, *, is_part: bool) -> Generator[Sequence[Question], Sequence[Run], Verdict]:
    """Repeat until the runs agree or the budget is spent, ask what else the bucket should be asked, and judge."""
    yield from _repeat(book, Side.DEVICE, AGREE_CERTAIN)
    notes = ("the bucket's members disagree, and these are one part of it",) if is_part else ()
    facts = Facts(device=book.rules.device, reference=book.rules.reference, notes=notes)
    ordered = yield from _order(book, facts)
    if ordered is not None:
        return ordered
    yield from _repeat(book, Side.DEVICE)
    yield from _repeat(book, Side.REFERENCE)
    more: list[Run] = []
    for ask in (counterfactual.randomness, counterfactual.settings):
        if _judged(book, facts).kind is VerdictKind.TPU_ONLY:
            facts, runs = yield from ask(book, facts)
            more += runs
    return _judged(book, facts, more)


def _judged(book: Casebook, facts: Facts, more: Sequence[Run] = ()) -> Verdict:
    """The verdict on the runs so far; `more` are evidence beside them, and count for no rate."""
    verdict = judge(book.bucket, book.runs[Side.DEVICE], book.runs[Side.REFERENCE], facts)
    return replace(verdict, runs=slim((*verdict.runs, *more)))


def _order(book: Casebook, facts: Facts) -> Generator[Sequence[Question], Sequence[Run], Verdict | None]:
    """The verdict on a test that passes alone and fails after others; None where it is none."""
    counts = book.tally(Side.DEVICE)
    if counts.same or counts.other or not counts.passed:
        return None
    for test_id in book.looked_at(Side.DEVICE):
        after, device, reference = yield from order.search(book, test_id)
        if after:
            verdict = judge(book.bucket, device, reference, replace(facts, after=after))
            alone = (*book.runs[Side.DEVICE], *book.runs[Side.REFERENCE])
            return replace(verdict, runs=slim((*alone, *verdict.runs)))
    return None


def _repeat(book: Casebook, side: Side, most: int = BUDGET) -> Asking:
    """Repeats in turn of the tests that say something, until no more are wanted or there are `most` runs."""
    while True:
        tests = [test for test in book.looked_at(side) if book.tally(side, [test]).total]
        before = book.tally(side).total
        wanted = min(AT_ONCE, _wanted(book, side), most - before)
        if wanted <= 0 or not tests:
            return
        yield from book.look((side, tests[number % len(tests)]) for number in range(wanted))
        if book.tally(side).total == before:  # the machine gave out: more of the same would not end
            return


def _wanted(book: Casebook, side: Side) -> int:
    if side is Side.DEVICE:
        return device_runs_wanted(book.bucket.signature, book.spent(side))
    unsteady = book.unsteady(Side.DEVICE) or book.unsteady(Side.REFERENCE)
    return reference_runs_wanted(book.spent(side), unsteady=unsteady)
