"""PyTorch's device-generic tests have other names on each device: a failure on one is rerun as its twin on another."""

import textwrap
from types import SimpleNamespace

import pytest

from tests.targets.conftest import target_or_skip
from tputriage.compare import compare
from tputriage.inside.twins import twin
from tputriage.model import Outcome, VerdictKind
from tputriage.signatures import group
from tputriage.targets import runs
from tputriage.targets.worker import Worker

SUITE = """
    import torch
    from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests
    from torch.testing._internal.common_utils import TestCase, parametrize

    class TestOps(TestCase):
        @dtypes(torch.float32)
        def test_median(self, device, dtype):
            self.assertEqual(torch.median(torch.tensor([3.0, 1.0, 2.0], device=device, dtype=dtype)).item(), 2.0)

        @parametrize("size", [2])
        def test_cpu_sum(self, device, size):
            self.assertEqual(torch.ones(size, device=device).sum().item(), size)

    instantiate_device_type_tests(TestOps, globals())
"""
TPU = "test_ops.py::TestOpsPRIVATEUSE1::"
CPU = "test_ops.py::TestOpsCPU::"


@pytest.mark.parametrize(
    ("asked", "device", "there", "expected"),
    [
        (f"{TPU}test_add_tpu_float32", "cpu", [f"{CPU}test_add_cpu_float32"], f"{CPU}test_add_cpu_float32"),
        (f"{CPU}test_add_cpu", "tpu", [f"{TPU}test_add_tpu"], f"{TPU}test_add_tpu"),
        ("t.py::TestTPU::test_x_tpu[a]", "cpu", ["t.py::TestCPU::test_x_cpu[a]"], "t.py::TestCPU::test_x_cpu[a]"),
        (f"{TPU}test_cpu_sum_tpu", "cpu", [f"{CPU}test_cpu_sum_cpu"], f"{CPU}test_cpu_sum_cpu"),
        (f"{TPU}test_gone_tpu", "cpu", [f"{CPU}test_add_cpu"], f"{TPU}test_gone_tpu"),
        ("t.py::test_tpu", "cpu", ["t.py::test_cpu"], "t.py::test_tpu"),  # no class of a device: a name is a name
    ],
)
def test_the_twin_is_the_one_collected_test_that_differs_in_the_device_alone(asked, device, there, expected):
    assert twin(asked, SimpleNamespace(device=device, items=dict.fromkeys(there))) == expected


@pytest.mark.emulator
def test_device_generic_tests_are_compared_across_their_names(tmp_path):
    path = tmp_path / "test_ops.py"
    path.write_text(textwrap.dedent(SUITE), "utf-8")
    options = {"root": tmp_path, "files": [str(path)], "device_env": "PYTORCH_TESTING_DEVICE_ONLY_FOR"}
    with (
        Worker(target_or_skip("emulator"), **options) as device,
        Worker(target_or_skip("cpu"), **options) as reference,
    ):
        assert set(device.tests) == {f"{TPU}test_median_tpu_float32", f"{TPU}test_cpu_sum_size_2_tpu"}
        job = runs.test_job(f"{TPU}test_median_tpu_float32", limit_s=120)
        (answer,) = device.ask([job])
        failure = runs.run_of(answer, device.target).failure
        ((_, verdict),) = compare(group([failure]), device, reference, limit_s=120, settings=False)
        (answer,) = reference.ask([job])
    twins = runs.run_of(answer, reference.target)
    assert verdict.kind is VerdictKind.TPU_ONLY
    assert "aten::median" in failure.message
    assert (twins.outcome, twins.test_id) == (Outcome.PASSED, f"{TPU}test_median_tpu_float32")
    assert f"{CPU}test_median_cpu_float32" in twins.command
