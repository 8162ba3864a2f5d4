"""A call made smaller, asked of an oracle that is a rule on the script's text."""

import re

import pytest

from tputriage.minimize.arguments import Call, Fill, Layout, Tensor, Way
from tputriage.minimize.dimensions import resized
from tputriage.minimize.shrinking import Shrink, make_in_layout
from tputriage.minimize.writing import script_of


def shrunk(call, rule):
    """(last line of the script, how many questions it took)."""
    asked = []

    def oracle(source):
        asked.append(source)
        return rule(source)

    shrink = Shrink(lambda call: script_of(call, "tpu"), oracle)
    assert shrink.start(call)
    shrink.shrink()
    return shrink.source.partition('"tpu"\n')[2], len(asked)


MEDIAN = Call("torch.median", (Tensor(1, (4, 3, 16, 16), "float64", requires_grad=True),), {}, ("input",), 1)


def test_a_missing_operator_takes_two_questions():
    text, questions = shrunk(MEDIAN, lambda source: "median" in source)
    assert (text, questions) == ("torch.median(torch.ones(2, device=device))\n", 2)


def test_a_layout_that_decides_is_kept():
    channels_last = Layout(Way.PERMUTED, (0, 2, 3, 1))
    x = Tensor(1, (4, 8, 16, 16), "float32", layout=channels_last, fill=Fill.VALUES, values=(0.5,) * 8192)
    weight = Tensor(2, (8,), "float32")
    call = Call("torch.nn.functional.group_norm", (x, 2, weight), {"eps": 1e-5}, ("input", "num_groups", "weight"), 2)

    def rule(source):
        found = re.search(r"torch\.\w+\(\d+, (\d+), \d+, \d+, device=device\)\.to\(memory_format", source)
        return bool(found) and int(found[1]) >= 4

    text, questions = shrunk(call, rule)
    assert text == (
        "torch.nn.functional.group_norm(\n"
        "    torch.ones(4, 4, 2, 2, device=device).to(memory_format=torch.channels_last), 2\n"
        ")\n"
    )
    assert questions <= 15


# What the script must not say, how its two tensors are made then, after how many questions
@pytest.mark.parametrize(
    ("matters", "fill", "count"), [("ZZ", Fill.EMPTY, 3), ("nan", Fill.ONES, 2), ("torch.empty", Fill.ONES, 3)]
)
def test_where_no_value_matters_a_tensor_is_made_in_its_layout(matters, fill, count):
    asked = []
    shrink = Shrink(
        lambda call: script_of(call, "tpu"), lambda source: not asked.append(source) and matters not in source
    )
    x = Tensor(1, (2, 2, 2, 2), "float32", layout=Layout(Way.PERMUTED, (0, 2, 3, 1)))
    assert shrink.consider(Call("torch.f", (x, Tensor(2, (2, 2), "float32", layout=Layout(Way.PERMUTED, (1, 0)))), {}))
    make_in_layout(shrink)
    assert [tensor.fill for tensor in shrink.best.tensors] == [fill, Fill.ONES]
    assert len(asked) == count


def test_dimensions_go_as_long_as_the_order_in_memory_decides():
    channels_last = Layout(Way.PERMUTED, (0, 2, 3, 1))
    x = Tensor(1, (4, 8, 16, 16), "float32", layout=channels_last, fill=Fill.VALUES, values=(0.5,) * 8192)
    call = Call("torch.f", (x, Tensor(2, (2, 2, 2, 2), "float32")), {}, needed=2)
    text, questions = shrunk(call, lambda source: "channels_last" in source or ".mT" in source)
    assert text == "x = torch.ones(2, 2, 2, device=device).mT\ny = torch.ones(2, 2, 2, device=device)\ntorch.f(x, y)\n"
    assert questions <= 15


def test_counts_become_small_before_sizes_do():
    call = Call("torch.f", (Tensor(1, (4, 64), "float32"), 16), {}, ("input", "num_groups"), 2)

    def rule(source):
        size, groups = (int(found) for found in re.search(r"(\d+), device=device\), (\d+)\)", source).groups())
        return size > groups and size % groups == 0

    assert shrunk(call, rule)[0] == "torch.f(torch.ones(4, device=device), 2)\n"


def test_a_value_that_decides_is_kept():
    index = Tensor(2, (1,), "int64", fill=Fill.VALUES, values=(7,))
    call = Call("torch.f", (Tensor(1, (8, 4), "float32"), index), {}, ("x", "index"), 2)
    assert "torch.tensor([7], device=device)" in shrunk(call, lambda source: "[7]" in source)[0]


def test_an_argument_that_decides_is_kept():
    call = Call("torch.f", (Tensor(1, (8,), "float32"),), {"sorted": False, "dim": None}, ("input",), 1)
    text, _ = shrunk(call, lambda source: "sorted=False" in source)
    assert text == "torch.f(torch.ones(2, device=device), sorted=False)\n"


def test_equal_sizes_stay_equal():
    call = Call("torch.mm", (Tensor(1, (5, 7), "float32"), Tensor(2, (7, 5), "float32")), {})
    assert [tensor.dims for tensor in resized(call, {7: 2}).tensors] == [(5, 2), (2, 5)]


def test_what_never_fails_is_given_up_after_few_questions():
    asked = []
    shrink = Shrink(lambda call: script_of(call, "tpu"), lambda source: bool(asked.append(source)))
    assert not shrink.start(MEDIAN)
    assert len(asked) <= 6


def test_no_question_is_asked_twice():
    asked = []
    shrink = Shrink(lambda call: script_of(call, "tpu"), lambda source: asked.append(source) or True)
    shrink.start(MEDIAN)
    shrink.shrink()
    assert len(asked) == len(set(asked))
