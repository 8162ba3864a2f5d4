"""The journal of `pytest -p tputriage.journal`: JSON lines, then what faulthandler said if the process died.

A journal without a `finished` line is that of a run that died. The test that had started and not ended its
teardown was running then; text behind the last line is the process's last words, with the signal's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tputriage.errors import ReportError
from tputriage.formats._failure import LONGEST_CAPTURED, build, signal_in
from tputriage.formats._figures import count, seconds, whole
from tputriage.formats._source import Source
from tputriage.formats._split import decode_leniently
from tputriage.formats._tally import Tally
from tputriage.model import Frame, Phase, Report

NAME = "journal"

_FRAME = re.compile(r'^ +File "(?P<path>[^"\n]+)", line (?P<line>\d+) in (?P<function>[^\n]+)$', re.M)
_PHASES = {"setup": Phase.SETUP, "call": Phase.CALL, "teardown": Phase.TEARDOWN, "collect": Phase.COLLECT}


def sniff(head: bytes) -> bool:
    return head.startswith(b'{"journal":')


@dataclass(slots=True)
class _Reading:
    tally: Tally = field(default_factory=Tally)
    header: dict[str, Any] = field(default_factory=dict)
    running: str = ""
    started_s: float = 0.0
    last_s: float = 0.0
    outcome: str = ""
    words: list[str] = field(default_factory=list)
    finished: int | None = None
    collected: int = 0


def read(source: Source, *, salvage: bool) -> Report:
    """Raises ReportError where lines in the middle are damaged and `salvage` is off."""
    reading, torn = _Reading(), 0
    for raw in source.lines():
        line = decode_leniently(raw) if raw.startswith(b"{") else None
        if isinstance(line, dict):
            reading.tally.lost, torn = reading.tally.lost + torn, 0
            reading.words.clear()
            _take(reading, line)
        elif raw.startswith(b"{"):
            torn += 1  # a kill may cut the last line; one that others follow is damage
        elif raw.strip():
            reading.words.append(raw.decode("utf-8", "backslashreplace"))
    if (reading.tally.lost or source.torn) and not salvage:
        raise ReportError(f"{source.name} is damaged between its lines; --salvage reads the tests that are whole")
    if reading.finished is None:
        _died(reading)
    return _report(source, reading)


def _take(reading: _Reading, line: dict[str, Any]) -> None:
    if "at" in line:
        reading.last_s = seconds(line["at"]) or reading.last_s
    if "journal" in line:
        reading.header = line
    elif "start" in line:
        reading.running, reading.outcome, reading.started_s = str(line["start"]), "", reading.last_s
    elif "phase" in line:
        _phase(reading, line)
    elif isinstance(line.get("collected"), int):
        reading.collected = count(line["collected"])
    elif isinstance(line.get("finished"), int):
        reading.finished, reading.running = whole(line["finished"]), ""


def _phase(reading: _Reading, line: dict[str, Any]) -> None:
    nodeid, outcome = str(line.get("id", "")), str(line.get("outcome", ""))
    phase = _PHASES.get(str(line["phase"]), Phase.CALL)
    took_s = seconds(line.get("seconds"))
    reading.last_s += took_s
    if outcome == "failed":
        failure = build(
            nodeid,
            phase,
            longrepr=str(line.get("text", "")),
            captured=str(line.get("captured", "")),
            duration_s=took_s,
        )
        if phase is Phase.COLLECT:
            reading.tally.add_collection_error(failure)
            return
        reading.tally.add(nodeid, failure.outcome.value, [failure])
        reading.outcome = failure.outcome.value
    elif outcome in ("skipped", "xfailed", "xpassed"):
        reading.outcome = outcome
    if phase is Phase.TEARDOWN:
        reading.tally.add(nodeid, reading.outcome or "passed", ())
        reading.running = ""


def _died(reading: _Reading) -> None:
    words = "\n".join(reading.words)
    signal = signal_in(words)
    how = f"by signal {signal}" if signal else "without a word"
    if not reading.running:
        reading.tally.note(f"the process died {how} between two tests; what was to follow did not run")
        return
    failure = build(
        reading.running,
        Phase.CRASH,
        longrepr=f"the process died under this test, {how}\n\n{words}",
        crash=f"the process died under this test, {how}",
        captured=words[:LONGEST_CAPTURED],
    )
    failure = replace(failure, signal=signal, frames=tuple(_stack(words)))
    reading.tally.add(reading.running, "crash", [failure])
    reading.tally.note(f"the process died {how} while it ran {reading.running}; what was to follow did not run")


def _stack(words: str) -> Iterator[Frame]:
    """faulthandler's Python stack of the thread that died, outermost first as everywhere here."""
    own = words.partition("Current thread ")[2] or words
    for found in reversed(list(_FRAME.finditer(own.split("\n\n", 1)[0]))):
        yield Frame(found["path"], int(found["line"][:9]), found["function"])


def _report(source: Source, reading: _Reading) -> Report:
    began_s = seconds(reading.header.get("at"))
    versions = reading.header.get("versions")
    return reading.tally.report(
        source,
        NAME,
        collected=reading.collected,
        root=str(reading.header.get("root", "")),
        created_s=began_s,
        duration_s=max(reading.last_s - began_s, 0.0),
        exit_code=reading.finished,
        versions={str(k): str(v) for k, v in versions.items()} if isinstance(versions, dict) else {},
    )
