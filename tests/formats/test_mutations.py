"""Damaged reports of any kind: never a traceback, never a hang, never a lost failure that is still readable."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tputriage.errors import ReportError
from tputriage.formats import read_report
from tputriage.signatures import group

FIXTURES = Path(__file__).parents[2] / "fixtures"
SEEDS = [path.read_bytes() for path in sorted((FIXTURES / "odd-reports").glob("*.json")) if path.stat().st_size < 9_000]
MODEL = json.loads((FIXTURES / "reports" / "ae-hunyuan-video-xdist.tpu.json").read_bytes())
EXAMPLES = 5_001 if os.environ.get("CI") == "true" else 300  # of the three properties together
LIMITS = settings(
    max_examples=EXAMPLES // 3,
    deadline=5_000,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.just([]),
    st.just({}),
    st.lists(st.integers(), max_size=3),
    st.just("\ud800"),
    st.just("\x1b[31m"),
    st.just({"outcome": "failed"}),
)
OTHER = [
    b'{"journal":1,"at":1.0,"root":"/r"}\n{"start":"t.py::a","at":2}\n'
    b'{"id":"t.py::a","phase":"call","outcome":"failed","text":"E   ValueError: x"}\n',
    b'{"$report_type":"SessionStart"}\n{"$report_type":"TestReport","nodeid":"t.py::a","when":"call",'
    b'"outcome":"failed","longrepr":"E   ValueError: x"}\n',
    b'<testsuites><testsuite><testcase classname="t" name="a"><failure message="ValueError: x">'
    b"E  ValueError: x\nt.py:1: ValueError</failure></testcase></testsuite></testsuites>",
    b'{"bert": {"success": {"single": 1}, "failures": {"single": [{"line": "t.py::a", "trace": "ValueError: x"}]}}}',
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("mutations") / "report"


def read_or_refuse(path, data, salvage):
    """The report, or None where it was refused in one sentence; anything else fails the test."""
    path.write_bytes(data)
    report, refused = None, ""
    try:
        report = read_report(path, salvage=salvage)
    except ReportError as exc:
        refused = str(exc)
    if report is None:
        assert len(refused) < 500
        assert "\n" not in refused
        return None
    group(report.failures)
    "".join(failure.text + failure.test_id + failure.message for failure in report.failures).encode("utf-8")
    return report


@LIMITS
@given(data=st.data())
def test_changed_bytes_never_escape_as_a_traceback(path, data):
    seed = bytearray(data.draw(st.sampled_from(SEEDS + OTHER)))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(seed)))
        kind = data.draw(st.sampled_from(["cut", "insert", "delete", "repeat"]))
        if kind == "cut":
            del seed[at:]
        elif kind == "insert":
            seed[at:at] = data.draw(st.binary(min_size=1, max_size=12))
        elif kind == "delete":
            del seed[at : at + data.draw(st.integers(1, 40))]
        else:
            seed[at:at] = seed[at : at + data.draw(st.integers(1, 200))]
    read_or_refuse(path, bytes(seed), data.draw(st.booleans()))


def places(value, at=()):
    """Every path into a JSON value."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


def with_junk(value, at, junk):
    if not at:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = with_junk(copy[at[0]], at[1:], junk)
    return copy


RED = [test for test in MODEL["tests"] if test["outcome"] == "failed"][:2]
SMALL = {**MODEL, "warnings": [], "tests": [*MODEL["tests"][:3], *RED]}
PLACES = [place for place in places(SMALL) if place]


@LIMITS
@given(place=st.sampled_from(PLACES), junk=JUNK, extra=st.lists(JUNK, max_size=2))
def test_no_failure_elsewhere_is_lost_when_one_value_is_junk(path, place, junk, extra):
    changed = with_junk(SMALL, place, junk)
    if isinstance(changed.get("tests"), list):
        changed["tests"] = [*changed["tests"], *extra]
    report = read_or_refuse(path, json.dumps(changed).encode("utf-8", "surrogatepass"), salvage=False)
    hurt = SMALL["tests"][place[1]]["nodeid"] if place[0] == "tests" and len(place) > 1 else None
    if place != ("tests",):
        assert report is not None
        assert {test["nodeid"] for test in RED} - {hurt} <= {failure.test_id for failure in report.failures}


@LIMITS
@given(share=st.floats(0, 1))
def test_every_whole_test_before_the_damage_is_salvaged(path, share):
    whole = json.dumps(SMALL).encode()
    cut = int(len(whole) * share)
    ends = [whole.index(json.dumps(test).encode()) + len(json.dumps(test).encode()) for test in SMALL["tests"]]
    report = read_or_refuse(path, whole[:cut], salvage=True)
    readable = {test["nodeid"] for test, end in zip(SMALL["tests"], ends, strict=True) if end <= cut}
    assert readable <= (set(report.tests) if report else set())
