"""How well text-only bucketing finds the causes that a person found: B-cubed over labelled reports.

`make bench-grouping` reads ../shared/data/reports (or TPUTRIAGE_LABELLED, a folder with labels*.tsv and
NAME.tpu.json beside it), buckets every failing phase and scores against the column `symptom`, next to three
baselines on the same failures. Prints one JSON object.
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

from figures import print_figures

from tputriage.formats import read_report
from tputriage.model import Failure
from tputriage.signatures import group

FOLDER = Path(os.environ.get("TPUTRIAGE_LABELLED", Path(__file__).parents[2] / "shared" / "data" / "reports"))
PHASES = {"???": "crash"}


def main() -> None:
    failures, symptoms, unlabelled = load(FOLDER)
    buckets = {id(failure): bucket.id for bucket in group(failures) for failure in bucket.failures}
    result = {
        "failures": len(failures),
        "unlabelled": unlabelled,
        "symptoms": len(set(symptoms)),
        "buckets": len(set(buckets.values())),
        **b_cubed([buckets[id(failure)] for failure in failures], symptoms),
        "baselines": {name: b_cubed([key(f) for f in failures], symptoms) for name, key in BASELINES.items()},
    }
    scores = {"tputriage": result, **result["baselines"]}
    rows = [(name, *(f"{score[key]:.4f}" for key in ("precision", "recall", "f1"))) for name, score in scores.items()]
    print_figures(("bucketing", "precision", "recall", "F1"), rows, result)


def load(folder: Path) -> tuple[list[Failure], list[str], int]:
    """(failures, their symptoms, failures in the reports that no row labels)."""
    labels: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for path in sorted(folder.glob("labels*.tsv")):
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                phase = PHASES.get(row["phase"], row["phase"])
                labels[row["report"]][row["nodeid"], phase] = row["symptom"]
    failures, symptoms, unlabelled = [], [], 0
    for name, rows in labels.items():
        for failure in read_report(folder / f"{name}.tpu.json").failures:
            symptom = rows.get((failure.test_id, failure.phase.value))
            if symptom is None:
                unlabelled += 1
            else:
                failures.append(failure)
                symptoms.append(symptom)
    return failures, symptoms, unlabelled


def b_cubed(found: Sequence[Hashable], wanted: Sequence[Hashable]) -> dict[str, float]:
    """Bagga and Baldwin 1998: precision and recall of each item's own cluster, averaged over items."""
    both, by_found, by_wanted = Counter(zip(found, wanted, strict=True)), Counter(found), Counter(wanted)
    total = len(found)
    precision = sum(count * count / by_found[f] for (f, _), count in both.items()) / total
    recall = sum(count * count / by_wanted[w] for (_, w), count in both.items()) / total
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1(precision, recall), 4)}


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


def exact(failure: Failure) -> Hashable:
    return failure.exception, failure.message


def masked(failure: Failure) -> Hashable:
    return failure.exception, re.sub(r"\d+", "N", failure.message)


def last_frame(failure: Failure) -> Hashable:
    return (failure.frames[-1].path, failure.frames[-1].line) if failure.frames else failure.message


BASELINES: dict[str, Callable[[Failure], Hashable]] = {
    "exact_message": exact,
    "type_and_masked_message": masked,
    "last_frame": last_frame,
}

if __name__ == "__main__":
    main()
