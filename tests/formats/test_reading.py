"""Reading any report: told apart by content, honest about what is missing, one sentence for what is no report."""

import gzip
import json
import os
from pathlib import Path

import pytest
import zstandard

from tputriage.errors import ReportError
from tputriage.formats import formats, read_report
from tputriage.model import Outcome, Phase

FIXTURES = Path(__file__).parents[2] / "fixtures"
ODD = FIXTURES / "odd-reports"
REAL = FIXTURES / "reports"


def write(folder, text, name="report.json"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def a_test(nodeid="t.py::test_a", outcome="failed", **phases):
    return {"nodeid": nodeid, "outcome": outcome, **phases}


def a_report(*tests, **header):
    base = {"created": 1.0, "duration": 2.0, "exitcode": 1, "root": "/r", "environment": {}}
    return json.dumps({**base, "summary": {}, **header, "tests": list(tests)})


def failed_call(message="RuntimeError: boom", **more):
    return {"outcome": "failed", "duration": 0.5, "crash": {"path": "/r/t.py", "lineno": 3, "message": message}, **more}


def by_id(report):
    return {failure.test_id: failure for failure in report.failures}


@pytest.mark.parametrize("path", sorted(REAL.glob("*.json")), ids=lambda path: path.name)
def test_a_real_report_loses_no_failing_phase(path):
    raw = json.loads(path.read_text())
    wanted = sum(
        isinstance(phase, dict) and phase.get("outcome") == "failed" for test in raw["tests"] for phase in test.values()
    )
    report = read_report(path)
    assert len(report.failures) == wanted
    assert len(report.tests) == raw["summary"]["total"]


def test_the_known_report_has_its_known_numbers():
    report = read_report(REAL / "unet2d.tpu.json")
    assert (len(report.tests), len(report.failures), report.collected) == (135, 82, 135)


@pytest.mark.parametrize("path", sorted(ODD.glob("*.json")), ids=lambda path: path.name)
def test_odd_reports_are_read_and_can_be_written_out_again(path):
    report = read_report(path)
    assert report.format == "pytest-json-report"
    assert all((failure.message + failure.text + failure.test_id).encode("utf-8") for failure in report.failures) or (
        not report.failures
    )


def test_two_failures_in_one_test_are_two():
    report = read_report(ODD / "odd.json")
    phases = [f.phase for f in report.failures if f.test_id == "test_odd.py::test_fail_and_teardown_error"]
    assert phases == [Phase.CALL, Phase.TEARDOWN]


def test_node_ids_are_kept_as_pytest_wrote_them():
    tests = read_report(ODD / "odd.json").tests
    assert {"test_odd.py::test_ids[a::b]", "test_odd.py::test_ids[]", "test_odd.py::test_ids[x\\ny]"} <= tests.keys()


def test_a_chained_exception_keeps_its_cause():
    failure = by_id(read_report(ODD / "odd.json"))["test_odd.py::test_chain"]
    assert failure.exception == "RuntimeError"
    assert failure.causes == ("KeyError: 'k'",)


def test_an_exception_group_names_its_parts():
    failure = by_id(read_report(ODD / "odd.json"))["test_odd.py::test_group"]
    assert failure.causes == ("ValueError: 1", "TypeError: 2")
    assert failure.frames[-1].function == "test_group"


def test_a_strict_xpass_has_a_message_without_a_crash():
    failure = by_id(read_report(ODD / "odd.json"))["test_odd.py::test_xpass_strict"]
    assert failure.message.startswith("[XPASS(strict)]")


def test_a_huge_message_is_cut_in_its_middle():
    failure = by_id(read_report(ODD / "odd.json"))["test_odd.py::test_huge"]
    assert len(failure.message) < 20_000
    assert "characters cut" in failure.message


def test_a_collection_error_is_a_failure_and_a_note():
    report = read_report(ODD / "collect_error.json")
    assert report.failures[0].phase is Phase.COLLECT
    assert report.failures[0].exception == "ModuleNotFoundError"
    assert "could not be collected" in " ".join(report.notes)


def test_a_dead_worker_is_a_crash_without_its_first_line():
    report = read_report(ODD / "xdist_crash.json")
    assert report.tests["test_crash.py::test_abort"] is Outcome.CRASH
    assert report.failures[0].text.startswith("worker 'gw0' crashed")


def test_a_timeout_is_told_from_a_failure():
    assert read_report(ODD / "timeout_signal.json").tests["test_timeout.py::test_slow"] is Outcome.TIMEOUT


def test_a_rerun_says_that_its_failure_is_gone():
    report = read_report(ODD / "rerun.json")
    assert not report.failures
    assert "only on a rerun" in " ".join(report.notes)


def test_without_tracebacks_the_crash_line_is_the_frame():
    failure = by_id(read_report(ODD / "tbno.json"))["test_odd.py::test_nan"]
    assert [(frame.path, frame.line) for frame in failure.frames] == [("test_odd.py", 38)]


def test_a_summary_alone_counts_and_says_so(tmp_path):
    text = (
        '{"created": 1, "exitcode": 1, "root": "/r", "summary": {"failed": 2, "passed": 3, "total": 5, "collected": 5}}'
    )
    report = read_report(write(tmp_path, text))
    assert report.outcomes == {"failed": 2, "passed": 3}
    assert "--json-report-summary" in report.notes[0]


def test_omitted_parts_are_not_missed(tmp_path):
    bare = {"outcome": "failed", "duration": 0.1, "crash": {"path": "/r/t.py", "lineno": 3, "message": "ValueError: x"}}
    report = read_report(write(tmp_path, a_report(a_test(call=bare))))
    assert (report.failures[0].exception, report.failures[0].message) == ("ValueError", "x")


def test_a_failed_test_without_a_failed_phase_still_counts(tmp_path):
    report = read_report(write(tmp_path, a_report(a_test(call={"outcome": "passed"}))))
    assert len(report.failures) == 1


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_know_are_read(tmp_path, number):
    text = a_report(a_test(metadata={"x": 0.5}, call=failed_call()), a_test("t.py::b", "passed"))
    report = read_report(write(tmp_path, text.replace('{"x": 0.5}', f'{{"x": {number}}}')))
    assert len(report.tests) == 2
    assert report.failures[0].message == "boom"


def test_nested_objects_that_look_like_tests_do_not_split_a_report(tmp_path):
    nested = [{"nodeid": "x"}, {"nodeid": "y"}]
    tests = [a_test(f"t.py::t{n}", metadata={"tests": nested}, call=failed_call()) for n in range(5)]
    assert len(read_report(write(tmp_path, a_report(*tests))).failures) == 5


@pytest.mark.parametrize("indent", [None, 2])
def test_layout_and_key_order_do_not_matter(tmp_path, indent):
    raw = json.loads((REAL / "dit.tpu.json").read_text())
    mixed = {key: raw[key] for key in sorted(raw, reverse=True)}
    mixed["tests"] = [dict(sorted(test.items())) for test in raw["tests"]]
    report = read_report(write(tmp_path, json.dumps(mixed, indent=indent)))
    assert len(report.failures) == len(read_report(REAL / "dit.tpu.json").failures)


def test_compressed_reports_are_the_same_report(tmp_path):
    plain = (REAL / "dit.tpu.json").read_bytes()
    files = [
        write(tmp_path, plain, "a"),
        write(tmp_path, gzip.compress(plain), "b"),
        write(tmp_path, zstandard.compress(plain), "c"),
    ]
    assert len({read_report(path).digest for path in files}) == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("hello", "neither JSON nor XML"),
        ("[1, 2]", "a JSON array"),
        ('{"name": "x", "version": 1}', "a JSON object (name, version)"),
        ("3", "neither JSON nor XML"),
        ('{"name": ', "breaks off"),
        ("<html></html>", "no JUnit report"),
    ],
)
def test_what_is_no_report_is_said_in_one_sentence(tmp_path, content, says):
    with pytest.raises(ReportError) as caught:
        read_report(write(tmp_path, content))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_errors_with_advice(tmp_path):
    with pytest.raises(ReportError, match=r"there is no file .*collect that alone"):
        read_report(tmp_path / "nothing.json")
    with pytest.raises(ReportError, match="is a directory"):
        read_report(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read anything")
def test_an_unreadable_file_is_an_error(tmp_path):
    path = write(tmp_path, "{}")
    path.chmod(0)
    with pytest.raises(ReportError, match="cannot be read"):
        read_report(path)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("packed", [False, True])
def test_a_truncated_report_gives_its_whole_tests_when_asked(tmp_path, share, packed):
    whole = (REAL / "unet2d.tpu.json").read_bytes()
    part = whole[: int(len(whole) * share)]
    data = gzip.compress(whole)[: int(len(gzip.compress(whole)) * share)] if packed else part
    path = write(tmp_path, data)
    with pytest.raises(ReportError, match="--salvage"):
        read_report(path)
    report = read_report(path, salvage=True)
    full = read_report(REAL / "unet2d.tpu.json")
    assert report.failures == full.failures[: len(report.failures)]
    assert "damaged" in " ".join(report.notes)
    if not packed:
        assert len(report.tests) >= part.count(b'"teardown": {') - part.count(b'{"nodeid": "tests/conftest') - 2


def test_every_format_is_found_by_listing_the_folder():
    names = [form.NAME for form in formats()]
    assert sorted(names) == ["journal", "junit", "model_results", "pytest-json-report", "pytest-reportlog"]


def test_a_lone_surrogate_is_written_out_not_kept():
    failure = by_id(read_report(ODD / "odd.json"))["test_odd.py::test_surrogate"]
    assert failure.message == "bad \\udce9 byte"
