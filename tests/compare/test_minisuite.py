"""The planted kinds of the fixture suite, compared on the real torch_tpu over the emulator, and on CPU."""

from pathlib import Path

import pytest

from tputriage.compare import by_file, compare
from tputriage.config import Settings
from tputriage.signatures import group
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

ROOT = Path(__file__).parents[2] / "fixtures" / "minisuite"
REGISTRY = [f"tests/test_registry.py::test_{name}" for name in ("backends_have_names", "backend_can_be_set")]
VERDICTS = {
    "tests/models/test_models_tiny.py::TinyUNetTests::test_output_shape": "tpu-only",
    "tests/test_windows.py::test_window_borders_are_marked": "tpu-only",  # aborts the process
    "tests/test_schedulers.py::test_noise_level_is_the_middle_one": "tpu-only",
    "tests/test_schedulers.py::test_schedule_ends_where_it_should": "everywhere",
    "tests/test_training.py::test_offloaded_models_come_to_the_host": "suite",
    "tests/test_training.py::test_loss_falls_in_time": "flaky",
    "tests/test_training.py::test_batches_are_prefetched": "tpu-only",  # hangs
    "tests/test_registry.py::test_native_is_the_default": "everywhere",  # after another test
}
LIMIT_S = 3.0


@pytest.mark.emulator
def test_every_planted_kind_gets_its_verdict():
    options = {"root": ROOT, "files": runs.files_of(list(VERDICTS), ROOT), "device_env": "MINISUITE_TEST_DEVICE"}
    targets = find_target("emulator", Settings()), find_target("cpu", Settings())
    with Worker(targets[0], **options) as device, Worker(targets[1], **options) as reference:
        buckets = group(as_reported(device))
        order = by_file([*REGISTRY, *VERDICTS])
        found = list(compare(buckets, device, reference, limit_s=LIMIT_S, order=order))
    verdicts = {test: verdict for bucket, verdict in found for test in bucket.tests}
    assert {test: verdict.kind.value for test, verdict in verdicts.items()} == VERDICTS
    assert verdicts["tests/test_schedulers.py::test_noise_level_is_the_middle_one"].knobs["cpu-fallback"] == "passes"
    assert f"after {REGISTRY[1]}, as it does on cpu" in verdicts[list(VERDICTS)[-1]].reason


def as_reported(worker):
    """One failure of each test, in the order in which a red run met them: the flaky one when it was out of luck."""
    failures = {}
    for _ in range(40):
        missing = [test for test in VERDICTS if test not in failures]
        jobs = [
            runs.test_job(test, limit_s=LIMIT_S, before=REGISTRY if test.startswith(REGISTRY[0][:20]) else ())
            for test in missing
        ]
        seen = (runs.run_of(answer, worker.target) for answer in worker.ask(jobs))
        failures |= {run.test_id: run.failure for run in seen if run.failure is not None}
    return [failures[test] for test in VERDICTS]
