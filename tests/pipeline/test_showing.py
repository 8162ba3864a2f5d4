"""`tputriage show` finds what a part of an id means, and says what ran without repeating itself."""

import io

import pytest
from rich.console import Console

from tests.helpers import a_bucket, a_failure, a_report
from tputriage.errors import InputError
from tputriage.model import Level, Outcome, Repro, ReproStatus, Run, Verdict, VerdictKind
from tputriage.pipeline.showing import show
from tputriage.store import open_store

TESTS = ("tests/a.py::test_row[3]", "tests/a.py::test_row[5]")


@pytest.fixture
def folder(tmp_path):
    """A store with two variants of one test in a bucket, and another test in another."""
    failures = [a_failure(test_id=test) for test in TESTS]
    other = a_failure(test_id="tests/b.py::test_row")
    buckets = [a_bucket(*failures), a_bucket(other, bucket_id="b9876543210", key="f" * 16)]
    with open_store(tmp_path / "store") as store:
        store.add_report(a_report(*failures, other), "suite", buckets)
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
