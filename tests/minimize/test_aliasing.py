"""Views of one tensor, told by what makes them."""

import pytest

from tputriage.minimize.aliasing import view_text
from tputriage.minimize.arguments import Call, Tensor, View
from tputriage.minimize.dimensions import resized
from tputriage.minimize.reading import read_call
from tputriage.minimize.shrinking import openings
from tputriage.minimize.writing import script_of


@pytest.mark.parametrize(
    ("base", "view", "text"),
    [
        ((8,), ((7,), (1,), 1), "[1:]"),
        ((8,), ((7,), (1,), 0), "[:-1]"),
        ((8,), ((4,), (2,), 0), "[::2]"),
        ((8,), ((2,), (1,), 3), "[3:5]"),
        ((3, 4), ((3, 3), (4, 1), 1), "[:, 1:]"),
        ((3, 4), ((4,), (1,), 4), "[1]"),
        ((3, 4), ((3,), (4,), 2), "[:, 2]"),
        ((3, 4), ((4, 3), (1, 4), 0), ".T"),
        ((2, 3, 4), ((4, 2, 3), (1, 12, 4), 0), ".permute(2, 0, 1)"),
        ((3, 4), ((12,), (1,), 0), ".view(12)"),
        ((3, 4), ((3, 4), (4, 1), 0), ".detach()"),
        ((8,), ((3, 4), (1, 1), 0), ".as_strided((3, 4), (1, 1), 0)"),
        ((8,), ((9,), (0,), 0), ".as_strided((9,), (0,), 0)"),
    ],
)
def test_a_view_is_told_as_it_was_made(base, view, text):
    assert view_text(base, *view) == text


def described(number, shape, strides, offset, elements, storage=0):
    return {
        "is": "tensor", "id": number, "storage": storage, "elements": elements, "shape": shape, "strides": strides,
        "offset": offset, "dtype": "float32", "device": "tpu", "requires_grad": False, "leaf": True,
    }  # fmt: skip


def read(*tensors):
    return read_call({"name": "torch.f", "args": list(tensors), "kwargs": {}, "parameters": [], "needed": 2}, "tpu")


def body(call):
    return script_of(call, "tpu").partition('"tpu"\n')[2]


def test_an_argument_in_another_is_written_as_its_view():
    call = read(described(1, [8], [1], 0, 8), described(2, [7], [1], 1, 8))
    assert body(call) == "x = torch.ones(8, device=device)\ny = x[1:]\ntorch.f(x, y)\n"


def test_views_of_what_is_no_argument_share_it():
    call = read(described(1, [3, 3], [4, 1], 1, 12), described(2, [3, 3], [4, 1], 0, 12))
    assert body(call) == "x = torch.ones(3, 4, device=device)\ny = x[:, 1:]\nz = x[:, :-1]\ntorch.f(y, z)\n"


def test_tensors_of_their_own_stay_so():
    call = read(described(1, [8], [1], 0, 8), described(2, [8], [1], 0, 8, storage=1))
    assert all(tensor.view is None for tensor in call.tensors)


def test_without_views_is_tried_before_with_them():
    call = read(described(1, [8], [1], 0, 8), described(2, [7], [1], 1, 8))
    written = [body(guess) for guess in openings(call)]
    assert "x[1:]" not in written[0]
    assert any("x[1:]" in text for text in written)


def test_a_smaller_whole_has_smaller_views():
    x = Tensor(1, (8,), "float32")
    call = resized(Call("torch.f", (x, Tensor(2, (7,), "float32", view=View(x, "[1:]"))), {}), {8: 2})
    assert body(call).startswith("x = torch.ones(2, device=device)\ny = x[1:]\n")
