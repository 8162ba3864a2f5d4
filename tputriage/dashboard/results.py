"""The `model_results.json` that the Hugging Face CI dashboard reads, so that a TPU stands there beside other devices.

The shape is the one that transformers' utils/notification_service.py writes for its other devices (as of 2026): a
model's counts are plain numbers, its failures stand under "single" or "multi" (devices a machine has), each test with
`(line N)  ` and the last line of its exception, and are counted by category. Setup and teardown errors are counted
apart and not listed there, so they are here. formats/model_results.py reads it back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tputriage.dashboard.quoting import Links
from tputriage.model import Dossier, Failure, Outcome

TRACE_CHARS = 2_000
COLUMNS = ("unclassified", "single", "multi")
# The first whose words are in the test's id counts, as there.
CATEGORIES = (
    ("tests/quantization", "Quantization"),
    ("test_modeling", "PyTorch"),
    ("test_tokenization", "Tokenizers"),
    ("test_pipelines", "Pipelines"),
    ("test_trainer", "Trainer"),
    ("onnx", "ONNX"),
    ("auto", "Auto"),
    ("", "Unclassified"),
)
_SAFE = re.compile(r"[^\w.-]+")


def model_results(
    outcomes: Mapping[str, Outcome], dossiers: Sequence[Dossier], links: Links, *, column: str = "single"
) -> dict[str, Any]:
    """The file's content; `outcomes` by node id, in the order they ran."""
    failures = {failure.test_id: failure for dossier in dossiers for failure in dossier.bucket.failures}
    models: dict[str, dict[str, Any]] = {}
    for test_id, outcome in outcomes.items():
        model = models.setdefault(model_of(test_id), _empty())
        model["error"] |= outcome is Outcome.CRASH
        if outcome is Outcome.ERROR:
            model["errors"] += 1
        elif outcome.is_failure:
            model["failed"][category_of(test_id)][column] += 1
            line = {"line": links.text(test_id, 2_000), "trace": _trace(failures.get(test_id), outcome, links)}
            model["failures"].setdefault(column, []).append(line)
        else:
            model["success" if outcome.is_pass else "skipped"] += 1
    return models


def category_of(test_id: str) -> str:
    return next(category for words, category in CATEGORIES if words in test_id)


def model_of(test_id: str) -> str:
    """`models_bert` for tests/models/bert/…; else the folders under tests/, or the file where there are none."""
    parts = test_id.partition("::")[0].replace("\\", "/").split("/")
    parts = parts[parts.index("tests") + 1 :] if "tests" in parts else parts
    if len(parts) > 2 and parts[0] == "models":
        name = f"models_{parts[1]}"
    else:
        name = "_".join(parts[:-1]) or parts[-1].removesuffix(".py").removeprefix("test_")
    return _SAFE.sub("_", name)[:100] or "tests"


def _empty() -> dict[str, Any]:
    return {
        "failed": {category: dict.fromkeys(COLUMNS, 0) for _, category in CATEGORIES},
        "errors": 0,
        "success": 0,
        "skipped": 0,
        "time_spent": [],  # seconds of each job, which no report tells
        "error": False,  # whether a process died, so that what followed may be missing
        "failures": {},
        "job_link": {},
        "captured_info": {},
    }


def _trace(failure: Failure | None, outcome: Outcome, links: Links) -> str:
    """`(line 12)  RuntimeError: message`, the exception's last line alone, as that page has it."""
    if failure is None:
        return outcome.value
    place = f"(line {failure.frames[-1].line})  " if failure.frames else ""
    words = f"{failure.exception}: {failure.message}" if failure.exception else failure.message
    return place + " ".join(links.text(words or outcome.value, TRACE_CHARS).split())
