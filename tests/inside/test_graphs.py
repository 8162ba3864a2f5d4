"""Graphs that dynamo hands over, kept and shrunk, in a real worker on CPU; wrong backends stand in for a device."""

import pytest

from tputriage.config import Settings
from tputriage.targets.catalogue import find_target
from tputriage.targets.seam import Job
from tputriage.targets.worker import Worker

SUITE = """
import torch
from torch._dynamo import register_backend


@register_backend
def no_sigmoid(module, inputs):
    if "sigmoid" in module.code:
        raise RuntimeError("no lowering for sigmoid of 12 elements")
    return module.forward


@register_backend
def wrong_tanh(module, inputs):
    return lambda *given: tuple(out + ("tanh" in module.code) for out in module(*given))


@register_backend
def forgets_changes(module, inputs):
    return lambda *given: module(*(tensor.clone() for tensor in given))


def model(x):
    y = torch.nn.functional.relu(x * 2) + 1
    y = torch.sigmoid(y.view(3, 4)).exp()
    return y.cos().sum()


def test_fine():
    torch.compile(model, backend="eager")(torch.ones(12))


def test_raises():
    torch.compile(model, backend="no_sigmoid")(torch.ones(12))


def test_values():
    f = lambda x: ((x + 1).tanh() * 3).exp()
    x = torch.arange(6.0)
    torch.testing.assert_close(torch.compile(f, backend="wrong_tanh")(x), f(x))


def test_state():
    x = torch.ones(3)
    torch.compile(lambda x: x.add_(1), backend="forgets_changes")(x)
    assert x[0] == 2


def test_random():
    f = lambda x: torch.rand(3) + x
    assert (torch.compile(f, backend="eager")(torch.ones(3)) == 0).all()


def test_inference():
    layer = torch.nn.Linear(3, 3)
    with torch.no_grad():
        torch.compile(lambda x: torch.sigmoid(layer(x)), backend="no_sigmoid")(torch.ones(2, 3))


def test_no_graph():
    @torch.compile(backend="eager", fullgraph=True)
    def f(x):
        torch._dynamo.graph_break()
        return x

    f(torch.ones(2))


def test_not_compiled():
    torch.ones(2).sigmoid()
"""


@pytest.fixture(scope="module")
def graph_of(tmp_path_factory):
    root = tmp_path_factory.mktemp("suite")
    (root / "test_suite.py").write_text(SUITE, "utf-8")
    options = {"slots": 1, "preload": ["import torch._dynamo"]}  # seconds: once, and not in each job
    with Worker(find_target("cpu", Settings()), root, [str(root / "test_suite.py")], **options) as worker:
        yield lambda test: ask(worker, test)


def ask(worker: Worker, test: str) -> dict:
    job = Job("graph", {"test_id": f"test_suite.py::{test}", "seconds": 20.0}, 60.0)
    return dict(next(iter(worker.ask([job]))).value)


def names(said):
    return [call["name"] for call in said["trouble"]["calls"] if call["name"]]


def test_a_graph_that_does_not_compile_is_shrunk_to_the_call_that_the_compiler_refuses(graph_of):
    said = graph_of("test_raises")
    assert names(said) == ["torch.sigmoid"]
    assert said["trouble"]["nodes"] == [8, 1]


def test_the_call_is_told_with_its_arguments_and_what_it_made(graph_of):
    (call,) = [call for call in graph_of("test_raises")["trouble"]["calls"] if call["name"]]
    assert call["args"][0]["shape"] == call["made"]["shape"] == [3, 4]


def test_the_error_and_the_backend_are_told(graph_of):
    trouble = graph_of("test_raises")["trouble"]
    assert (trouble["kind"], trouble["stage"]) == ("raised", "call")
    assert "no lowering for sigmoid" in trouble["message"]
    assert trouble["options"] == {"backend": "no_sigmoid"}


def test_a_graph_compiled_for_inference_stays_without_gradients(graph_of):
    (call,) = [call for call in graph_of("test_inference")["trouble"]["calls"] if call["name"]]
    assert not call["args"][0]["requires_grad"]


def test_wrong_numbers_are_found_beside_the_eager_graph(graph_of):
    said = graph_of("test_values")
    assert (said["trouble"]["kind"], names(said)) == ("values", ["torch.Tensor.tanh"])
    assert said["trouble"]["said"] == "largest difference 1"


def test_a_change_of_an_input_that_is_lost_is_found(graph_of):
    assert graph_of("test_state")["trouble"]["kind"] == "state"


@pytest.mark.parametrize("test", ["test_fine", "test_random"])
def test_a_graph_that_agrees_or_draws_random_numbers_is_no_trouble(graph_of, test):
    said = graph_of(test)
    assert (said["compiled"], said["trouble"]) == (1, None)


@pytest.mark.parametrize("test", ["test_no_graph", "test_not_compiled"])
def test_where_no_graph_was_handed_over_it_is_said(graph_of, test):
    assert graph_of(test)["compiled"] == 0
