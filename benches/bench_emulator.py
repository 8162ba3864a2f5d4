"""What each of the emulator's PJRT plugins breaks by itself: the measurement behind the default plugin.

Three suites run on both plugins: fixtures/minisuite, every STEP-th float32 operator of torch's OpInfo database (4
samples each, compared with CPU), and some functions under torch.compile. A failure is the plugin's own where it
carries one of the known marks of a plugin (XLA's words, not torch_tpu's), where the other plugin passes the test,
or where the process dies while the other plugin lets it fail cleanly. Prints a table, then one JSON object:
{plugin: {"tests", "passed", "not_implemented", "died", "artifacts", "broken", "seconds"}}.

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
DEAD = (Outcome.CRASH, Outcome.TIMEOUT)
COMPILED = """
import os
import pytest
import torch
from torch.nn import functional as F

DEVICE = os.environ["COMPILED_DEVICE"]
FUNCTIONS = {
    "add": lambda x: x + 1,
    "matmul": lambda x: x @ x.T,
    "layer_norm": lambda x: F.layer_norm(x, (8,)),
    "gelu": lambda x: F.gelu(x).sum(),
    "branch": lambda x: x.relu() if x.shape[0] > 2 else x,
}

@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled(name):
    x = torch.arange(32.0).reshape(4, 8) / 32
    actual = torch.compile(FUNCTIONS[name])(x.to(DEVICE)).cpu()
    torch.testing.assert_close(actual, FUNCTIONS[name](x), rtol=1e-3, atol=1e-3)
"""
ARTIFACT = re.compile(
    "failed to serialize StableHLO to plugin version|no FFI handler registered for|tpu_custom_call"
    "|GetOutputMemoryKinds is not supported|computation_partitioner.cc:"
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
        compiled = suite.with_name("test_compiled.py")
        compiled.write_text(COMPILED, "utf-8")
        found |= run_suite(plugin, suite.parent, [str(compiled)], "COMPILED_DEVICE", 1)
    return found, time.monotonic() - started


def broken_by_plugin(mine: dict[str, Run], other: dict[str, Run]) -> dict[str, str]:
    """{test: why} of the failures that are the plugin's own."""
    found = {}
    for test, run in mine.items():
        if run.failure is None or not run.outcome.is_failure:
            continue
        if ARTIFACT.search(run.failure.message):
            found[test] = "artifact"
        elif other[test].outcome.is_pass:
            found[test] = f"{run.outcome.value}, passes on the other"
        elif run.outcome in DEAD and other[test].outcome not in DEAD:
            found[test] = f"{run.outcome.value}, fails cleanly on the other"
    return found


def tally(runs_: dict[str, Run], broken: dict[str, str], seconds: float) -> dict[str, float]:
    failures = [run.failure for run in runs_.values() if run.failure and run.outcome.is_failure]
    return {
        "tests": len(runs_),
        "passed": sum(run.outcome.is_pass for run in runs_.values()),
        "not_implemented": sum("not implemented for TPU" in failure.message for failure in failures),
        "died": sum(failure.outcome in DEAD for failure in failures),
        "artifacts": sum(why == "artifact" for why in broken.values()),
        "broken": len(broken),
        "seconds": round(seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, default=6, help="take every STEP-th operator of OpInfo")
    step = parser.parse_args().step
    found = {plugin: run_all(plugin, step) for plugin in PLUGINS}
    first, second = found
    broken = {
        first: broken_by_plugin(found[first][0], found[second][0]),
        second: broken_by_plugin(found[second][0], found[first][0]),
    }
    table = {plugin: tally(found[plugin][0], broken[plugin], found[plugin][1]) for plugin in found}
    print(f"{'plugin':10}", *(f"{name:>16}" for name in table[first]))
    for plugin, row in table.items():
        print(f"{plugin:10}", *(f"{value:>16}" for value in row.values()))
    for plugin, tests in broken.items():
        for test, why in sorted(tests.items()):
            print(f"broken by {plugin}: {test.rpartition('::')[2]}: {why}")
    print(json.dumps(table))


if __name__ == "__main__":
    main()
