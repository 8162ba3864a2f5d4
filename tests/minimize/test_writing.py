"""A captured call as the lines a person would write."""

import ast
from dataclasses import replace

import pytest

from tputriage.minimize.arguments import CONTIGUOUS, Call, Fill, Generator, Items, Layout, Pairs, Slice, Tensor, Way
from tputriage.minimize.making import made
from tputriage.minimize.reading import read_call, read_layout
from tputriage.minimize.wrapping import wrapped
from tputriage.minimize.writing import script_of

X = Tensor(1, (2, 3), "float32")
CHANNELS_LAST = Layout(Way.PERMUTED, (0, 2, 3, 1))


def body(call):
    return script_of(call, "tpu").partition('"tpu"\n')[2]


def test_a_function_is_called_on_named_inputs():
    bias = Tensor(2, (3,), "float32")
    call = Call("torch.nn.functional.layer_norm", (X, Items((3,))), {"bias": bias}, ("input", "normalized_shape"))
    assert body(call) == (
        "x = torch.ones(2, 3, device=device)\n"
        "bias = torch.ones(3, device=device)\n"
        "torch.nn.functional.layer_norm(x, (3,), bias=bias)\n"
    )


def test_a_method_is_called_on_its_tensor():
    assert body(Call("torch.Tensor.median", (X,), {"dim": 1})) == "torch.ones(2, 3, device=device).median(dim=1)\n"


def test_an_operator_is_written_as_one():
    assert body(Call("torch.Tensor.__rsub__", (X, 1.0), {})) == "1.0 - torch.ones(2, 3, device=device)\n"


def test_a_sum_whose_result_is_read_stands_in_brackets():
    assert body(Call("torch.Tensor.add", (X, 1), {}, then=".cpu()")) == "(torch.ones(2, 3, device=device) + 1).cpu()\n"


def test_a_slice_assignment_is_written_as_one():
    index = Items((Slice((None, None, None)), Slice((1, None, 2))))
    assert body(Call("torch.Tensor.__setitem__", (X, index, 0), {})).endswith("\nx[:, 1::2] = 0\n")


def test_an_attribute_is_set_as_one():
    y = Tensor(2, (2, 3), "float32", on_device=False)
    assert body(Call("torch.Tensor.data.__set__", (X, y), {})).endswith("\nx.data = y\n")


def test_the_same_tensor_is_made_once():
    assert body(Call("torch.add", (X, X), {})).count("torch.ones") == 1


def test_a_name_never_hides_a_builtin_or_the_device():
    names = ("input", "max", "device", "lambda")
    call = Call("torch.f", tuple(Tensor(n, (1,), "float32") for n in range(4)), {}, names)
    assert body(call).endswith("torch.f(x, y, z, u)\n")


def test_backward_runs_on_the_sum():
    x = Tensor(1, (2,), "float32", requires_grad=True)
    assert body(Call("torch.f", (x,), {}, then="backward")) == (
        "torch.f(torch.ones(2, device=device, requires_grad=True)).sum().backward()\n"
    )


def layout_text(dims, strides, offset=0):
    return made(Tensor(1, dims, "float32", layout=read_layout(dims, strides, offset)), on_cpu=True)


def test_channels_last_has_its_name():
    assert layout_text((4, 8, 16, 16), (2048, 1, 128, 8)) == (
        "torch.ones(4, 8, 16, 16).to(memory_format=torch.channels_last)"
    )


@pytest.mark.parametrize(("tensor", "text"), [
    (Tensor(1, (1, 2, 3, 4), "float32", layout=CHANNELS_LAST),
     "torch.empty(1, 2, 3, 4, device=device, memory_format=torch.channels_last)"),
    (Tensor(1, (1, 2, 3, 4, 5), "float16", layout=Layout(Way.PERMUTED, (0, 2, 3, 4, 1))),
     "torch.empty(1, 2, 3, 4, 5, dtype=torch.float16, device=device, memory_format=torch.channels_last_3d)"),
    (Tensor(1, (1, 2, 3, 4), "float32", layout=CHANNELS_LAST, requires_grad=True),
     "torch.empty(1, 2, 3, 4, device=device, requires_grad=True, memory_format=torch.channels_last)"),
    (Tensor(1, (2, 3), "float32", layout=Layout(Way.PERMUTED, (1, 0))), "torch.empty(3, 2, device=device).T"),
    (Tensor(1, (2, 3), "float32"), "torch.empty(2, 3, device=device)"),
])  # fmt: skip
def test_what_needs_no_values_is_made_in_its_layout(tensor, text):
    assert made(replace(tensor, fill=Fill.EMPTY)) == text


def test_a_transposed_matrix_is_written_as_one():
    assert layout_text((2, 3), (1, 2)) == "torch.ones(3, 2).T"


def test_swapped_last_dimensions_are_a_matrix_transpose():
    assert layout_text((4, 2, 3), (6, 1, 2)) == "torch.ones(4, 3, 2).mT"


def test_every_second_element_is_a_slice():
    assert layout_text((3, 4), (8, 2)) == "torch.ones(3, 8)[:, ::2]"


def test_an_expanded_dimension_is_an_expand():
    assert layout_text((3, 4), (0, 1)) == "torch.ones(1, 4).expand(3, 4)"


def test_other_strides_stay_strides():
    assert layout_text((2, 2), (7, 3)) == "torch.ones(11).as_strided((2, 2), (7, 3))"


def test_sizes_of_one_make_no_layout():
    assert read_layout((1, 1, 4), (999, 4, 1)) == CONTIGUOUS


def test_an_offset_is_a_slice():
    assert layout_text((3, 4), (4, 1), 4) == "torch.ones(4, 4)[1:]"


def test_values_are_written_out_with_their_dtype():
    ids = Tensor(1, (2, 2), "int32", fill=Fill.VALUES, values=(1, 2, 3, 4))
    assert made(ids) == "torch.tensor([[1, 2], [3, 4]], dtype=torch.int32, device=device)"


def test_nan_is_written_so_that_it_can_be_read():
    assert made(Tensor(1, (1,), "float32", fill=Fill.VALUES, values=("nan",)), on_cpu=True) == (
        'torch.tensor([float("nan")])'
    )


def test_a_gradient_on_a_view_is_asked_for_last():
    tensor = Tensor(1, (2, 3), "float32", requires_grad=True, layout=Layout(Way.PERMUTED, (1, 0)))
    assert made(tensor) == "torch.ones(3, 2, device=device).T.requires_grad_()"


def test_a_long_line_is_broken_at_its_brackets():
    line = f"actual = torch.f({', '.join(f'argument_{n}.to(device)' for n in range(6))})[1]"
    assert all(len(part) <= 88 for part in wrapped(line).splitlines())
    assert wrapped(line).splitlines()[-1] == ")[1]"


def test_a_short_line_stays_as_it_is():
    assert wrapped("torch.median(x)") == "torch.median(x)"


def test_a_sparse_tensor_is_made_on_cpu_and_moved():
    assert made(Tensor(1, (2, 2), "float32", form="{}.to_sparse_csr()")) == (
        "torch.ones(2, 2).to_sparse_csr().to(device)"
    )


def test_a_quantized_tensor_is_made_of_a_plain_one():
    form = "torch.quantize_per_tensor({}, 0.1, 0, torch.qint8)"
    assert made(Tensor(1, (2,), "float32", form=form), on_cpu=True) == (
        "torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)"
    )


def test_a_conjugated_view_is_made_on_the_device():
    assert made(Tensor(1, (2,), "complex64", form="{}.conj()")) == (
        "torch.ones(2, dtype=torch.complex64, device=device).conj()"
    )


def test_what_is_changed_in_place_though_it_has_a_history_is_cloned():
    assert made(Tensor(1, (2,), "float32", requires_grad=True, leaf=False)) == (
        "torch.ones(2, device=device, requires_grad=True).clone()"
    )


def test_dicts_and_generators_are_written_as_such():
    call = Call("torch.f", (Pairs((("bias", X), ("scale", 2))),), {"generator": Generator(on_device=True)})
    assert body(call).splitlines()[-1] == 'torch.f({"bias": bias, "scale": 2}, generator=torch.Generator(device))'


def test_a_compiled_call_is_a_function_of_its_tensors():
    y = Tensor(2, (2, 3), "float32")
    call = Call("torch.Tensor.add", (X, y), {}, compiled=True)
    assert body(call).splitlines()[-1] == "torch.compile(lambda x, y: x + y)(x, y)"


X_TOLD = {"is": "tensor", "id": 1, "shape": [4], "dtype": "float32", "device": "tpu", "requires_grad": False,
          "leaf": True, "form": "", "storage": 0, "elements": 4, "strides": [1], "offset": 0}  # fmt: skip
NOTHING = {"is": "slice", "items": [None, None, None]}
FIRST = {"is": "slice", "items": [0, 1, None]}


def told(name, *args, then="", **kwargs):
    record = {"name": name, "args": [X_TOLD, *args], "kwargs": kwargs, "parameters": [], "needed": 0}
    return replace(read_call(record, "tpu"), then=then)


def test_the_one_tensor_of_a_function_is_made_where_it_is_taken():
    x = Tensor(1, (2, 3), "float32", layout=Layout(Way.PERMUTED, (1, 0)))
    assert body(Call("torch.f", (x, 2), {})) == "torch.f(torch.ones(3, 2, device=device).T, 2)\n"


def test_a_tensor_has_a_name_where_it_is_used_twice_or_its_line_would_be_long():
    x = Tensor(1, (2,), "float32")
    assert body(Call("torch.f", (x, x), {})) == "x = torch.ones(2, device=device)\ntorch.f(x, x)\n"
    method = "f" * 60
    long = body(Call(f"torch.Tensor.{method}", (x,), {}))
    assert long == f"x = torch.ones(2, device=device)\nx.{method}()\n"
    back = body(Call(f"torch.{method}", (x,), {}, then="backward"))
    assert back == f"x = torch.ones(2, device=device)\ntorch.{method}(x).sum().backward()\n"


def test_a_function_and_its_tensor_are_one_statement_of_three_lines_at_most():
    x = Tensor(1, (2, 4, 4, 4), "float32", layout=CHANNELS_LAST, fill=Fill.EMPTY)
    assert body(Call("torch.nn.functional.group_norm", (x, 2), {})) == (
        "torch.nn.functional.group_norm(\n"
        "    torch.empty(2, 4, 4, 4, device=device, memory_format=torch.channels_last), 2\n"
        ")\n"
    )
    wide = replace(x, fill=Fill.VALUES, dims=(24,), layout=CONTIGUOUS, values=(0.5,) * 24)
    assert body(Call("torch.f", (wide,), {})).startswith("x = torch.tensor(\n")


ONES = "torch.ones(4, device=device)"
# call as it was captured, its line
ODD = [
    (told("torch.Tensor.random_", to=5, **{"from": 0}), 'x.random_(to=5, **{"from": 0})'),
    (told("torch.ops.aten.random_.from", 0, 5), f'getattr(torch.ops.aten.random_, "from")({ONES}, 0, 5)'),
    (told("torch.Tensor.__getitem__", {"is": "list", "items": [FIRST, NOTHING]}),
     f"{ONES}[[slice(0, 1, None), slice(None, None, None)]]"),
    (told("torch.Tensor.__getitem__", {"is": "tuple", "items": [{"is": "tuple", "items": [FIRST]}, FIRST]}),
     f"{ONES}[(slice(0, 1, None),), 0:1]"),
    (told("torch.Tensor.__getitem__", {"is": "tuple", "items": []}, then=".cpu()"), f"{ONES}[()].cpu()"),
    (told("torch.Tensor.__getitem__", {"is": "tuple", "items": [None, NOTHING]}, then=".cpu()"),
     f"{ONES}[None, :].cpu()"),
    (told("torch.Tensor.__rpow__", -2.0), f"(-2.0) ** {ONES}"),
    (told("torch.Tensor.__rmul__", {"is": "complex", "text": "(1+2j)"}, then=".cpu()"), f"((1+2j) * {ONES}).cpu()"),
    (told("torch.Tensor.__neg__", then=".cpu()"), f"(-{ONES}).cpu()"),
    (told("torch.f", {"is": "complex", "text": "(nan+infj)"}), f'torch.f({ONES}, complex("nan+infj"))'),
    (told("torch.f", m={"is": "dict", "items": {"is": "tensor", "id": 3}}),
     f'torch.f({ONES}, m={{"is": "tensor", "id": 3}})'),
    (told("torch.f", "it's \"q\"\n\0"), f"""torch.f({ONES}, 'it\\'s "q"\\n\\x00')"""),
]  # fmt: skip


@pytest.mark.parametrize(("call", "line"), ODD)
def test_odd_arguments_are_written_so_that_python_reads_them(call, line):
    assert body(call).splitlines()[-1] == line
    compile(script_of(call, "tpu"), "repro.py", "exec")


def test_complex_numbers_without_a_value_are_written_so_that_they_can_be_read():
    text = made(Tensor(1, (2,), "complex64", fill=Fill.VALUES, values=("(nan+1j)", "(1-2j)"), on_device=False))
    assert text == 'torch.tensor([complex("nan+1j"), (1-2j)])'


def test_any_number_of_tensors_gets_names():
    tensors = Items(tuple(Tensor(number, (1,), "float32") for number in range(1000)), is_list=True)
    compile(script_of(Call("torch.stack", (tensors,), {}), "tpu"), "repro.py", "exec")


def test_an_input_is_never_called_as_the_scripts_own_things():
    call = Call("torch.f", tuple(Tensor(n, (1,), "float32") for n in range(3)), {}, ("f", "actual", "expected"))
    assert body(call).endswith("torch.f(x, y, z)\n")


@pytest.mark.parametrize("line", [
    "f(x, 'it\\'s \"q\" " + "x, (" * 30 + "')",
    "f(x, ('" + "a" * 81 + "',))",
    "f(x, ('" + "a" * 80 + "',), 1)",
    "y = ('" + "a" * 90 + "',)",
    "y = (a" + "a" * 60 + " + b" + "b" * 60 + ").cpu()",
    "x[a" + "a" * 60 + " + b" + "b" * 60 + "]",
    "x[a" + "a" * 60 + ", b" + "b" * 60 + ",]",
    "torch.compile(lambda x, y: f(x" + ", y" * 40 + "))(x, y)",
])  # fmt: skip
def test_a_broken_line_says_the_same(line):
    assert wrapped(line) != line
    assert ast.dump(ast.parse(wrapped(line))) == ast.dump(ast.parse(line))
