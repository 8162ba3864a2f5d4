"""The real torch_tpu over a CPU plugin: failures are its own, and a worker forks before it is touched."""

import pytest

from tests.targets.conftest import a_worker, write_suite
from tputriage.model import Outcome

pytestmark = pytest.mark.emulator

GROUP_NORM = """
import sys, torch
x = torch.randn(4, 8, 16, 16, device=sys.argv[1]).to(memory_format=torch.channels_last)
torch.nn.functional.group_norm(x, 2)
"""
OVERLAP = """
import sys, torch
x = torch.zeros(1, 8, 8, 4, 1, 8, device=sys.argv[1])
x[:, 1:-1, 0::7, 0] = torch.rand(1, 6, 2, 1, 8, device=sys.argv[1])
print(x.sum().item())
"""
LATE = """
import sys, torch
y = torch.cumsum(torch.rand(3, device=sys.argv[1]), 0)
y.cpu()
"""


def test_a_test_passes_on_the_emulator(emulator, run):
    assert run(emulator, "test_passes").outcome is Outcome.PASSED


def test_group_norm_on_channels_last_fails_on_the_emulator_only(emulator, cpu, run_source):
    failed = run_source(emulator, GROUP_NORM)
    assert failed.failure.message.startswith("view(): cannot create a view of shape [4, 2, 1024]")
    assert run_source(cpu, GROUP_NORM).outcome is Outcome.PASSED


def test_a_native_abort_takes_nobody_with_it(emulator, run, run_source):
    crashed = run_source(emulator, OVERLAP)
    assert crashed.outcome is Outcome.CRASH
    assert "in-place operations on overlapping views" in crashed.failure.message
    assert run(emulator, "test_passes").outcome is Outcome.PASSED


def test_launch_blocking_moves_a_late_error_to_its_line(emulator, run_source):
    late = run_source(emulator, LATE)
    soon = run_source(emulator, LATE, knobs={"TORCH_TPU_LAUNCH_BLOCKING": "1"})
    assert (late.failure.frames[0].line, soon.failure.frames[0].line) == (4, 3)


def test_cpu_fallback_runs_what_has_no_kernel(emulator, run_source):
    source = "import sys, torch; torch.median(torch.rand(3, device=sys.argv[1]))"
    assert "not implemented for TPU" in run_source(emulator, source).failure.message
    assert run_source(emulator, source, knobs={"TPUTRIAGE_CPU_FALLBACK": "1"}).outcome is Outcome.PASSED


def test_attention_runs_without_its_kernel(emulator, run_source):
    source = """
    import sys, torch
    x = torch.rand(1, 2, 4, 8)
    on = torch.nn.functional.scaled_dot_product_attention(*[x.to(sys.argv[1])] * 3).cpu()
    torch.testing.assert_close(on, torch.nn.functional.scaled_dot_product_attention(x, x, x))
    """
    assert run_source(emulator, source).outcome is Outcome.PASSED
    with_kernels = run_source(emulator, source, knobs={"TPUTRIAGE_ATTENTION_KERNELS": "1"})
    assert "tpu_custom_call" in with_kernels.failure.message


def test_the_reference_knows_nothing_of_torch_tpu(cpu, run_source):
    source = "import sys, torch; assert 'torch_tpu' not in sys.modules and not hasattr(torch, 'tpu')"
    assert run_source(cpu, source).outcome is Outcome.PASSED


def test_versions_name_what_can_be_at_fault(emulator):
    assert {"python", "torch", "torch_tpu", "libtpu"} <= emulator.versions.keys()


def test_the_explanation_of_an_assert_does_not_compile_programs(emulator, run):
    failed = run(emulator, "test_layout")
    assert "device='tpu:0'" in failed.failure.message


def test_a_suite_that_uses_the_device_while_it_is_collected_is_served_all_the_same(tmp_path, run):
    source = """
    import torch
    ONES = torch.ones(2, device="tpu") + 1
    def test_sum():
        assert ONES.sum().item() == 4
    def test_wrong():
        assert ONES.sum().item() == 5
    """
    with a_worker(write_suite(tmp_path, test_early=source), "emulator", extra=["test_early.py"]) as worker:
        assert run(worker, "test_early.py::test_sum").outcome is Outcome.PASSED
        assert run(worker, "test_early.py::test_wrong").outcome is Outcome.FAILED
        assert run(worker, "test_passes").outcome is Outcome.PASSED
        assert "test_early.py::test_sum" in worker.tests
