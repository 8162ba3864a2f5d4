"""pytest-reportlog 0.4: JSON lines, one a phase, flushed as written, so it survives a crash.

https://github.com/pytest-dev/pytest-reportlog. A log without its `SessionFinish` line is that of a run that
died; the test whose teardown is missing was running. Unknown `$report_type`s are skipped, as its README asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tputriage.errors import ReportError
from tputriage.formats._failure import build
from tputriage.formats._figures import seconds, whole
from tputriage.formats._longrepr import Place
from tputriage.formats._source import Source
from tputriage.formats._split import decode_leniently
from tputriage.formats._tally import Tally
from tputriage.model import Failure, Phase, Report

NAME = "pytest-reportlog"

_PHASES = {"setup": Phase.SETUP, "call": Phase.CALL, "teardown": Phase.TEARDOWN, "???": Phase.CRASH}


def sniff(head: bytes) -> bool:
    first = head.lstrip().split(b"\n", 1)[0]
    return first.startswith(b"{") and b'"$report_type"' in first


@dataclass(slots=True)
class _Reading:
    tally: Tally = field(default_factory=Tally)
    open: dict[str, str] = field(default_factory=dict)  # tests without their teardown yet: id -> outcome
    exit_code: int | None = None
    finished: bool = False
    began_s: float = 0.0
    ended_s: float = 0.0
    torn: int = 0  # unreadable lines that a readable one follows


def read(source: Source, *, salvage: bool) -> Report:
    """Raises ReportError where a line that others follow is damaged and `salvage` is off."""
    reading, bad = _Reading(), 0
    for raw in source.lines():
        line = decode_leniently(raw) if raw.strip() else {}
        if isinstance(line, dict):
            reading.torn, bad = reading.torn + bad, 0
            _take(reading, line)
        else:
            bad += 1
    if (reading.torn or source.torn) and not salvage:
        raise ReportError(f"{source.name} has damaged lines; --salvage reads the tests that are whole")
    reading.tally.lost += reading.torn + bad
    _close(reading)
    return reading.tally.report(
        source,
        NAME,
        created_s=reading.began_s,
        duration_s=max(reading.ended_s - reading.began_s, 0.0),
        exit_code=reading.exit_code,
    )


def _take(reading: _Reading, line: Mapping[str, Any]) -> None:
    kind = line.get("$report_type")
    if kind == "TestReport":
        _test(reading, line)
    elif kind == "CollectReport" and line.get("outcome") == "failed":
        nodeid = str(line.get("nodeid", ""))
        reading.tally.add_collection_error(_failure(nodeid, Phase.COLLECT, line))
    elif kind == "SessionFinish":
        reading.finished = True
        reading.exit_code = whole(code) if isinstance(code := line.get("exitstatus"), int) else None


def _test(reading: _Reading, line: Mapping[str, Any]) -> None:
    nodeid, when = str(line.get("nodeid", "")), str(line.get("when", ""))
    outcome = str(line.get("outcome", ""))
    for key, later in (("start", min), ("stop", max)):
        if moment := seconds(line.get(key)):
            began = reading.began_s or moment
            reading.began_s = min(began, moment) if later is min else began
            reading.ended_s = max(reading.ended_s, moment)
    failures = [_failure(nodeid, _PHASES.get(when, Phase.CALL), line)] if outcome == "failed" else []
    said = reading.open.setdefault(nodeid, "passed")
    if failures:
        reading.tally.add(nodeid, failures[0].outcome.value, failures)
        said = failures[0].outcome.value
    elif outcome in ("skipped", "rerun"):
        said = "xfailed" if "wasxfail" in line and outcome == "skipped" else outcome
    reading.open[nodeid] = said
    if when in ("teardown", "???"):
        reading.tally.add(nodeid, reading.open.pop(nodeid), ())


def _close(reading: _Reading) -> None:
    """What was under way when the log ends: crashed if the session never finished."""
    for nodeid, outcome in reading.open.items():
        if reading.finished or outcome != "passed":
            reading.tally.add(nodeid, outcome, ())
            continue
        said = "the process died under this test; its log ends here"
        reading.tally.add(nodeid, "crash", [build(nodeid, Phase.CRASH, longrepr=said, crash=said)])
        reading.tally.note(f"the run died while it ran {nodeid}; what was to follow did not run")
    if not reading.finished and not reading.open:
        reading.tally.note("the log has no end: the run was stopped or died between two tests")


def _failure(nodeid: str, phase: Phase, line: Mapping[str, Any]) -> Failure:
    longrepr = line.get("longrepr")
    parts = dict(longrepr) if isinstance(longrepr, dict) else {}
    crash = parts.get("reprcrash")
    return build(
        nodeid,
        phase,
        longrepr="".join(_text(parts)) if parts else str(longrepr or ""),
        crash=str(crash.get("message", "")) if isinstance(crash, dict) else "",
        places=list(_places(parts.get("reprtraceback"))),
        captured="\n".join(_sections(line.get("sections"))),
        duration_s=seconds(line.get("duration")),
    )


def _text(parts: Mapping[str, Any]) -> Iterator[str]:
    """The longrepr as the terminal would have shown it, chained exceptions in their order."""
    chain = parts.get("chain")
    for link in chain if isinstance(chain, list) else [[parts.get("reprtraceback"), None, None]]:
        if isinstance(link, list) and link:
            for lines in _entries(link[0]):
                yield "\n".join(lines) + "\n"
            if len(link) > 2 and link[2]:
                yield f"\n{link[2]}\n\n"


def _entries(traceback: Any) -> Iterator[list[str]]:
    for data in _data(traceback):
        lines, at = data.get("lines"), data.get("reprfileloc")
        place = [f"\n{at.get('path')}:{at.get('lineno')}: {at.get('message')}"] if isinstance(at, dict) else []
        yield [str(line) for line in lines if isinstance(line, str)] + place if isinstance(lines, list) else place


def _data(traceback: Any) -> Iterator[Mapping[str, Any]]:
    entries = traceback.get("reprentries") if isinstance(traceback, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        data = entry.get("data") if isinstance(entry, dict) else None
        if isinstance(data, dict):
            yield data


def _places(traceback: Any) -> Iterator[Place]:
    for data in _data(traceback):
        at = data.get("reprfileloc")
        if isinstance(at, dict):
            yield Place(str(at.get("path", "")), whole(at.get("lineno")), str(at.get("message", "")))


def _sections(sections: Any) -> Iterator[str]:
    for section in sections if isinstance(sections, list) else ():
        if isinstance(section, list) and len(section) == 2:
            yield str(section[1]).rstrip("\n")
