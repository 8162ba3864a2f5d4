"""Whether `collect` comes to the verdicts and causes that a person found in real reports.

    python benches/bench_verdicts.py --suite DIR [--python PYTHON] [--reports DIR] [--only NAME …]

`--suite` is a checkout of the suite that the reports are of (diffusers at commit 58eb52c0), `--python` an interpreter
with what it needs (or TPUTRIAGE_BENCH_SUITE and TPUTRIAGE_BENCH_PYTHON), `--reports` a folder with labels*.tsv,
NAME.tpu.json and NAME.cpu.json. Each report goes through the real `collect` into a store of its own. Every failing
phase is scored against the column `cause`, by the table EXPECTED below, and against the test's outcome in the CPU
report. Skips what is not there. Prints one JSON object: `tests` (failing phases scored), `agree`, `agree_share`,
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from figures import print_figures

from tputriage.formats import read_report
from tputriage.model import Bucket, Verdict
from tputriage.pipeline import place
from tputriage.pipeline.collecting import collect
from tputriage.store import open_store
from tputriage.targets.seam import Answer, Job
from tputriage.targets.worker import Worker

REPORTS = Path(__file__).parents[2] / "shared" / "data" / "reports"
PHASES = {"???": "crash"}
CAUSE_SHOWN = 60
SHOWN = ("id", "count", "verdict", "title", "reason")  # of a bucket, on standard error


@dataclass(frozen=True, slots=True)
class Expected:
    """What a label's cause asks of the verdict: its kind, and words of the bucket or the reason that name the cause."""

    cause: str
    verdicts: tuple[str, ...]
    words: str  # pattern over "family operator title reason"
    why: str


EXPECTED = (
    Expected("hub-offline", ("infra",), r"^offline ", "fails on CPU alike, for want of a network: no bug of anybody's"),
    Expected(
        "emulator:tpu_custom_call(sdpa)",
        ("infra",),
        r"tpu_custom_call",
        "the attention kernel is TPU code, which a CPU plugin cannot have: it says nothing about a TPU",
    ),
    Expected(
        "emulator:unknown-device-kind(inductor memory)",
        ("infra",),
        r"^emulator-api ",
        "inductor asks the plugin how much memory the device has, which a real TPU answers",
    ),
    Expected("groupnorm-channels_last-view", ("tpu-only",), r" view\b", "one bug of group_norm, at several shapes"),
    Expected(
        "aten::mish.out-unimplemented",
        ("tpu-only",),
        r"aten::mish\b",
        "a missing operator is torch_tpu's, also where CPU skips the test",
    ),
    Expected(
        "error-message-wording(linear shape mismatch)",
        ("tpu-only",),
        r"^message-wording .*linear\(\)",
        "torch_tpu words an error otherwise than torch: a difference of behaviour, and TorchTPU's",
    ),
    Expected(
        "rms_norm-symbolic-numel(dynamo)",
        ("tpu-only",),
        r"rms_norm",
        "torch_tpu's rms_norm asks a symbolic shape for its size, so no torch.compile(dynamic=True) works",
    ),
    Expected(
        "tpu-tensorimpl-shallow-copy-incompatible",
        ("tpu-only",),
        r"set_data.*incompatible tensor type",
        "torch's own call refuses the device's tensors",
    ),
    Expected(
        "crash:inplace-overlapping-view-CHECK",
        ("tpu-only",),
        r"^crash-check .*in-place operations on overlapping views",
        "the process dies on tpu alone; a report of pytest-xdist has no words of it, its rerun names the failed check",
    ),
    Expected(
        "library:diffusers-group-offload-streams-cuda-xpu-only",
        ("suite",),
        r"group_offloading\.py:\d+: raise ValueError",
        "the library's own check knows two devices, and raises before any operator of torch_tpu runs",
    ),
    Expected(
        "library:diffusers-get_device-ignores-tpu",
        ("suite",),
        r"pipeline_utils\.py:\d+: raise RuntimeError",
        "the library's default device ignores tpu, and its own check then finds no accelerator",
    ),
    Expected(
        "expected-values-device-rng",
        ("suite",),
        r"it is randomness",
        "the numbers written down in the test are those of another random stream: no wrong result",
    ),
)
BY_CAUSE = {row.cause: row for row in EXPECTED}


@dataclass(frozen=True, slots=True)
class Explained:
    """A difference that is ours to stand by, with the reason."""

    cause: str
    verdict: str
    words: str
    why: str


EXPLAINED = (
    Explained(
        "emulator:tpu_custom_call(sdpa)",
        "not-reproduced",
        r"^secondary .*\bpasses on emulator\b",
        "our emulator runs attention without the TPU's kernels; it is given them only where the report itself says that"
        " its run had them, since what it then fails with says nothing of a run on a TPU",
    ),
)
# What an outcome in the CPU report rules out: a test that passed there does not fail everywhere.
RULED_OUT = {"passed": ("everywhere",), "xpassed": ("everywhere",), "failed": ("tpu-only", "suite")}


class Counted(Worker):
    """A worker that counts what it is asked."""

    runs: ClassVar[Counter[str]] = Counter()

    def ask(self, jobs: Sequence[Job] | Iterator[Job]) -> Iterator[Answer]:
        for answer in super().ask(jobs):
            self.runs[self.target.name] += 1
            yield answer


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
    place.Worker = Counted  # type: ignore[misc]
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
    Counted.runs.clear()
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
    device, reference = (sum(Counted.runs[name] for name in names) for names in (("tpu", "emulator"), ("cpu",)))
    scores.reports[name] = {"device_runs": device, "cpu_runs": reference, "seconds": round(seconds, 1)}
    print(name, scores.reports[name], file=sys.stderr, flush=True)


def judge_all(
    path: Path, store: Path, options: argparse.Namespace
) -> Iterator[tuple[tuple[str, str], tuple[Bucket, Verdict]]]:
    """((test, phase), (its bucket, the verdict)) of each failure, as `collect` leaves them in the store."""
    done = collect(
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
