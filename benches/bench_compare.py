"""Comparing the failing tests of the fixture suite on two targets, against `python -m pytest NODEID` for each run.

The failing tests are found by running the suite's files once on the emulator. Each is a bucket of its own here, so
that all of them are rerun, and both sides judge by the same rules. The plain loop starts one process for each
test and target and is timed doing it; where the comparison repeats a run, the plain run's time counts as often
(TPUTRIAGE_BENCH_PLAIN=all makes the loop repeat it in earnest, which takes an hour). `speedup` is wall time
against wall time, the workers' start included; `overhead_ratio` is the comparison's wall time, start aside,
against the pure test times (setup, call and teardown) divided by how many tests the machine runs at once. Prints
one JSON object.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import IO

from figures import print_figures

from tputriage.compare import compare, judge
from tputriage.config import Settings
from tputriage.formats import read_report
from tputriage.model import Bucket, Failure, Outcome, Run
from tputriage.signatures import group
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.fresh import launch
from tputriage.targets.seam import Answer, Job, Target
from tputriage.targets.worker import Worker

ROOT = Path(__file__).resolve().parent.parent / "fixtures" / "minisuite"
DEVICE_ENV = "MINISUITE_TEST_DEVICE"
# What hangs costs its limit on either side, and what is flaky need not get the same verdict twice.
LEFT_OUT = ("test_batches_are_prefetched", "test_loss_falls_in_time", "test_native_is_the_default")
LIMIT_S = 60.0
REPEAT_PLAIN = os.environ.get("TPUTRIAGE_BENCH_PLAIN") == "all"


class Counting:
    """A runner that passes everything on, and keeps what was asked and how long the tests themselves took."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.asked: Counter[str] = Counter()
        self.test_s = 0.0

    @property
    def target(self) -> Target:
        return self._worker.target

    def ask(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        for answer in self._worker.ask(jobs):
            self.asked[answer.job.payload["test_id"]] += 1
            self.test_s += answer.value.get("duration_s") or answer.seconds
            yield answer


def main() -> None:
    os.chdir(ROOT)
    device, reference = find_target("emulator", Settings()), find_target("cpu", Settings())
    buckets = failing(device)
    ours, verdicts, counted = compare_ours(buckets, device, reference)
    plain, plain_verdicts = compare_plainly(buckets, counted)
    at_once = min(device.slots + reference.slots, os.cpu_count() or 1)
    pure_s = sum(counter.test_s for counter in counted) / at_once
    result = {
        "tests": len(buckets),
        "runs": sum(sum(counter.asked.values()) for counter in counted),
        "plain_s": round(plain, 1),
        "start_s": round(ours["start"], 2),
        "compare_s": round(ours["compare"], 2),
        "speedup": round(plain / (ours["start"] + ours["compare"]), 1),
        "same_verdicts": verdicts == plain_verdicts,
        "differing": {
            test: [verdicts[test], plain_verdicts[test]] for test in verdicts if verdicts[test] != plain_verdicts[test]
        },
        "pure_test_s": round(pure_s, 2),
        "overhead_ratio": round(ours["compare"] / pure_s, 2),
        "plain_runs_repeated": REPEAT_PLAIN,
    }
    print_figures(("figure", "value"), result.items(), result)


def failing(target: Target) -> list[Bucket]:
    """One bucket for each test that fails on the target, alone."""
    files = sorted(ROOT.glob("tests/**/test_*.py"))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        tests = list(pytest_report(target, ["--collect-only", *map(str, files)], report)["tests"])
    with Worker(target, ROOT, list(map(str, files)), device_env=DEVICE_ENV) as worker:
        jobs = [runs.test_job(test, limit_s=5.0) for test in tests if not test.endswith(LEFT_OUT)]
        found = [runs.run_of(answer, target) for answer in worker.ask(jobs)]
    failures = [run.failure for run in found if run.failure is not None]
    return [replace(group([failure])[0], id=f"b{number}") for number, failure in enumerate(failures)]


def compare_ours(
    buckets: list[Bucket], device: Target, reference: Target
) -> tuple[dict[str, float], dict[str, str], tuple[Counting, Counting]]:
    files = runs.files_of([test for bucket in buckets for test in bucket.tests], ROOT)
    options = {"root": ROOT, "files": files, "device_env": DEVICE_ENV}
    with Worker(device, **options) as one, Worker(reference, **options) as other:
        begun = time.perf_counter()
        with ThreadPoolExecutor() as both:
            list(both.map(lambda worker: worker.versions, (one, other)))
        started = time.perf_counter()
        counted = Counting(one), Counting(other)
        found = list(compare(buckets, *counted, limit_s=LIMIT_S, settings=False))
        ended = time.perf_counter()
    verdicts = {test: verdict.kind.value for bucket, verdict in found for test in bucket.tests}
    return {"start": started - begun, "compare": ended - started}, verdicts, counted


def compare_plainly(buckets: list[Bucket], counted: tuple[Counting, Counting]) -> tuple[float, dict[str, str]]:
    """Seconds of the plain loop, and its verdicts by the same rules."""
    seconds, verdicts = 0.0, {}
    for bucket in buckets:
        test = bucket.representative
        seen = []
        for counter in counted:
            times = counter.asked[test]
            took = [plain_run(counter.target, test) for _ in range(times if REPEAT_PLAIN else min(times, 1))]
            seen.append([run for run, _ in took])
            seconds += sum(second for _, second in took) * (1 if REPEAT_PLAIN else times)
        verdicts[test] = judge(bucket, *seen).kind.value
    return seconds, verdicts


def plain_run(target: Target, test: str) -> tuple[Run, float]:
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        failures = pytest_report(target, [test], Path(folder) / "report.json")["failures"]
        seconds = time.perf_counter() - begun
    failure: Failure | None = failures[0] if failures else None
    return Run(test, target.name, failure.outcome if failure else Outcome.PASSED, failure, seconds), seconds


def pytest_report(target: Target, arguments: list[str], path: Path) -> dict:
    """{"tests": node ids, "failures"} of one pytest process; a process that died tells of a crash."""
    os.environ[DEVICE_ENV] = target.device
    options = [
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "pytest_jsonreport",
        "--json-report",
        f"--json-report-file={path}",
    ]
    with quiet(), said() as errors:
        code = launch(target, ["pytest", *options, *arguments], module=True)
        errors.seek(0)
        words = errors.read().decode("utf-8", "replace")
    if not path.exists():
        message = runs.death_message(words, code - 128 if code > 128 else None)
        return {"tests": [], "failures": [Failure(arguments[0], "crash", Outcome.CRASH, message=message, text=words)]}
    collected = json.loads(path.read_bytes()).get("collectors", [])
    tests = [node["nodeid"] for entry in collected for node in entry["result"] if node["type"].endswith("Function")]
    return {"tests": tests, "failures": read_report(path).failures}


@contextlib.contextmanager
def said() -> Iterator[IO[bytes]]:
    """What is written to standard error, by children and native code too: a process that dies says there why."""
    with tempfile.TemporaryFile() as errors, leading(2, errors):
        yield errors


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Standard output to nowhere, for children too: ours is one JSON object."""
    sys.stdout.flush()
    with open(os.devnull, "wb") as nowhere, leading(1, nowhere):
        yield


@contextlib.contextmanager
def leading(stream: int, file: IO[bytes]) -> Iterator[None]:
    """The file descriptor writes to the file meanwhile, native code's words too."""
    kept = os.dup(stream)
    os.dup2(file.fileno(), stream)
    try:
        yield
    finally:
        os.dup2(kept, stream)
        os.close(kept)


if __name__ == "__main__":
    main()
