"""Reading a report of 200,000 tests (1 GB) and grouping 100,000 failures: speed and memory.

`make bench-collect` writes the report to a temporary folder and removes it. Speed is compared with msgspec's
plain decode of the same bytes in the same run, read into memory first; each side runs in a process of its own,
so that `peak_mb` (the most memory that was resident, by the kernel's count) is the reader's alone.
TPUTRIAGE_BENCH_TESTS makes it smaller. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from figures import print_figures

from tputriage.formats import read_report
from tputriage.model import Failure, Outcome, Phase
from tputriage.signatures import group

TESTS = int(os.environ.get("TPUTRIAGE_BENCH_TESTS", "200000"))
BYTES_A_TEST = 5_200
FAILURES = TESTS // 2
MODEL = Path(__file__).parent.parent / "fixtures" / "reports" / "unet2d.tpu.json"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        write_report(path)
        size = path.stat().st_size
        # Twice each, in turns, the better counts: the first reader pays for the disk.
        plain, ours, grouping = ({"seconds": 1e9, "peak_mb": 0.0} for _ in range(3))
        for _ in range(2):
            plain, ours = better(plain, measure("plain", path)), better(ours, measure("ours", path))
            grouping = better(grouping, measure("group", path))
    result = {
        "tests": TESTS,
        "report_mb": round(size / 1e6, 1),
        "read_s": ours["seconds"],
        "plain_s": plain["seconds"],
        "speed_ratio": round(plain["seconds"] / ours["seconds"], 3),
        "peak_mb": ours["peak_mb"],
        "plain_peak_mb": plain["peak_mb"],
        "failures_read": ours["failures"],
        "grouped": FAILURES,
        "group_s": grouping["seconds"],
        "group_cpu_s": grouping["cpu_s"],
    }
    print_figures(("figure", "value"), result.items(), result)


def better(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    return {**other, "seconds": min(one["seconds"], other["seconds"]), "peak_mb": max(one["peak_mb"], other["peak_mb"])}


def measure(side: str, path: Path) -> dict[str, float]:
    """One side in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, __file__, side, str(path)], check=True, capture_output=True, text=True, timeout=900
    )
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def run_side(side: str, path: Path) -> None:
    if side == "group":
        print(json.dumps(time_grouping()))
        return
    start = time.perf_counter()
    if side == "ours":
        report = read_report(path)
        count, failures = len(report.tests), len(report.failures)
    else:
        decoded = msgspec.json.decode(path.read_bytes())
        count, failures = len(decoded["tests"]), 0
    seconds = time.perf_counter() - start
    assert count == TESTS, f"{count} of {TESTS} tests were read"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": round(seconds, 3), "peak_mb": round(peak, 1), "failures": failures}))


def write_report(path: Path) -> None:
    """A report as pytest-json-report writes it: real tests of a real report, again and again, a tenth failed."""
    real = json.loads(MODEL.read_bytes())
    red = [test for test in real["tests"] if test["outcome"] in ("failed", "error")]
    green = [test for test in real["tests"] if test["outcome"] == "passed"]
    rng = random.Random(0)
    head = {**{key: real[key] for key in ("created", "duration", "exitcode", "root", "environment")}}
    failed = TESTS // 10
    head["summary"] = {"passed": TESTS - failed, "failed": failed, "total": TESTS, "collected": TESTS}
    with path.open("w", encoding="utf-8") as out:
        out.write(json.dumps(head)[:-1] + ', "collectors": [')
        out.write(", ".join(collector(number) for number in range(TESTS // 100)))
        out.write('], "tests": [')
        for number in range(TESTS):
            out.write((", " if number else "") + json.dumps(one_test(number, rng, red, green)))
        out.write("]}")


def collector(number: int) -> str:
    name = f"tests/models/test_models_{number}.py"
    items = [{"nodeid": node_id(number * 100 + at), "type": "Function", "lineno": at} for at in range(100)]
    return json.dumps({"nodeid": name, "outcome": "passed", "result": items})


def node_id(number: int) -> str:
    return f"tests/models/test_models_{number // 100}.py::TestModel{number // 10 % 10}::test_it[case-{number}-float32]"


def one_test(number: int, rng: random.Random, red: list[Any], green: list[Any]) -> dict[str, Any]:
    test = dict(red[number // 10 % len(red)] if number % 10 == 0 else green[number % len(green)])
    test["nodeid"] = node_id(number)
    if "call" in test and number % 10:
        lines = (
            f'step {step}: loss {rng.random():.6f} "{rng.getrandbits(64):x}"\n' for step in range(BYTES_A_TEST // 45)
        )
        test["call"] = {**test["call"], "stdout": "".join(lines)}
    return test


def time_grouping() -> dict[str, float]:
    """Seconds for FAILURES failures, each with numbers of its own, of some 400 kinds; nothing remembered before."""
    failures = list(some_failures())
    start, cpu = time.perf_counter(), time.process_time()
    buckets = group(failures)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    assert 300 < len(buckets) < 600, f"{len(buckets)} buckets"
    return {"seconds": round(seconds, 3), "cpu_s": round(cpu, 3), "peak_mb": 0.0}


def some_failures() -> Iterator[Failure]:
    rng = random.Random(0)
    models = read_report(MODEL).failures
    for number in range(FAILURES):
        model = models[number % len(models)]
        a, b = rng.randrange(1, 4096), rng.randrange(1, 4096)
        kind = number % 400
        said = (
            f"{model.message} (call {a} of node 0x{rng.getrandbits(40):x}, kind{kind}x)"
            if kind % 2
            else f"Tensor-likes are not close!\n\nMismatched elements: {a} / {b} ({a / b:.1%})\n"
            f"Greatest absolute difference: {rng.random()} at index ({a}, {b}) (up to 1e-05 allowed)"
        )
        yield Failure(
            f"tests/test_{kind}.py::test_{kind}[{number}]",
            Phase.CALL,
            Outcome.FAILED,
            exception="RuntimeError" if kind % 2 else "AssertionError",
            message=said,
            frames=model.frames[:-1] if kind % 2 else (),
            text=model.text,
        )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_side(sys.argv[1], Path(sys.argv[2]))
    else:
        main()
