"""The `model_results.json` that the Hugging Face CI dashboard reads, so that a TPU stands there beside other devices.

`{model: {"failed": {…}, "success": {gpu: n}, "skipped": {gpu: n}, "errors": 0, "failures": {gpu: [{"line", "trace"}]},
"job_link": {}}}`, as formats/model_results.py reads it back. `gpu` is "single" or "multi", as that page has no other
columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tputriage.dashboard.quoting import Links
from tputriage.model import Dossier, Failure, Outcome

TRACE_CHARS = 2_000
_SAFE = re.compile(r"[^\w.-]+")


def model_results(
    outcomes: Mapping[str, Outcome], dossiers: Sequence[Dossier], links: Links, *, column: str = "single"
) -> dict[str, Any]:
    """The file's content; `outcomes` by node id, in the order they ran."""
    failures = {failure.test_id: failure for dossier in dossiers for failure in dossier.bucket.failures}
    models: dict[str, dict[str, Any]] = {}
    for test_id, outcome in outcomes.items():
        model = models.setdefault(model_of(test_id), _empty(column))
        if outcome.is_failure:
            model["failed"][column] += 1
            line = {"line": links.text(test_id, 2_000), "trace": _trace(failures.get(test_id), outcome, links)}
            model["failures"].setdefault(column, []).append(line)
        else:
            model["success" if outcome.is_pass else "skipped"][column] += 1
    return models


def model_of(test_id: str) -> str:
    """`models_bert` for tests/models/bert/…; else the folders under tests/, or the file where there are none."""
    parts = test_id.partition("::")[0].replace("\\", "/").split("/")
    parts = parts[parts.index("tests") + 1 :] if "tests" in parts else parts
    if len(parts) > 2 and parts[0] == "models":
        name = f"models_{parts[1]}"
    else:
        name = "_".join(parts[:-1]) or parts[-1].removesuffix(".py").removeprefix("test_")
    return _SAFE.sub("_", name)[:100] or "tests"


def _empty(column: str) -> dict[str, Any]:
    return {
        "failed": {column: 0},
        "success": {column: 0},
        "skipped": {column: 0},
        "errors": 0,
        "failures": {},
        "job_link": {},
    }


def _trace(failure: Failure | None, outcome: Outcome, links: Links) -> str:
    """`(line 12)  RuntimeError: message`, the exception's last line alone, as that page has it."""
    if failure is None:
        return outcome.value
    place = f"(line {failure.frames[-1].line})  " if failure.frames else ""
    words = f"{failure.exception}: {failure.message}" if failure.exception else failure.message
    return place + " ".join(links.text(words or outcome.value, TRACE_CHARS).split())
