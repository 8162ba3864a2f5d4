"""The numbers above the buckets."""

from tests.dashboard.values import NOW_S, a_dossier, a_row
from tputriage.dashboard import IssueState, Links, board_of
from tputriage.dashboard.numbers import MEANINGS
from tputriage.model import VerdictKind


def test_the_pass_rate_leaves_skipped_tests_out():
    run = board_of([], [a_row(passed=3, failed=1, skipped=96)], Links()).runs[0]
    assert (run.rate, run.percent, run.rest) == (0.75, "75.0%", 96)


def test_expected_failures_pass_and_crashes_fail():
    run = board_of(
        [], [a_row(outcomes={"xfailed": 1, "passed": 1, "crash": 1, "timeout": 1, "error": 1})], Links()
    ).runs[0]
    assert (run.passed, run.failed) == (2, 3)


def test_a_run_in_which_nothing_ended_has_no_rate():
    run = board_of([], [a_row(passed=0, failed=0)], Links()).runs[0]
    assert run.rate is None
    assert run.percent == "no test ran to an end"


def test_now_is_the_last_run_of_each_suite():
    board = board_of([], [a_row(0), a_row(1, suite="peft"), a_row(2)], Links())
    assert [(run.suite, run.source) for run in board.newest] == [
        ("diffusers", "night-2.json"),
        ("peft", "night-1.json"),
    ]


def test_reported_bugs_are_open_until_verify_sees_them_pass():
    known = [
        a_dossier(0),
        a_dossier(1, issue=7),
        a_dossier(2, issue=8, fixed_in="0.3.0"),
        a_dossier(3, fixed_in="0.3.0"),
        a_dossier(4, kind=VerdictKind.FLAKY),
    ]
    board = board_of(known, [], Links())
    assert (board.reported, board.fixed, board.open, board.waiting) == (2, 1, 1, 1)


def test_what_the_tracker_last_said_of_an_issue_counts():
    states = {
        "b0000000001": IssueState(7),
        "b0000000002": IssueState(8, "closed", "completed"),
        "b0000000003": IssueState(9, "closed", "not_planned", seen_s=NOW_S),
    }
    board = board_of([a_dossier(number) for number in range(5)], [], Links(states=states))
    assert (board.reported, board.open, board.fixed, board.dropped, board.waiting) == (3, 1, 1, 1, 2)
    assert board.seen == "2026-11-30 00:53"


def test_a_bucket_without_a_verdict_counts_as_undecided():
    board = board_of([a_dossier(0, tests=3, verdict=None), a_dossier(1)], [], Links())
    assert [(row.kind, row.buckets, row.tests) for row in board.verdicts] == [
        (VerdictKind.TPU_ONLY, 1, 1),
        (VerdictKind.UNDECIDED, 1, 3),
    ]


def test_every_verdict_has_a_meaning():
    assert MEANINGS.keys() == set(VerdictKind)
