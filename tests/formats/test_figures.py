"""Figures that no sink keeps, in every format: read, stored and read back without a word."""

import json

import pytest

from tputriage.collect import bucket_reports
from tputriage.formats import read_report
from tputriage.store import open_store

ODD = ["1" + "0" * 30, "-9223372036854775809", "1" + "0" * 400, "NaN", "-Infinity", "1e999", "true", "null"]


def json_report(figure):
    failing = {"duration": "@", "outcome": "failed", "crash": {"path": "/s/a.py", "lineno": "@", "message": "E: x"}}
    failing["traceback"] = [{"path": "a.py", "lineno": "@", "message": "E"}]
    report = {"created": "@", "duration": "@", "exitcode": "@", "root": "/s", "summary": {"failed": "@"}}
    report["summary"] |= {"collected": "@", "total": "@", "passed": "@"}
    report["tests"] = [{"nodeid": "a.py::test", "outcome": "failed", "call": failing}]
    return json.dumps(report).replace('"@"', figure)


def report_log(figure):
    place = {"path": "a.py", "lineno": "@", "message": "E"}
    longrepr = {"reprcrash": place, "reprtraceback": {"reprentries": [{"data": {"reprfileloc": place, "lines": []}}]}}
    test = {"$report_type": "TestReport", "nodeid": "a.py::test", "when": "call", "outcome": "failed"}
    test |= {"longrepr": longrepr, "start": "@", "stop": "@", "duration": "@"}
    lines = [{"$report_type": "SessionStart"}, test, {"$report_type": "SessionFinish", "exitstatus": "@"}]
    return "\n".join(json.dumps(line) for line in lines).replace('"@"', figure)


def journal(figure):
    phase = {"phase": "call", "id": "a.py::test", "outcome": "failed", "seconds": "@", "text": "E   E: x", "at": "@"}
    lines = [{"journal": 1, "at": "@"}, {"collected": "@"}, {"start": "a.py::test", "at": "@"}, phase]
    text = "\n".join(json.dumps(line) for line in [*lines, phase | {"phase": "teardown"}, {"finished": "@"}])
    return text.replace('"@"', figure).replace('{"journal": 1', '{"journal":1')


def junit(figure):
    case = f'<testcase classname="a" name="test" time="{figure}"><failure message="E: x">E</failure></testcase>'
    return f'<testsuites><testsuite time="{figure}" timestamp="{figure}">{case}</testsuite></testsuites>'


def model_results(figure):
    failures = {"single": [{"line": "a.py::test", "trace": "E: x"}]}
    return json.dumps({"m": {"success": {"single": "@"}, "failures": failures}}).replace('"@"', figure)


@pytest.mark.parametrize("form", [json_report, report_log, journal, junit, model_results])
@pytest.mark.parametrize("figure", ODD)
def test_a_figure_that_no_sink_keeps_loses_no_failure(tmp_path, form, figure):
    (tmp_path / "report").write_text(form(figure))
    report = read_report(tmp_path / "report")
    with open_store(tmp_path / "store") as store:
        store.add_report(report, "", bucket_reports([report]).buckets)
        (kept,) = store.dossiers()
    assert [failure.test_id for failure in kept.bucket.failures][:1] == ["a.py::test"]
    assert kept.bucket.failures == report.failures
