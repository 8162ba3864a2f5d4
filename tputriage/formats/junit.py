"""JUnit XML as pytest writes it (`--junitxml`), and other runners in its likeness.

Parsed by defusedxml, which refuses entity declarations: the file is hostile input. It holds no node ids; they
are put together from the class name, or from the `file` attribute where the old xunit1 family wrote it.
"""

from __future__ import annotations

import io
import re
from datetime import datetime
from typing import Any

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from tputriage.console import plural
from tputriage.errors import ReportError
from tputriage.formats._failure import build
from tputriage.formats._figures import seconds
from tputriage.formats._source import Source
from tputriage.formats._tally import Tally
from tputriage.model import Failure, Phase, Report

NAME = "junit"

_START = re.compile(rb"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<testsuites?[\s>/]", re.S)
_PHASE = re.compile(r'\Afailed on (setup|teardown) with "(.*?)"?\Z', re.S)
_PHASES = {"setup": Phase.SETUP, "teardown": Phase.TEARDOWN}


def sniff(head: bytes) -> bool:
    return bool(_START.match(head))


def read(source: Source, *, salvage: bool) -> Report:
    """Raises ReportError for forbidden XML, and where the file is damaged and `salvage` is off."""
    tally, suite, damage = Tally(), dict[str, str](), ""
    try:
        _read_cases(source.whole(), tally, suite)
    except (ParseError, LookupError, ValueError) as exc:  # the last two: an encoding that nobody knows
        damage = source.torn or str(exc)
    except DefusedXmlException as exc:
        raise ReportError(f"{source.name} declares XML entities, which no test report needs; it is not read") from exc
    if damage and not salvage:
        raise ReportError(f"{source.name} is damaged: {damage}. --salvage reads the tests before that")
    if damage:
        tally.note(f"damaged: {damage}. Recovered whole: {plural(len(tally.tests), 'test')}; what followed is lost")
    if tally.tests:
        tally.note("JUnit XML holds no node ids; they were put together from class names")
    return tally.report(
        source,
        NAME,
        collected=len(tally.tests),
        created_s=_moment(suite.get("timestamp", "")),
        duration_s=_seconds(suite.get("time", "")),
    )


def _read_cases(xml: bytes, tally: Tally, suite: dict[str, str]) -> None:
    for _, element in iterparse(io.BytesIO(xml), events=("end",)):
        name = _tag(element)
        if name == "testcase":
            _read_case(element, tally)
            element.clear()
        elif name == "testsuite":
            suite.update(element.attrib)


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _read_case(case: Any, tally: Tally) -> None:
    captured = "\n".join(child.text or "" for child in case if _tag(child) in ("system-out", "system-err"))
    name = str(case.get("name", ""))
    if any(child.get("message") == "collection failure" for child in case):
        path = str(case.get("classname") or name).replace(".", "/") + ".py"
        text = next((child.text or "" for child in case if child.get("message") == "collection failure"), "")
        tally.add_collection_error(build(path, Phase.COLLECT, longrepr=text))
        return
    test_id = _node_id(str(case.get("classname", "")), name, str(case.get("file") or ""))
    seconds = _seconds(str(case.get("time", "")))
    failures = [_failure(test_id, child, captured, seconds) for child in case if _tag(child) in ("failure", "error")]
    skipped = [child for child in case if _tag(child) == "skipped"]
    outcome = failures[0].outcome.value if failures else "passed"
    if skipped and not failures:
        outcome = "xfailed" if skipped[0].get("type") == "pytest.xfail" else "skipped"
    tally.add(test_id, outcome, failures)


def _failure(test_id: str, child: Any, captured: str, seconds: float) -> Failure:
    message, text = str(child.get("message", "")), child.text or ""
    found = _PHASE.match(message)
    phase = _PHASES[found[1]] if found else Phase.CALL
    if "crashed while running" in (text or message)[:200]:
        phase = Phase.CRASH
    # A set-up error's message is quoted, cut and without its lines; the text has it whole.
    crash = "" if found or "\n" not in text else message
    return build(test_id, phase, longrepr=text or message, crash=crash, captured=captured, duration_s=seconds)


def _node_id(classname: str, name: str, file: str) -> str:
    parts = [part for part in classname.split(".") if part]
    if file:
        module = file.replace("\\", "/").removesuffix(".py").split("/")
        return "::".join([file, *(part for part in parts[len(module) :]), name])
    at = next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts))
    path = "/".join(parts[:at])
    return "::".join([f"{path}.py", *parts[at:], name]) if path else "::".join([*parts, name])


def _seconds(text: str) -> float:
    try:
        return seconds(float(text.replace(",", "")))
    except ValueError:
        return 0.0


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
