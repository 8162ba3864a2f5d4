"""Reportlog, JUnit, model_results and the journal, from files that the real tools wrote."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tputriage.errors import ReportError
from tputriage.formats import merge_reports, read_report
from tputriage.model import Outcome, Phase

SUITE = """
import os, signal, pytest
@pytest.fixture
def broken(): raise RuntimeError("no fixture")
@pytest.fixture
def untidy():
    yield
    raise ValueError("teardown boom")
class TestA:
    def test_ok(self): pass
    @pytest.mark.parametrize("v", ["a::b", "c/d"])
    def test_bad(self, v):
        try: {}["k"]
        except KeyError as e: raise RuntimeError("boom " + v) from e
def test_setup(broken): pass
def test_teardown(untidy): pass
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
def test_last():
    if os.environ.get("DIE"): os.kill(os.getpid(), int(os.environ["DIE"]))
"""
PLAIN = ("-p", "no:cacheprovider")


ALL = ("--report-log=log", "--junitxml=junit", "-p", "tputriage.journal", "--tputriage-journal=journal")


def run(folder, *args, die=""):
    """Runs the suite in a process of its own; `die` is the signal that ends its last test."""
    (folder / "test_a.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-q", *PLAIN, *args]
    env = {**os.environ, "DIE": str(die)}
    subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True, timeout=60)
    return folder


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The folder of one run that ended well, told in every format."""
    return run(tmp_path_factory.mktemp("story"), *ALL)


def outcomes(report):
    """By the name of the test's function."""
    names = {test: test.split("[")[0].rpartition("::")[2] for test in report.tests}
    return {names[test]: outcome.value for test, outcome in report.tests.items()}


WANTED = {
    "test_ok": "passed",
    "test_bad": "failed",
    "test_setup": "error",
    "test_teardown": "error",
    "test_skip": "skipped",
    "test_xfail": "xfailed",
    "test_last": "passed",
}


@pytest.mark.parametrize(("name", "form"), [("log", "pytest-reportlog"), ("junit", "junit"), ("journal", "journal")])
def test_each_format_tells_the_same_story(story, name, form):
    report = read_report(story / name)
    assert (report.format, outcomes(report)) == (form, WANTED)
    assert {failure.phase for failure in report.failures} == {Phase.CALL, Phase.SETUP, Phase.TEARDOWN}


@pytest.mark.parametrize("name", ["log", "junit", "journal"])
def test_each_format_keeps_exceptions_and_their_causes(story, name):
    bad = [failure for failure in read_report(story / name).failures if "test_bad" in failure.test_id]
    assert [failure.exception for failure in bad] == ["RuntimeError", "RuntimeError"]
    assert bad[0].causes == ("KeyError: 'k'",)


def test_junit_node_ids_can_be_run_again(story):
    assert "test_a.py::TestA::test_bad[a::b]" in read_report(story / "junit").tests


@pytest.mark.parametrize(("die", "signal", "function"), [(6, 6, "test_last"), (11, 11, "test_last"), (9, None, None)])
def test_what_survives_names_the_test_under_which_the_process_died(tmp_path, die, signal, function):
    folder = run(tmp_path, *ALL, die=die)
    journal, log = read_report(folder / "journal"), read_report(folder / "log")
    assert journal.tests["test_a.py::test_last"] is log.tests["test_a.py::test_last"] is Outcome.CRASH
    assert journal.failures[-1].signal == signal
    assert [frame.function for frame in journal.failures[-1].frames[-1:]] == ([function] if function else [])


def test_the_journal_does_nothing_unless_asked(tmp_path):
    run(tmp_path, "-p", "tputriage.journal")
    assert {path.name for path in tmp_path.iterdir()} <= {"test_a.py", "__pycache__"}


def test_each_xdist_worker_writes_a_journal_and_the_report_takes_what_it_lacks(tmp_path):
    run(tmp_path, "-n1", *ALL[2:], "--json-report", "--json-report-file=report.json", die=6)
    files = [tmp_path / "report.json", *sorted(tmp_path.glob("journal.gw*"))]
    merged = merge_reports([read_report(path) for path in files])
    crashes = [f for report in merged for f in report.failures if "test_last" in f.test_id]
    assert [(crash.outcome, crash.signal) for crash in crashes] == [(Outcome.CRASH, 6)]


def test_a_pytest_that_a_test_of_an_xdist_worker_starts_writes_its_own_journal(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    run(tmp_path, *ALL[2:])
    assert outcomes(read_report(tmp_path / "journal")) == WANTED


def test_a_report_given_twice_counts_once(story):
    assert len(merge_reports([read_report(story / "log"), read_report(story / "log")])) == 1


def test_the_torn_last_line_of_a_log_is_no_damage(story, tmp_path):
    path = tmp_path / "log"
    path.write_bytes((story / "log").read_bytes()[:-40])
    assert outcomes(read_report(path)) == WANTED


@pytest.mark.parametrize("name", ["log", "junit", "journal"])
def test_damage_inside_needs_salvage(story, tmp_path, name):
    path, data = tmp_path / name, (story / name).read_bytes()
    middle = data.index(b"test_setup") - 30
    path.write_bytes(data[:middle].rstrip(b"\n") + b"\x00<<" + data[middle + 60 :])
    with pytest.raises(ReportError, match="--salvage"):
        read_report(path)
    assert read_report(path, salvage=True).tests


def test_xml_entities_are_refused(tmp_path):
    path = tmp_path / "bomb.xml"
    path.write_text(
        '<?xml version="1.0"?><testsuites><!-- x --></testsuites>'.replace(
            "<testsuites>", '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuites>&b;', 1
        )
    )
    with pytest.raises(ReportError):
        read_report(path)


def test_an_entity_bomb_behind_a_comment_is_refused_by_name(tmp_path):
    path = tmp_path / "bomb.xml"
    path.write_text(
        '<testsuites><testsuite><testcase name="a" classname="b">&undeclared;</testcase></testsuite></testsuites>'
    )
    with pytest.raises(ReportError, match="damaged"):
        read_report(path)


def test_model_results_are_told_by_content(tmp_path):
    path = tmp_path / "anything.txt"
    failures = [{"line": "tests/models/bert/test_bert.py::T::test_a", "trace": "(line 12)  ValueError: bad"}]
    content = {
        "bert": {"success": {"single": 3}, "failures": {"single": failures, "multi": failures}},
        "vit": {"success": 2, "failures": {}},
    }
    path.write_text(json.dumps(content))
    report = read_report(path)
    assert (report.format, report.outcomes) == ("model_results", {"passed": 5, "failed": 1})
    assert (report.failures[0].exception, report.failures[0].message) == ("ValueError", "bad")


def test_shards_stay_reports_of_their_own():
    reports = [
        read_report(path) for path in sorted((Path(__file__).parents[2] / "fixtures/reports").glob("*.tpu.json"))
    ]
    assert len(merge_reports(reports)) == len(reports)


@pytest.mark.parametrize("encoding", ["nope", "gbk", "utf-7"])
def test_xml_in_an_encoding_that_nobody_reads_is_damaged(tmp_path, encoding):
    (tmp_path / "r.xml").write_text(f'<?xml version="1.0" encoding="{encoding}"?><testsuites/>')
    with pytest.raises(ReportError, match="damaged"):
        read_report(tmp_path / "r.xml")
