"""Listening to torch calls, in a real worker on CPU: no device is needed to see what was called."""

import json

import pytest

from tputriage.config import Settings
from tputriage.targets.catalogue import find_target
from tputriage.targets.seam import Job
from tputriage.targets.worker import Worker

SUITE = """
import os

import pytest
import torch


@pytest.fixture
def broken():
    torch.ones(2, 3) @ torch.ones(2, 3)


def test_setup(broken):
    pass


def test_call():
    x = torch.arange(6.0).reshape(2, 3).T
    with pytest.raises(RuntimeError):
        torch.ones(2).view(3)
    torch.nn.functional.layer_norm(x, (7,), eps=0.5)


class Halve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x / 2

    @staticmethod
    def backward(ctx, grad):
        return torch.mm(grad, grad)


def test_backward():
    x = torch.ones(2, 3, requires_grad=True)
    y = torch.nn.functional.relu(x)
    Halve.apply(y).sum().backward()


def test_module():
    torch.nn.Sequential(torch.nn.Linear(4, 2))(torch.ones(3, 5))


def test_aliases():
    x = torch.ones(4, 4)
    x[:2].view_as(x[1])


def test_many():
    x = torch.ones(2)
    for _ in range(3000):
        x = x + 1
    x.view(3)


class Marked(torch.Tensor):
    pass


def test_forms():
    odd = [
        torch.eye(2).to_sparse(),
        torch.eye(2).to_sparse_csr(),
        torch.ones(2, dtype=torch.complex64).conj(),
        torch.ones(2).as_subclass(Marked),
    ]
    with pytest.raises(RuntimeError):
        torch.cat(odd)
    torch.bernoulli(torch.full((2,), 7.0), generator=torch.Generator())


def test_vmap():
    torch.func.vmap(lambda x: x.view(3))(torch.ones(4, 2))


def test_several():
    values, _ = torch.max(torch.ones(2, 2), 1)
    values.view(3)


def test_dies():
    torch.nn.functional.relu(torch.arange(6.0))
    torch.ones(2).map_(torch.ones(2), lambda x, y: os._exit(3))


def test_fine():
    assert torch.ones(3).sum() == 3
"""


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    root = tmp_path_factory.mktemp("suite")
    (root / "test_suite.py").write_text(SUITE, "utf-8")
    options = {"slots": 1, "preload": ["import torch._dynamo"]}  # listening needs it: 2 s, once and not in each job
    with Worker(find_target("cpu", Settings()), root, [str(root / "test_suite.py")], **options) as worker:
        yield lambda test, kind="capture", **more: ask(worker, test, kind, more)


def ask(worker: Worker, test: str, kind: str, more: dict) -> dict:
    job = Job(kind, {"test_id": f"test_suite.py::{test}", **more}, 60.0)
    return dict(next(iter(worker.ask([job]))).value)


def public(raised):
    return next(call for call in raised["calls"] if call["level"] == "public")


def test_a_failing_fixture_is_listened_to(captured):
    (raised,) = captured("test_setup")["raised"]
    assert public(raised)["name"] == "torch.Tensor.matmul"


def test_the_errors_that_a_test_catches_are_remembered_too(captured):
    names = [public(raised)["name"] for raised in captured("test_call")["raised"]]
    assert names == ["torch.Tensor.view", "torch.nn.functional.layer_norm"]


def test_strides_values_and_keywords_are_recorded(captured):
    call = public(captured("test_call")["raised"][-1])
    assert call["args"][0]["strides"] == [1, 3]
    assert call["args"][0]["values"] == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    assert call["kwargs"]["eps"] == 0.5
    assert call["needed"] == 2


def test_both_levels_of_a_call_are_recorded(captured):
    levels = [call["level"] for call in captured("test_call")["raised"][-1]["calls"]]
    assert set(levels) <= {"public", "aten"}


def test_an_error_in_backward_is_recorded_with_its_operator(captured):
    raised = captured("test_backward")["raised"][0]
    assert raised["message"].startswith("mat1 and mat2 shapes cannot be multiplied")


def test_modules_are_recorded_innermost_first(captured):
    modules = captured("test_module")["raised"][0]["modules"]
    assert [module["kind"].rpartition(".")[2] for module in modules] == ["Linear", "Sequential"]
    assert modules[0]["repr"] == "Linear(in_features=4, out_features=2, bias=True)"


def test_views_of_one_tensor_share_a_storage(captured):
    first, second = public(captured("test_aliases")["raised"][0])["args"]
    assert first["storage"] == second["storage"]
    assert first["id"] != second["id"]


def test_history_is_bounded(captured):
    said = captured("test_many", history=True)
    assert said["calls"] > 3000
    assert len(said["history"]) <= 400


def test_a_test_that_passes_raised_nothing(captured):
    said = captured("test_fine")
    assert (said["outcome"], said["raised"]) == ("passed", [])


def test_nothing_departs_from_cpu_on_cpu(captured):
    assert captured("test_fine", "shadow")["departures"] == []


def test_the_counterfactual_counts_the_calls_it_moved(captured):
    said = captured("test_many", "counterfactual", name="torch.Tensor.add")
    assert said["moved"] == 3000


def test_a_name_that_is_never_called_moves_nothing(captured):
    assert captured("test_fine", "counterfactual", name="torch.median")["moved"] == 0


def test_sparse_conjugated_and_marked_tensors_are_told_by_what_makes_them(captured):
    call = captured("test_forms")["raised"][0]["calls"][-1]
    forms = [item["form"] for item in call["args"][0]["items"]]
    assert forms == ["{}.to_sparse()", "{}.to_sparse_csr()", "{}.conj()", ""]


def test_generators_are_recorded(captured):
    call = captured("test_forms")["raised"][-1]["calls"][-1]
    assert call["kwargs"]["generator"] == {"is": "generator", "text": "cpu"}


def test_listening_does_not_change_what_torch_func_raises(captured):
    assert "shape '[4, 3]' is invalid" in captured("test_vmap")["failures"][0]["message"]


def test_results_of_several_come_back_from_cpu(captured):
    said = captured("test_several", "counterfactual", name="torch.max")
    assert said["moved"] == 1
    assert "shape '[3]' is invalid" in said["failures"][0]["message"]


def test_several_calls_can_be_moved_at_once(captured):
    said = captured("test_several", "counterfactual", name="torch.Tensor.view", also=["torch.max"])
    assert said["moved"] == 1


def test_the_call_under_way_outlives_its_process(captured, tmp_path):
    captured("test_dies", journal=str(tmp_path / "call.json"))
    assert json.loads((tmp_path / "call.json").read_text())["public"]["name"] == "torch.Tensor.map_"
