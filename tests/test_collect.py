"""The pure step: reports in, buckets out."""

from pathlib import Path

import pytest

from tests.helpers import a_failure, a_report
from tputriage.collect import bucket_reports, collection_fell
from tputriage.formats import read_report
from tputriage.model import Outcome
from tputriage.ordering import order_key

REPORTS = Path(__file__).parent.parent / "fixtures" / "reports"


def test_a_real_report_gives_its_numbers():
    found = bucket_reports([read_report(REPORTS / "unet2d.tpu.json")])
    assert (len(found.tests), found.total, len(found.buckets)) == (135, 135, 2)
    assert found.outcomes["passed"] == 27
    assert found.pass_rate == pytest.approx(27 / 109)


def test_a_report_given_twice_counts_once():
    report = read_report(REPORTS / "dit.tpu.json")
    assert bucket_reports([report, report]) == bucket_reports([report])


def test_shards_are_counted_together():
    one = a_report(a_failure(test_id="t.py::a"), digest="d1")
    two = a_report(a_failure(test_id="t.py::b"), digest="d2")
    found = bucket_reports([one, two])
    assert [len(bucket.failures) for bucket in found.buckets] == [2]


def test_reports_stand_in_the_order_of_the_versions_tested():
    late = a_report(digest="d1", versions={"torch_tpu": "0.2.0"}, created_s=900.0)
    new = a_report(digest="d2", versions={"torch_tpu": "0.10.0"}, created_s=100.0)
    assert [r.digest for r in bucket_reports([new, late]).reports] == ["d1", "d2"]
    assert order_key({"torch_tpu": "0.9"}, 2.0) < order_key({"torch_tpu": "0.10"}, 1.0)


@pytest.mark.parametrize(("now", "before", "warns"), [(94, 100, True), (95, 100, False), (0, 100, True), (5, 0, False)])
def test_a_fall_of_more_than_five_percent_is_a_warning(now, before, warns):
    assert bool(collection_fell(now, before)) is warns


def test_the_warning_reaches_the_notes():
    found = bucket_reports([a_report()], collected_before=100)
    assert "fewer than the 100 of the last run" in found.notes[-1]


def test_tests_that_a_format_counts_without_naming_are_counted():
    report = a_report(a_failure(), outcomes={"passed": 9, "failed": 1})
    assert bucket_reports([report]).outcomes == {"failed": 1, "passed": 9}


def test_reports_that_disagree_are_said_to_since_totals_and_buckets_then_differ():
    reports = [read_report(REPORTS / f"unet2d.{device}.json") for device in ("tpu", "cpu")]
    assert "not in a later one: 79;" in bucket_reports(reports).notes[-1]
    assert not any("later one" in note for note in bucket_reports(reports[:1]).notes)


def test_the_notes_say_whose_they_are():
    assert bucket_reports([a_report(notes=("odd",))]).notes == ("run.json: odd",)


def test_nothing_ran_is_no_failure():
    report = a_report(tests={"t.py::a": Outcome.SKIPPED})
    assert bucket_reports([report]).pass_rate is None
