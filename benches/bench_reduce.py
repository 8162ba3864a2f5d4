"""`make bench-reduce`: our reducer, lithium and Shrink Ray behind one oracle, on the same scripts with the same time.

`--scripts FOLDER` holds scripts that say "tpu" once (../shared/bench, where that is there), `--more` adds those of
fixtures/bench, `--tests` are node ids of the fixture suite, flattened first (six of its failures; they say "tpu" once
then too). `--suite ROOT` is a checkout of diffusers: one failing test for each of its real reports that name a bug of
torch_tpu (../shared/data/reports: unet2d, autoencoder-kl, pipe-ddim, and hooks-layerwise, which names two) then stand
for five of those; `--suite-tests` and `--suite-env` are for another suite. `--limit S` is each reducer's time for a
script (480), `--only` picks rows by a part of their name, `--python` runs the scripts and the suite (an environment
with diffusers 0.42.1 is made where none is given and there are scripts). Prints a line a run, then one JSON object;
leaves 1 where a stated goal is missed, or where there was nothing to reduce.

The better rival of a script is the one with fewer tokens, of those whose result still is the same bug.
"""

import argparse
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import reduce_rivals
from reduce_oracle import BenchOracle, Server, normalised, on_cpu

from tputriage.config import Settings
from tputriage.errors import TriageError
from tputriage.minimize.device_argument import argued, as_given
from tputriage.minimize.errand import Errand
from tputriage.minimize.flatten import flatten
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.measure import code_lines
from tputriage.minimize.reducing import reduce_source, tokens_of, tracer
from tputriage.minimize.reducing.sweeping import sweep
from tputriage.minimize.shortcut import call_road
from tputriage.minimize.test_road import take_script_road
from tputriage.model import Outcome
from tputriage.signatures import same_bug, sign
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

SUITE = Path(__file__).parent.parent / "fixtures" / "minisuite"
OWN = Path(__file__).parent.parent / "fixtures" / "bench"
SCRIPTS = Path(__file__).parent.parent.parent / "shared" / "bench"
TESTS = [
    "tests/models/test_models_tiny.py::TinyUNetTests::test_save_load",
    "tests/models/test_models_tiny.py::TinyAutoencoderTests::test_training",
    "tests/models/test_models_tiny.py::TinyUNetTests::test_determinism",
    "tests/models/test_models_tiny.py::TinyAutoencoderTests::test_save_load",
    "tests/test_training.py::test_draws_are_repeatable",
    "tests/test_training.py::test_weights_can_be_swapped",
]
BESIDE_DIFFUSERS = 1  # of those
DIFFUSERS = [
    "tests/models/unets/test_models_unet_2d.py::TestUNetLDMModel::test_sharded_checkpoints_with_parallel_loading",
    "tests/models/autoencoders/test_models_autoencoder_kl.py::TestAutoencoderKL::test_from_save_pretrained",
    "tests/pipelines/ddim/test_ddim.py::DDIMPipelineFastTests::test_save_load_local",
    "tests/models/unets/test_models_unet_1d.py::TestUNet1DModel::test_determinism",
    "tests/hooks/test_hooks.py::TestHooks::test_skip_layer_internal_block",
]
SUITE_ENV = "MINISUITE_TEST_DEVICE"
WIDTH = 44  # of a row's name as it is shown
NAMED = "tpu"  # a script that says its device by name, as those of ../shared/bench do
GOALS = {"test_road_tokens_ratio": 0.5, "test_road_runs_ratio": 0.2, "all_roads_tokens_ratio": 0.1,
         "all_roads_runs_ratio": 0.1, "slipped": 0}  # fmt: skip


def scripts_of(options):
    folders = [*([options.scripts] if options.scripts else []), *([OWN] if options.more else [])]
    return [path for folder in folders for path in sorted(folder.glob("*.py"))]


def rows(options):
    """(name, script that says "tpu" once)."""
    for path in scripts_of(options):
        yield path.stem, path.read_text("utf-8")
    yield from flattened(options.tests[: BESIDE_DIFFUSERS if options.suite else None], SUITE, SUITE_ENV, "")
    if options.suite:
        yield from flattened(options.suite_tests, options.suite.resolve(), options.suite_env, options.python)


def flattened(test_ids, root, device_env, python):
    for test_id in test_ids:
        target = find_target("emulator", Settings(python=python))
        _, kind, name = test_id.rsplit("::", 2) if test_id.count("::") > 1 else ("", "", test_id.rpartition("::")[2])
        with Worker(target, root, files=runs.files_of([test_id], root), device_env=device_env) as worker:
            try:
                script = by_name(flatten(test_id, worker), NAMED)
            except TriageError as exc:
                print(f"{test_id}: not flattened: {exc}")
                continue
        yield f"{kind}::{name}".removeprefix("::"), script


def bench(name, source, pairs, rivals, options):
    """One script by every reducer: {reducer: {"tokens", "lines", "runs", "seconds", "end", "same"}}.

    `pairs` are (device, reference) for ours and for each rival. The rivals work at once, each with workers of its own.
    """
    device, reference = pairs[0]
    failure = once(source, device).failure
    if failure is None or once(on_cpu(source), reference).outcome is not Outcome.PASSED:
        print(f"{name}: shows no difference here; left out")
        return {}
    expected = (failure.exception.rpartition(".")[2] or failure.exception, normalised(failure.message))
    found = {"test road": alone(name, "test road", pairs[0], source, expected, failure, options, ours)}
    if not options.test_road_only:
        found["all roads"] = by_roads(source, failure, pairs[0], options)
        print(f"{name[:WIDTH]:{WIDTH}} {'all roads':10} {found['all roads']}", flush=True)
    with ThreadPoolExecutor() as pool:
        works = [(rival, partial(theirs, rival, python, options=options)) for rival, python in rivals]
        asked = {
            rival.name: pool.submit(alone, name, rival.name, pair, source, expected, failure, options, work)
            for (rival, work), pair in zip(works, pairs[1:], strict=True)
        }
        return found | {label: answer.result() for label, answer in asked.items()}


def alone(name, label, pair, source, expected, wanted, options, work):
    """One reducer's row; printed as it comes."""
    oracle = BenchOracle(*pair, expected, options.limit)
    started = time.monotonic()
    end = work(source, oracle)
    best = oracle.best or source
    seconds, failure = time.monotonic() - started, once(best, pair[0]).failure
    found = row(best, oracle.runs, seconds, end, failure, wanted)
    print(f"{name[:WIDTH]:{WIDTH}} {label:10} {found}", flush=True)
    return found


def ours(source, oracle):
    def counted():
        oracle.runs += 1

    start = argued(source, "tpu")
    asking = Told(oracle, source)
    best = reduce_source(start, asking, trace=tracer(oracle.device, limit_s=60, counted=counted))
    oracle.best = by_name(best, source)
    return "stopped" if oracle.exhausted else "ended"


def by_name(source, given):
    """As a rival has the script: told its device as the `given` one was, without what nothing reads."""
    return sweep(as_given(source, "tpu", given))


class Told:
    """The bench's oracle runs scripts without an argument."""

    def __init__(self, oracle, given):
        self.oracle, self.given = oracle, given

    @property
    def exhausted(self):
        return self.oracle.exhausted

    @property
    def workers(self):
        return self.oracle.workers

    def __call__(self, source):
        return self.first([source]) is not None

    def first(self, sources):
        return self.oracle.first([by_name(source, self.given) for source in sources])


def theirs(rival, python, source, oracle, *, options):
    server = Server(oracle)
    try:
        return reduce_rivals.run(rival, python, source, server.port, options.limit)
    finally:
        server.close()


def row(source, runs, seconds, end, failure, wanted):
    return {"tokens": tokens_of(source), "lines": code_lines(source), "runs": runs,
            "seconds": round(seconds, 1), "end": end, "same": same(wanted, failure)}  # fmt: skip


def same(wanted, failure):
    """Type and normalised message, and the operator or the library's function that raised."""
    if failure is None or (failure.exception, normalised(failure.message)) != (
        wanted.exception,
        normalised(wanted.message),
    ):
        return False
    return same_bug(sign(wanted), failure) or raised_in(wanted) == raised_in(failure)


def raised_in(failure):
    """The innermost function, where that is not the script's own: its functions come and go."""
    frame = failure.frames[-1] if failure.frames else None
    return frame.function if frame and "site-packages" in frame.path else ""


def by_roads(source, wanted, pair, options):
    """The roads of minimize, shortest first, on the script as it is: no test is around it that could be listened to.

    Without what explains a call once it is found: the rivals explain nothing. A call whose results depart from CPU's
    fails in words of its own; the road takes it only where the script no longer fails with that call on CPU.
    """
    device, reference = pair
    started, script = time.monotonic(), argued(source, "tpu")
    oracle = Interesting(sign(wanted), device, reference, limit_s=60, deadline_s=options.limit)
    errand = Errand("", oracle.wanted, device, reference, oracle, limit_s=60, script=script)
    roads = [call_road(errand, explain=False)]
    if roads[0].draft is None:
        roads.append(take_script_road(errand, script))
    draft, runs = roads[-1].draft, oracle.runs + sum(road.runs for road in roads)
    found = by_name(draft.source, source)
    seconds, failure = time.monotonic() - started, once(found, device).failure
    made = row(found, runs, seconds, draft.level.value, failure, wanted)
    proven = draft.wanted is not None and failure is not None and same_bug(draft.wanted, failure)
    return made | {"same": made["same"] or proven}


def started(stack, options):
    """(device, reference), ended with the stack; what the scripts import is imported before they run."""
    settings = Settings(python=options.python)
    preload = [line for path in scripts_of(options) for line in runs.imports_of(path.read_text("utf-8"))]
    targets = [find_target(name, settings) for name in ("emulator", "cpu")]
    return [stack.enter_context(Worker(target, preload=preload)) for target in targets]


def once(source, runner):
    job = runs.script_job(source, runner.target.device, limit_s=60)
    return runs.run_of(next(iter(runner.ask([job]))), runner.target)


def better(rivals):
    """The smallest result that still is the same bug; the smallest, where none is."""
    return min(rivals, key=lambda one: (not one["same"], one["tokens"]))


def summary(table, rivals):
    names = [rival.name for rival, _ in rivals]
    found = {"scripts": len(table), "rivals": names}
    for key, ours_name in (("test_road", "test road"), ("all_roads", "all roads")):
        for what in ("tokens", "runs"):
            ratios = [
                row[ours_name][what] / max(1, better([row[name] for name in names])[what])
                for row in table.values()
                if ours_name in row and names
            ]
            found[f"{key}_{what}_ratio"] = round(statistics.median(ratios), 3) if ratios else None
    found["slipped"] = sum(not row[name]["same"] for row in table.values() for name in row if name not in names)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scripts", type=Path, default=SCRIPTS if SCRIPTS.is_dir() else None)
    parser.add_argument("--more", action="store_true", help="the scripts of fixtures/bench too")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="node ids of the fixture suite")
    parser.add_argument("--suite", type=Path, help="a checkout of diffusers")
    parser.add_argument("--suite-tests", nargs="*", default=DIFFUSERS)
    parser.add_argument("--suite-env", default="DIFFUSERS_TEST_DEVICE")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=480.0)
    parser.add_argument("--python", default="")
    parser.add_argument("--rivals", default="lithium,shrinkray")
    parser.add_argument("--test-road-only", action="store_true")
    options = parser.parse_args()
    chosen = [rival for rival in reduce_rivals.RIVALS if rival.name in options.rivals.split(",")]
    rivals = [(rival, python) for rival in chosen if (python := reduce_rivals.install(rival))]
    if options.scripts and not options.python:
        options.python = reduce_rivals.scripts_python()
    table = {}
    with ExitStack() as stack:
        pairs = [started(stack, options) for _ in range(1 + len(rivals))]
        for name, source in rows(options):
            if options.only in name:
                found = bench(name, source, pairs, rivals, options)
                table.update({name: found} if found else {})
    found = summary(table, rivals)
    print(json.dumps(found))
    missed = [key for key, goal in GOALS.items() if found[key] is not None and found[key] > goal]
    sys.exit(1 if missed or not table else 0)


if __name__ == "__main__":
    main()
