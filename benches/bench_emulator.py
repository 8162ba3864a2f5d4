"""What each of the emulator's PJRT plugins breaks by itself: the measurement behind the default plugin.

Two suites run on both plugins: fixtures/minisuite, and every STEP-th float32 operator of torch's OpInfo database
(4 samples each, compared with CPU). A test is broken by a plugin where its failure carries one of the known marks of
a plugin (inside a message of XLA, not of torch_tpu), or where it dies or fails although the other plugin passes
it. Prints a table, then one JSON object: {plugin: {"tests", "passed", "not_implemented", "artifacts", "crashes",
"only_here", "broken", "seconds"}}.

    python benches/bench_emulator.py [--step 6]
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
from pathlib import Path

from tputriage.config import Settings
from tputriage.model import Outcome, Run
from tputriage.targets import runs
from tputriage.targets.catalogue import PLUGINS, find_target
from tputriage.targets.worker import Worker

HERE = Path(__file__).resolve().parent
MINISUITE = HERE.parent / "fixtures" / "minisuite"
OPINFO = HERE / "opinfo_suite.py.txt"
LIMIT_S = 60.0
# Neither says anything about a plugin: the one hangs by design, the other draws lots.
LEFT_OUT = ("test_batches_are_prefetched", "test_loss_falls_in_time")
ARTIFACT = re.compile(
    "failed to serialize StableHLO to plugin version|no FFI handler registered for|tpu_custom_call"
    "|GetOutputMemoryKinds is not supported|Not implemented by this PJRT plugin"
)


def run_suite(plugin: str, root: Path, files: list[str], device_env: str, step: int) -> dict[str, Run]:
    """{test id: its run}, of every `step`-th test collected."""
    target = find_target("emulator", Settings(plugin=plugin))
    with Worker(target, root, files, device_env=device_env) as worker:
        wanted = [test for test in worker.tests[::step] if not test.endswith(LEFT_OUT)]
        answers = worker.ask(runs.test_job(test, limit_s=LIMIT_S) for test in wanted)
        return {run.test_id: run for run in (runs.run_of(answer, target) for answer in answers)}


def run_all(plugin: str, step: int) -> tuple[dict[str, Run], float]:
    started = time.monotonic()
    fixtures = sorted(str(path) for path in (MINISUITE / "tests").rglob("test_*.py"))
    found = run_suite(plugin, MINISUITE, fixtures, "MINISUITE_TEST_DEVICE", 1)
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(shutil.copy(OPINFO, Path(folder).resolve() / "test_opinfo.py"))
        found |= run_suite(plugin, suite.parent, [str(suite)], "OPINFO_DEVICE", step)
    return found, time.monotonic() - started


def tally(mine: dict[str, Run], other: dict[str, Run], seconds: float) -> dict[str, float]:
    failed = {test: run for test, run in mine.items() if run.outcome.is_failure}
    artifacts = {test for test, run in failed.items() if run.failure and ARTIFACT.search(run.failure.message)}
    dead = {test for test, run in failed.items() if run.outcome in (Outcome.CRASH, Outcome.TIMEOUT)}
    only_here = {test for test in failed if other[test].outcome.is_pass}
    missing = {test for test, run in failed.items() if run.failure and "not implemented for TPU" in run.failure.message}
    return {
        "tests": len(mine),
        "passed": sum(run.outcome.is_pass for run in mine.values()),
        "not_implemented": len(missing),
        "artifacts": len(artifacts),
        "crashes": len(dead),
        "only_here": len(only_here),
        "broken": len(artifacts | only_here),
        "seconds": round(seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, default=6, help="take every STEP-th operator of OpInfo")
    step = parser.parse_args().step
    found = {plugin: run_all(plugin, step) for plugin in PLUGINS}
    first, second = found
    table = {
        first: tally(found[first][0], found[second][0], found[first][1]),
        second: tally(found[second][0], found[first][0], found[second][1]),
    }
    print(f"{'plugin':10}", *(f"{name:>16}" for name in table[first]))
    for plugin, row in table.items():
        print(f"{plugin:10}", *(f"{value:>16}" for value in row.values()))
    for plugin, other in ((first, second), (second, first)):
        broken = sorted(
            test
            for test, run in found[plugin][0].items()
            if run.outcome.is_failure and found[other][0][test].outcome.is_pass
        )
        print(f"only on {plugin}:", ", ".join(test.rpartition("::")[2] for test in broken) or "none")
    print(json.dumps(table))


if __name__ == "__main__":
    main()
