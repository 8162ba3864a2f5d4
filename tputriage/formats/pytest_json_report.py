"""pytest-json-report 1.5.0: one JSON object, `tests` and `collectors` in it.

https://github.com/numirias/pytest-json-report, unmaintained since 2022. What it hides: a test that passed on
a rerun has lost its first failure; a collection error stands only in `collectors`; a worker that died under
xdist is a phase named `???` without `crash` or `traceback`; a strict xpass has a longrepr and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tputriage.console import plural
from tputriage.errors import ReportError
from tputriage.formats._failure import build
from tputriage.formats._figures import count, seconds, whole
from tputriage.formats._longrepr import Place
from tputriage.formats._source import Source
from tputriage.formats._split import Batch, DamagedError, Walker, decode_leniently
from tputriage.formats._tally import Tally
from tputriage.model import Failure, Phase, Report

NAME = "pytest-json-report"

_KEYS = (b'"created"', b'"exitcode"', b'"root"', b'"summary"', b'"tests"', b'"collectors"')
_FIRST = re.compile(rb'\{\s*"(?:tests|collectors|warnings)"\s*:\s*\[')
_PHASES = {"setup": Phase.SETUP, "call": Phase.CALL, "teardown": Phase.TEARDOWN, "???": Phase.CRASH}
_EMPTY = msgspec.Raw(b"null")
_VERSION_KEYS = re.compile(r"\A(?:python|torch|libtpu|jax|xla|diffusers|transformers|accelerate|kornia|peft)", re.I)
_QUIET = frozenset({"passed", "skipped", "xfailed", "xpassed"})


class _Line(msgspec.Struct):
    """One element of `tests`, its phases left undecoded: of a passed test nobody reads them."""

    nodeid: str
    outcome: str
    setup: msgspec.Raw = _EMPTY
    call: msgspec.Raw = _EMPTY
    teardown: msgspec.Raw = _EMPTY
    died: msgspec.Raw = msgspec.field(name="???", default=_EMPTY)

    def phases(self) -> dict[str, Any]:
        named = {"setup": self.setup, "call": self.call, "teardown": self.teardown, "???": self.died}
        return {name: decode_leniently(bytes(raw)) for name, raw in named.items()}


def sniff(head: bytes) -> bool:
    start = head.lstrip()
    return start.startswith(b"{") and (sum(key in start for key in _KEYS) >= 2 or bool(_FIRST.match(start)))


def read(source: Source, *, salvage: bool) -> Report:
    """Raises ReportError where the file is damaged and `salvage` is off."""
    tally, header, damage = Tally(), dict[str, Any](), ""
    walker = Walker(source)
    try:
        for key in walker:
            if key == "tests":
                _read_tests(walker, tally, _folder(header.get("root")))
            elif key == "collectors":
                _read_collectors(walker, tally)
            elif key != "warnings":
                header[key] = decode_leniently(walker.take())
    except DamagedError as exc:
        damage = f"{exc}; {source.torn}" if source.torn else str(exc)
    if damage and not salvage:
        raise ReportError(f"{source.name} is damaged: {damage}. --salvage reads the tests before that")
    if damage:
        tally.note(f"damaged: {damage}. Recovered whole: {plural(len(tally.tests), 'test')}; what followed is lost")
    return _report(source, tally, header)


def _folder(root: Any) -> str:
    return root.rstrip("/") + "/" if isinstance(root, str) and root.strip("/") else ""


def _read_tests(walker: Walker, tally: Tally, root: str) -> None:
    for line in walker.batches(Batch(_Line)):
        if isinstance(line, _Line):
            if line.outcome in _QUIET:
                tally.add_quiet(line.nodeid, line.outcome)
            else:
                _add(tally, line.nodeid, line.outcome, line.phases(), root)
        elif isinstance(line, dict):
            _add(tally, str(line.get("nodeid", "")), str(line.get("outcome", "")), line, root)
        else:
            tally.lost += 1


def _add(tally: Tally, nodeid: str, outcome: str, phases: Mapping[str, Any], root: str) -> None:
    failures = [
        failure
        for name, phase in phases.items()
        if isinstance(phase, dict) and str(phase.get("outcome", "")) in ("failed", "error")
        for failure in [_failure(nodeid, _PHASES.get(name, Phase.CALL), phase, root)]
    ]
    if not failures and outcome in ("failed", "error"):
        failures = [build(nodeid, Phase.CALL, longrepr="the report does not say in which phase this test failed")]
    tally.add(nodeid, outcome, failures)


def _failure(nodeid: str, phase: Phase, said: Mapping[str, Any], root: str) -> Failure:
    crash, longrepr = said.get("crash"), said.get("longrepr", "")
    crash = crash if isinstance(crash, dict) else {}
    places = list(_places(said.get("traceback")))
    if not places and "path" in crash:
        # `crash` has the whole path, `traceback` one below the root: the same failure must look the same.
        places = [Place(str(crash["path"]).removeprefix(root), whole(crash.get("lineno")))]
    return build(
        nodeid,
        phase,
        longrepr=longrepr if isinstance(longrepr, str) else str(longrepr),
        crash=str(crash.get("message", "")),
        places=places,
        captured=_captured(said),
        duration_s=seconds(said.get("duration")),
    )


def _places(entries: Any) -> Iterator[Place]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield Place(str(entry.get("path", "")), whole(entry.get("lineno")), str(entry.get("message", "")))


def _captured(said: Mapping[str, Any]) -> str:
    parts = [value for key in ("stdout", "stderr") if isinstance(value := said.get(key), str)]
    log = said.get("log")
    for record in log if isinstance(log, list) else ():
        if isinstance(record, dict):
            parts.append(str(record.get("msg", "")))
    return "\n".join(part.rstrip("\n") for part in parts if part)


def _read_collectors(walker: Walker, tally: Tally) -> None:
    for raw in walker.elements():
        if b'"failed"' not in raw:
            continue
        collector = decode_leniently(raw)
        if isinstance(collector, dict) and collector.get("outcome") == "failed":
            longrepr = str(collector.get("longrepr", ""))
            nodeid = str(collector.get("nodeid", ""))
            tally.add_collection_error(build(nodeid, Phase.COLLECT, longrepr=longrepr))


def _report(source: Source, tally: Tally, header: Mapping[str, Any]) -> Report:
    summary = header.get("summary")
    counts = {str(name): count(value) for name, value in summary.items()} if isinstance(summary, dict) else {}
    collected = counts.pop("collected", 0)
    total = counts.pop("total", 0)
    counts.pop("deselected", None)
    if "tests" not in header and not tally.tests and total:
        tally.note(f"it counts {plural(total, 'test')} and names none: rerun without --json-report-summary")
    if len(tally.tests) < total and tally.tests:
        tally.note(f"it counts {plural(total, 'test')} and names {len(tally.tests)}")
    return tally.report(
        source,
        NAME,
        outcomes=counts,
        collected=collected,
        root=str(header.get("root", "")),
        created_s=seconds(header.get("created")),
        duration_s=seconds(header.get("duration")),
        exit_code=whole(code) if isinstance(code := header.get("exitcode"), int) else None,
        versions=dict(_versions(header.get("environment"))),
    )


def _versions(environment: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(environment, dict):
        return
    for key, value in environment.items():
        if isinstance(value, str) and _VERSION_KEYS.match(str(key)):
            yield str(key).lower().replace("-", "_"), value
        elif isinstance(value, dict):
            yield from _versions(value)
