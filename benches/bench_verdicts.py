"""Whether `collect` comes to the verdicts and causes that a person found in real reports.

    python benches/bench_verdicts.py --suite DIR [--python PYTHON] [--reports DIR] [--only NAME …]

`--suite` is a checkout of the suite that the reports are of (diffusers at commit 58eb52c0), `--python` an interpreter
with what it needs (or TPUTRIAGE_BENCH_SUITE and TPUTRIAGE_BENCH_PYTHON), `--reports` a folder with labels*.tsv,
NAME.tpu.json and NAME.cpu.json. Each report goes through the real `collect` into a store of its own. Every failing
phase is scored against the column `cause`, by the tables of verdict_labels.py, and against the test's outcome in the
CPU report. Skips what is not there. Prints one JSON object: `tests` (failing phases scored), `agree`, `agree_share`,
`explained` (differences that a row of EXPLAINED answers for), `unexplained`, and each report's runs and seconds.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from figures import print_figures
from verdict_labels import BY_CAUSE, EXPLAINED, RULED_OUT

from tputriage.formats import read_report
from tputriage.model import Bucket, Verdict
from tputriage.pipeline import collecting
from tputriage.pipeline.place import workers
from tputriage.store import open_store
from tputriage.targets.seam import Answer, Job, Runner, Target

REPORTS = Path(__file__).parents[2] / "shared" / "data" / "reports"
PHASES = {"???": "crash"}
CAUSE_SHOWN = 60
SHOWN = ("id", "count", "verdict", "title", "reason")  # of a bucket, on standard error


RUNS: Counter[str] = Counter()  # runs asked of each target


class Counting:
    """A runner that passes everything on, and counts it."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def target(self) -> Target:
        return self._runner.target

    def ask(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        for answer in self._runner.ask(jobs):
            RUNS[self.target.name] += 1
            yield answer


@contextmanager
def counted_workers(*where: Any) -> Iterator[tuple[Runner, Runner]]:
    with workers(*where) as (device, reference):
        yield Counting(device), Counting(reference)


@dataclass(slots=True)
class Scores:
    """What all reports come to."""

    counts: Counter[str] = field(default_factory=Counter)  # "agree", "explained", "unexplained"
    rows: list[tuple[str, ...]] = field(default_factory=list)
    reports: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, report: str, label: dict[str, str], bucket: Bucket, verdict: Verdict) -> tuple[str, str]:
        """(how it is scored, why not where it does not agree) of one failing phase."""
        why = difference(label, bucket, verdict)
        reason = explanation(label["cause"], bucket, verdict) if why else ""
        how = "explained" if reason else "unexplained" if why else "agree"
        self.counts[how] += 1
        return how, reason or why


def main() -> None:
    options = arguments()
    wanted = labels(options.reports)
    if not wanted or not (options.suite and options.suite.is_dir()):
        print(f"skipped: no labelled reports in {options.reports}, or no suite in {options.suite}", file=sys.stderr)
        print(json.dumps({"tests": 0, "agree": 0, "agree_share": None, "explained": 0, "unexplained": 0}))
        return
    os.environ["HF_HUB_OFFLINE"] = "1"  # as in the reports: what needs the hub fails, and fails fast
    sources = [str(options.suite.resolve() / folder) for folder in ("src", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join([*sources, *filter(None, [os.environ.get("PYTHONPATH")])])
    collecting.workers = counted_workers
    scores = Scores()
    for name in options.only or wanted:
        score_report(scores, name, wanted.get(name, {}), options)
    finish(scores)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Verdicts on labelled reports, against a person's.")
    parser.add_argument("--reports", type=Path, default=REPORTS, help="folder with labels*.tsv and NAME.tpu.json")
    suite, python = os.environ.get("TPUTRIAGE_BENCH_SUITE"), os.environ.get("TPUTRIAGE_BENCH_PYTHON")
    parser.add_argument("--suite", type=Path, default=suite, help="checkout of the suite that the reports are of")
    parser.add_argument("--python", default=python, help="interpreter of the suite's environment")
    parser.add_argument("--only", nargs="+", default=[], help="names of reports, instead of all")
    parser.add_argument("--limit", type=float, default=120.0, help="time limit of one run, in seconds")
    return parser.parse_args()


def labels(folder: Path) -> dict[str, dict[tuple[str, str], dict[str, str]]]:
    """{report: {(node id, phase): its row}}."""
    found: dict[str, dict[tuple[str, str], dict[str, str]]] = defaultdict(dict)
    for path in sorted(folder.glob("labels*.tsv")):
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                found[row["report"]][row["nodeid"], PHASES.get(row["phase"], row["phase"])] = row
    return found


def score_report(
    scores: Scores, name: str, rows: dict[tuple[str, str], dict[str, str]], options: argparse.Namespace
) -> None:
    path = options.reports / f"{name}.tpu.json"
    tests = {test_id.partition("::")[0] for test_id, _ in rows}
    if not tests or not all((options.suite / test).is_file() for test in tests):
        print(f"{name}: skipped, its tests are not in this suite", file=sys.stderr)
        return
    RUNS.clear()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        judged = dict(judge_all(path, Path(folder), options))
    seconds = time.monotonic() - started
    told: Counter[tuple[str, ...]] = Counter()
    for failure in read_report(path).failures:
        key = failure.test_id, failure.phase.value
        if key not in rows:
            continue
        bucket, verdict = judged[key]
        _, why = scores.add(name, rows[key], bucket, verdict)
        told[name, bucket.id, f"{verdict.kind.value}: {cause_of(bucket)}", rows[key]["cause"], why or "agree"] += 1
    lines = [(*line[:2], str(count), *line[2:]) for line, count in told.items()]
    for line in lines:
        print(*line, sep=" | ", file=sys.stderr, flush=True)
    scores.rows += lines
    scores.reports[name] = {
        "device_runs": RUNS.total() - RUNS["cpu"],
        "cpu_runs": RUNS["cpu"],
        "seconds": round(seconds, 1),
    }
    print(name, scores.reports[name], file=sys.stderr, flush=True)


def judge_all(
    path: Path, store: Path, options: argparse.Namespace
) -> Iterator[tuple[tuple[str, str], tuple[Bucket, Verdict]]]:
    """((test, phase), (its bucket, the verdict)) of each failure, as `collect` leaves them in the store."""
    done = collecting.collect(
        reports=[path],
        rerun=True,
        again=False,
        salvage=False,
        store=store,
        quiet=True,
        root=options.suite,
        python=options.python,
        limit_s=options.limit,
    )
    with open_store(store) as opened:
        for row in done.data["buckets"]:
            dossier = opened.dossier(row["id"])
            assert dossier.verdict is not None
            print(
                "  ", row["id"], row["count"], row["verdict"], row["title"], row["reason"], sep=" | ", file=sys.stderr
            )
            for failure in dossier.bucket.failures:
                yield (failure.test_id, failure.phase.value), (dossier.bucket, dossier.verdict)


def difference(label: dict[str, str], bucket: Bucket, verdict: Verdict) -> str:
    """Why verdict and cause do not agree with the label; "" where they do."""
    expected = BY_CAUSE.get(label["cause"])
    if expected is None:
        return f"no row of EXPECTED for {label['cause']}"
    if verdict.kind.value not in expected.verdicts:
        return f"{expected.verdicts[0]} expected"
    if not re.search(expected.words, told_by(bucket, verdict)):
        return "another cause"
    if verdict.kind.value in RULED_OUT.get(label["cpu"], ()):
        return f"{label['cpu']} in the CPU report"
    return ""


def explanation(cause: str, bucket: Bucket, verdict: Verdict) -> str:
    for row in EXPLAINED:
        if (row.cause, row.verdict) == (cause, verdict.kind.value) and re.search(row.words, told_by(bucket, verdict)):
            return row.why
    return ""


def told_by(bucket: Bucket, verdict: Verdict) -> str:
    signature = bucket.signature
    return f"{signature.family} {signature.operator} {bucket.title} {verdict.reason}"


def cause_of(bucket: Bucket) -> str:
    return f"{bucket.signature.family}: {bucket.title}"[:CAUSE_SHOWN]


def finish(scores: Scores) -> None:
    tests, agree = sum(scores.counts.values()), scores.counts["agree"]
    result = {
        "tests": tests,
        "agree": agree,
        "agree_share": round(agree / tests, 4) if tests else None,
        "explained": scores.counts["explained"],
        "unexplained": scores.counts["unexplained"],
        "reports": scores.reports,
    }
    print_figures(("report", "bucket", "failures", "verdict and cause", "label", "agrees"), scores.rows, result)


if __name__ == "__main__":
    main()
