"""The op road end to end: a suite that fails on the real torch_tpu, through real workers."""

import pytest

from tests.minimize.helpers import on_both
from tputriage.minimize.errand import Errand
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.measure import code_lines, third_party_imports
from tputriage.minimize.op_road import take_op_road
from tputriage.model import Level
from tputriage.signatures import sign
from tputriage.targets import runs

SUITE = """
import os

import pytest
import torch
import torch.nn.functional as F

DEVICE = os.environ.get("SUITE_DEVICE", "cpu")


def test_group_norm():
    model = torch.nn.Sequential(torch.nn.SiLU(), torch.nn.GroupNorm(2, 8)).to(DEVICE)
    model(torch.randn(4, 8, 16, 16, device=DEVICE).to(memory_format=torch.channels_last))


def test_median():
    values = torch.randn(4, 3, 16, device=DEVICE).reshape(-1)
    assert (values - torch.median(values)).abs().mean() > 0


def test_median_of_a_dimension():
    torch.randn(4, 7, device=DEVICE).median(dim=1)


@pytest.fixture
def crossed():
    return torch.linalg.cross(torch.randn(5, 3, device=DEVICE), torch.randn(5, 3, device=DEVICE), dim=-1)


def test_fixture(crossed):
    assert crossed.shape == (5, 3)


def test_backward():
    x = torch.randn(1, 2, 4, 4, device=DEVICE, requires_grad=True)
    F.adaptive_max_pool2d(x, 2).sum().backward()


def test_read_late():
    y = F.pad(torch.ones(1, 5, 3, 4, device=DEVICE), (-1, -1, 5, -3), mode="replicate")
    assert y.cpu().shape == (1, 5, 5, 2)


def test_not_raised():
    table = torch.arange(6.0, device=DEVICE).reshape(3, 2)
    with pytest.raises((IndexError, RuntimeError)):
        F.embedding(torch.tensor([7], device=DEVICE), table).cpu()


def test_random():
    torch.manual_seed(0)
    drawn = torch.rand(4, device=DEVICE).cpu()
    torch.manual_seed(0)
    torch.testing.assert_close(drawn, torch.rand(4))


def test_sparse():
    torch.sparse.mm(torch.eye(3).to_sparse().to(DEVICE), torch.ones(3, 2, device=DEVICE))


def test_backward_of_several():
    x = torch.randn(1, 2, 4, 4, device=DEVICE, requires_grad=True)
    y, _ = F.adaptive_max_pool2d(x, 2, return_indices=True)
    y.sum().backward()


def test_crash():
    x = torch.zeros(1, 8, 8, 4, 1, 8, device=DEVICE)
    x[:, 1:-1, 0::7, 0] = torch.rand(1, 6, 2, 1, 8, device=DEVICE)
    assert x.cpu().sum() > 0


def test_other_words():
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        F.linear(torch.ones(2, 3, device=DEVICE), torch.ones(4, 2, device=DEVICE))


def test_shared_memory():
    x = torch.arange(8.0, device=DEVICE)
    with pytest.raises(RuntimeError):
        torch.exp(x[1:], out=x[:-1])


def test_no_call_raises_it():
    torch.ones(3, device=DEVICE).sum()
    if DEVICE != "cpu":
        torch.tpu.empty_cache()


def test_everything_agrees():
    x = torch.ones(3, device=DEVICE) * 2
    assert x.device.type == "cpu"
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    yield from on_both(tmp_path_factory.mktemp("suite"), SUITE)


def taken(pair, name, *, explain=True, **options):
    device, reference = pair
    test = f"test_suite.py::{name}"
    answer = next(iter(device.ask([runs.test_job(test, limit_s=60.0)])))
    failure = runs.run_of(answer, device.target).failure
    oracle = Interesting(sign(failure), device, reference, limit_s=30.0)
    road = take_op_road(Errand(test, oracle.wanted, device, reference, oracle, **options), explain=explain)
    return road, oracle.runs + road.runs


def body(road):
    return road.draft.source.partition('"tpu"\n')[2]


@pytest.mark.emulator
def test_a_layout_bug_becomes_one_statement(pair):
    road, asked = taken(pair, "test_group_norm", explain=False)
    assert body(road) == (
        "torch.nn.functional.group_norm(\n"
        "    torch.empty(4, 4, 2, 2, device=device, memory_format=torch.channels_last), 2\n"
        ")\n"
    )
    assert asked <= 25


@pytest.mark.emulator
def test_it_is_said_when_a_layout_bug_fails_and_that_the_call_is_the_cause(pair):
    draft = taken(pair, "test_group_norm")[0].draft
    assert draft.condition.startswith("fails for channels_last input, passes for contiguous, transposed")
    assert draft.cause_proven == "with only the test's call to torch.nn.functional.group_norm done on CPU, it passes"


@pytest.mark.emulator
def test_a_missing_operator_takes_few_runs(pair):
    road, asked = taken(pair, "test_median", explain=False)
    assert body(road) == "torch.median(torch.ones(2, device=device))\n"
    assert asked <= 5


@pytest.mark.emulator
def test_a_script_is_short_and_imports_only_torch(pair):
    source = taken(pair, "test_median", explain=False)[0].draft.source
    assert code_lines(source) == 4
    assert third_party_imports(source) == ("torch",)


@pytest.mark.emulator
def test_the_overload_stays_that_of_the_test(pair):
    assert body(taken(pair, "test_median_of_a_dimension", explain=False)[0]) == (
        "torch.ones(2, 2, device=device).median(dim=1)\n"
    )


@pytest.mark.emulator
def test_a_fixture_can_hold_the_failing_call(pair):
    assert body(taken(pair, "test_fixture", explain=False)[0]).endswith("torch.linalg.cross(x, y)\n")


@pytest.mark.emulator
def test_a_failure_in_backward_becomes_the_forward_call_and_backward(pair):
    last = body(taken(pair, "test_backward", explain=False)[0]).splitlines()[-1]
    assert last == "torch.nn.functional.adaptive_max_pool2d(x, 2).sum().backward()"


@pytest.mark.emulator
def test_a_late_error_is_put_where_it_is_made(pair):
    road, _ = taken(pair, "test_read_late", explain=False)
    assert "torch.nn.functional.pad(" in body(road)
    assert body(road).endswith(".cpu()\n")


@pytest.mark.emulator
def test_a_missing_exception_is_found(pair):
    road, _ = taken(pair, "test_not_raised", explain=False)
    assert "with contextlib.suppress(IndexError):" in body(road)
    assert road.draft.level is Level.OP


@pytest.mark.emulator
def test_random_numbers_are_no_bug(pair):
    road, _ = taken(pair, "test_random")
    assert road.draft is None
    assert road.reason == "torch.rand draws random numbers or hands out unwritten memory; all else agrees"


@pytest.mark.emulator
def test_where_every_call_agrees_it_is_said(pair):
    road, _ = taken(pair, "test_everything_agrees")
    assert "calls compared departs from CPU" in road.reason


@pytest.mark.emulator
def test_a_sparse_argument_is_written_down(pair):
    assert body(taken(pair, "test_sparse", explain=False)[0]) == (
        "sparse = torch.ones(2, 2).to_sparse().to(device)\n"
        "dense = torch.ones(2, 2, device=device)\n"
        "torch.sparse.mm(sparse, dense)\n"
    )


@pytest.mark.emulator
def test_of_several_results_the_one_with_a_gradient_is_taken_back(pair):
    last = body(taken(pair, "test_backward_of_several", explain=False)[0]).splitlines()[-1]
    assert last == "torch.nn.functional.adaptive_max_pool2d(x, 2).sum().backward()"


@pytest.mark.emulator
def test_a_crash_has_the_call_that_it_happened_in(pair):
    road, _ = taken(pair, "test_crash", explain=False)
    assert body(road).endswith("x[:, 1:-1, 0::7, 0] = y\n")
    assert road.draft.level is Level.OP


@pytest.mark.emulator
def test_an_error_in_other_words_than_cpus_is_found(pair):
    found = body(taken(pair, "test_other_words", explain=False)[0])
    assert found.count("torch.nn.functional.linear(x.to(device), weight.to(device))") == 1


@pytest.mark.emulator
def test_arguments_that_share_memory_share_it_in_the_script(pair):
    lines = body(taken(pair, "test_shared_memory", explain=False)[0]).splitlines()
    assert lines[1:3] == ["y = x[1:]", "z = x[:-1]"]
    assert lines[4] == "    torch.exp(y, out=z)"


@pytest.mark.emulator
def test_numbers_are_not_compared_for_an_error_that_they_cannot_lead_to(pair):
    road, asked = taken(pair, "test_no_call_raises_it")
    assert (road.draft, road.reason, asked) == (None, "no torch call of the test raised the wanted error", 1)
