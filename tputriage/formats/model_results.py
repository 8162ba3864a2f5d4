"""The `model_results.json` of the Hugging Face CI dashboard.

`{model: {"success": n, "errors": n, "failures": {gpu: [{"line": node id, "trace": text}]}, …}}`, written by
transformers' utils/notification_service.py and by others for the same page, some of whom count by gpu. It counts
passes and errors of setup and teardown without naming them, and a trace is the exception's last line alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tputriage.console import plural
from tputriage.errors import ReportError
from tputriage.formats._failure import build
from tputriage.formats._figures import count
from tputriage.formats._source import Source
from tputriage.formats._split import DamagedError, Walker, decode_leniently
from tputriage.formats._tally import Tally
from tputriage.model import Outcome, Phase, Report

NAME = "model_results"

_SHAPE = re.compile(rb'\A\s*\{\s*"(?:[^"\\]|\\.){0,300}"\s*:\s*\{')
_PLACE = re.compile(r"\A(?:\(line \d+\)|[\w./-]+:\d+:)\s*")


def sniff(head: bytes) -> bool:
    return bool(_SHAPE.match(head)) and b'"failures"' in head and (b'"success"' in head or b'"failed"' in head)


def read(source: Source, *, salvage: bool) -> Report:
    """Raises ReportError where the file is damaged and `salvage` is off."""
    tally, counts, damage = Tally(), {"passed": 0, "failed": 0, "error": 0, "skipped": 0}, ""
    walker = Walker(source)
    try:
        for model in walker:
            results = decode_leniently(walker.take())
            if isinstance(results, dict):
                _read_model(str(model), results, tally, counts)
            else:
                tally.lost += 1
    except DamagedError as exc:
        damage = str(exc)
    if damage and not salvage:
        raise ReportError(f"{source.name} is damaged: {damage}. --salvage reads the models before that")
    if damage:
        tally.note(f"damaged: {damage}. Recovered: {plural(len(tally.tests), 'test')}; what followed is lost")
    if counts["error"]:
        tally.note(f"{plural(counts['error'], 'setup or teardown error')} counted; this format does not name them")
    if counts["passed"]:
        tally.note(f"{plural(counts['passed'], 'test')} passed; this format counts them without naming them")
    outcomes = {name: count for name, count in counts.items() if count}
    return tally.report(source, NAME, outcomes=outcomes, collected=sum(counts.values()))


def _read_model(model: str, results: Mapping[str, Any], tally: Tally, counts: dict[str, int]) -> None:
    counts["passed"] += _count(results.get("success"))
    counts["skipped"] += _count(results.get("skipped"))
    counts["error"] += _count(results.get("errors"))
    for line, trace in _failures(results.get("failures")):
        test_id = line if "::" in line else f"{model}::{line}"
        text = _PLACE.sub("", trace)
        failure = build(test_id, Phase.CALL, longrepr=trace, crash=text)
        if test_id in tally.tests and any(known.text == failure.text for known in tally.failures[-4:]):
            continue  # the same test on one device and on several
        counts["failed"] += 1
        tally.add(test_id, Outcome.FAILED.value, [failure])


def _count(numbers: Any) -> int:
    """`{"single": 3, "multi": 2}` or a plain number."""
    if isinstance(numbers, dict):
        return sum(map(count, numbers.values()))
    return count(numbers)


def _failures(groups: Any) -> Iterator[tuple[str, str]]:
    for entries in groups.values() if isinstance(groups, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield str(entry.get("line", "")), str(entry.get("trace", "") or "")
