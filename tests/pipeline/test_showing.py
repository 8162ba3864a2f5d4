"""`tputriage show` finds what a part of an id means, and says what ran without repeating itself."""

import io

import pytest
from rich.console import Console

from tests.helpers import a_bucket, a_failure, a_report
from tputriage.errors import InputError
from tputriage.model import Level, Outcome, Repro, ReproStatus, Run, TrackedIssue, Verdict, VerdictKind
from tputriage.pipeline.showing import show
from tputriage.store import open_store
from tputriage.store.ledger import StoredLedger

TESTS = ("tests/a.py::test_row[3]", "tests/a.py::test_row[5]")


@pytest.fixture
def folder(tmp_path):
    """A store with two variants of one test in a bucket, and another test in another."""
    failures = [a_failure(test_id=test) for test in TESTS]
    other = a_failure(test_id="tests/b.py::test_row")
    buckets = [a_bucket(*failures), a_bucket(other, bucket_id="b9876543210", key="f" * 16)]
    with open_store(tmp_path / "store") as store:
        store.add_report(a_report(*failures, other, outcomes={"passed": 1, "failed": 3}), "suite", buckets)
        run = Run(TESTS[0], "emulator", Outcome.FAILED, command="tputriage run -m pytest it")
        store.save_verdict(buckets[0].id, Verdict(VerdictKind.TPU_ONLY, "fails", runs=(run,) * 8))
    return tmp_path / "store"


def test_a_part_that_fits_several_tests_of_one_bucket_is_that_bucket(folder):
    assert show(item="a.py::test_row", store=folder, quiet=True).data["bucket"]["id"] == "b0123456789"


def test_a_part_that_fits_tests_of_two_buckets_is_asked_back(folder):
    with pytest.raises(InputError, match="could be any of"):
        show(item="test_row", store=folder, quiet=True)


def printed(view):
    console = Console(file=io.StringIO(), width=120)
    for part in view:
        console.print(part)
    return console.file.getvalue().splitlines()


def test_what_has_no_repro_says_why(folder):
    with open_store(folder) as store:
        store.save_repro(
            Repro("b0123456789", TESTS[0], ReproStatus.NOT_REPRODUCED, Level.TEST, reason="it passes flat")
        )
    lines = printed(show(item="b0123456789", store=folder, quiet=True).view)
    assert "no repro: it passes flat" in lines


def test_runs_that_ended_alike_are_one_row_with_their_number(folder):
    lines = printed(show(item=TESTS[0], store=folder, quiet=True).view)
    rows = [line.split() for line in lines if "pytest it" in line]
    assert [row[:3] for row in rows] == [["emulator", "failed", "8"]]


def test_a_test_shows_what_it_said_and_a_bucket_its_tests(folder):
    one = printed(show(item=TESTS[0], store=folder, quiet=True).view)
    assert any(line.startswith(f"{TESTS[0]}: failed in call after") for line in one)
    assert "and 1 other test of this bucket" in one
    whole = printed(show(item="b0123456789", store=folder, quiet=True).view)
    assert "2 tests" in whole
    assert any(line.split()[-1:] == ["2"] and "seen" not in line for line in whole)


def test_a_setting_is_told_beside_the_targets_and_the_rate_with_its_interval(folder):
    knobs = {"cpu-fallback": "passes"}
    with open_store(folder) as store:
        verdict = Verdict(VerdictKind.TPU_ONLY, "fails", failed=3, total=4, interval=(0.3, 0.95), knobs=knobs)
        store.save_verdict("b0123456789", verdict)
    lines = printed(show(item="b0123456789", store=folder, quiet=True).view)
    assert "verdict tpu-only: fails; failure rate 3 of 4 (95 % interval: 30% to 95%)" in lines
    assert ["cpu-fallback", "passes"] in [line.split() for line in lines]


def test_the_issue_is_shown_as_it_was_last_seen(folder):
    with open_store(folder) as store:
        StoredLedger(store).saw(
            {"b0123456789": TrackedIssue(7, "t", "", "closed", ("bug",), state_reason="completed")}, 1e9
        )
    done = show(item="b0123456789", store=folder, quiet=True)
    assert done.data["issue"] == 7
    assert "issue #7: closed as completed, labels: bug; as seen on 2001-09-09 01:46 UTC" in printed(done.view)
    assert [row["state"] for row in show(item=None, store=folder, quiet=True).data["buckets"]] == ["fixed", ""]


def test_the_overview_starts_with_the_pages_numbers(folder):
    done = show(item=None, store=folder, quiet=True)
    lines = printed(done.view)
    assert lines[0].startswith("suite: 25.0% pass, 1 passed, 3 failed, 0 skipped")
    assert lines[1:3] == [
        "2 buckets of 3 failing tests: 1 tpu-only, 1 undecided",
        "0 reported, 0 open, 0 fixed; 1 to report",
    ]
    assert (done.data["waiting"], done.data["runs"][0]["pass_rate"]) == (1, 0.25)
