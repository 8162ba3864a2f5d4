"""A call as the lines of a script that a person would write: inputs first, each with a short name, then the call.

Layouts are written as what makes them (`.T`, `[:, ::2]`, `memory_format=`), never as raw strides where they have
a name. The text is asked of the oracle as it is; `emit` gives the last one its header.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from tputriage.minimize.arguments import (
    Call,
    Device,
    Fill,
    Items,
    Name,
    Opaque,
    Slice,
    Tensor,
    Value,
    Way,
)
from tputriage.minimize.wrapping import wrapped

PREAMBLE = "import sys\n\nimport torch\n\n"
DEVICE_LINE = 'device = sys.argv[1] if len(sys.argv) > 1 else "{device}"\n'
BINARY = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%",
    "__matmul__": "@", "__pow__": "**", "__and__": "&", "__or__": "|", "__xor__": "^", "__lshift__": "<<",
    "__rshift__": ">>", "__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">",
    "__ge__": ">=", "__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/=",
}  # fmt: skip
# `x + 1` reaches a function mode as `Tensor.add`: written as it mostly was.
BINARY |= {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "eq": "==", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "add_": "+=", "sub_": "-=", "mul_": "*=", "div_": "/=",
}  # fmt: skip
REFLECTED = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rtruediv__": "/", "__rpow__": "**"}
UNARY = {"__neg__": "-", "__invert__": "~", "__abs__": "abs"}
# Parameter names that say nothing, or that would hide something of the script's own.
BLAND = frozenset({"self", "input", "tensor", "other", "x", "a", "device", "sys", "torch", "instance", "value", "out"})
LETTERS = ("x", "y", "z", "u", "v", "w")


@dataclass
class Names:
    """Variable names given so far, by the tensor's id."""

    given: dict[int, str] = field(default_factory=dict)

    def add(self, tensor: Tensor, wish: str) -> None:
        if tensor.id in self.given:
            return
        taken = set(self.given.values())
        hides = keyword.iskeyword(wish) or hasattr(builtins, wish) or wish in BLAND or wish[-1:].isdigit()
        plain = wish.isidentifier() and not hides
        wishes = ([wish] if plain else []) + list(LETTERS) + [f"x{number}" for number in range(1, 200)]
        self.given[tensor.id] = next(name for name in wishes if name not in taken)


def script_of(call: Call, device: str) -> str:
    """The whole script for a call that raises."""
    names = names_for(call)
    lines = [f"{names.given[tensor.id]} = {made(tensor)}" for tensor in call.tensors]
    return assembled([*lines, *statement(call, names, device)], device)


def assembled(lines: Iterable[str], device: str) -> str:
    return PREAMBLE + DEVICE_LINE.format(device=device) + "\n".join(wrapped(line) for line in lines) + "\n"


def names_for(call: Call) -> Names:
    names = Names()
    for place, value in enumerate(call.args):
        wish = call.parameters[place] if place < len(call.parameters) else ""
        _name_all(value, wish, names)
    for key, value in call.kwargs.items():
        _name_all(value, key, names)
    return names


def _name_all(value: Value, wish: str, names: Names) -> None:
    if isinstance(value, Tensor):
        names.add(value, wish)
    elif isinstance(value, Items):
        for item in value.items:
            _name_all(item, "", names)


def statement(call: Call, names: Names, device: str) -> list[str]:
    """The call itself, with what is done to its result."""
    text = expression(call, names, device)
    if call.name.endswith(("__set__", "__setitem__")):
        return [text]
    item = f"[{call.index}]" if call.index >= 0 else ""
    if call.then and call.name.startswith("torch.Tensor.") and " " in text.partition("(")[0]:
        text = f"({text})"
    if call.then == "backward":
        return [f"{text}{item}.sum().backward()"]
    return [f"{text}{item}{call.then}"]


def expression(call: Call, names: Names, device: str) -> str:
    args = [text_of(value, names, device) for value in call.args]
    kwargs = [f"{key}={text_of(value, names, device)}" for key, value in call.kwargs.items()]
    if not call.name.startswith("torch.Tensor."):
        return f"{call.name.removesuffix('.default')}({', '.join(args + kwargs)})"
    return _method(call.name.removeprefix("torch.Tensor."), call, args, kwargs)


def _method(method: str, call: Call, args: Sequence[str], kwargs: Sequence[str]) -> str:
    first = args[0] if args else "x"
    if method.endswith((".__get__", ".__set__")):
        field_name, _, kind = method.rpartition(".")
        return f"{first}.{field_name}" + (f" = {args[1]}" if kind == "__set__" else "")
    if method in ("__getitem__", "__setitem__"):
        index = args[1].removeprefix("(").removesuffix(")").rstrip(",") if _is_tuple(call.args[1]) else args[1]
        return f"{first}[{index or '()'}]" + (f" = {args[2]}" if method == "__setitem__" else "")
    if method in BINARY and len(args) == 2 and not kwargs:
        return f"{first} {BINARY[method]} {args[1]}"
    if method in REFLECTED and len(args) == 2:
        return f"{args[1]} {REFLECTED[method]} {first}"
    if method in UNARY:
        return f"{UNARY[method]}({first})" if method == "__abs__" else f"{UNARY[method]}{first}"
    return f"{first}.{method}({', '.join([*args[1:], *kwargs])})"


def _is_tuple(value: Value) -> bool:
    return isinstance(value, Items) and not value.is_list and bool(value.items)


def text_of(value: Value, names: Names, device: str) -> str:
    if isinstance(value, Tensor):
        return names.given[value.id]
    if isinstance(value, Items):
        inner = ", ".join(text_of(item, names, device) for item in value.items)
        if value.is_list:
            return f"[{inner}]"
        return f"({inner},)" if len(value.items) == 1 else f"({inner})"
    return _scalar(value, device)


def _scalar(value: Value, device: str) -> str:
    if isinstance(value, Device):
        return "device" if value.text.split(":")[0] == device else f'"{value.text}"'
    if isinstance(value, Slice):
        start, stop, step = ("" if part is None else str(part) for part in value.parts)
        return f"{start}:{stop}" + (f":{step}" if step else "")
    if isinstance(value, (Name, Opaque)):
        return value.text
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in plain else plain


def made(tensor: Tensor, *, on_cpu: bool = False) -> str:
    """The expression that makes the tensor; `on_cpu` leaves the device out."""
    place = ", device=device" if tensor.on_device and not on_cpu else ""
    base, after = _undo(tensor)
    leaf = tensor.requires_grad and not after
    text = _filled(tensor, base, place + (", requires_grad=True" if leaf else "")) + after
    if tensor.requires_grad and not leaf:
        text += ".requires_grad_()"
    return text


def _undo(tensor: Tensor) -> tuple[tuple[int, ...], str]:
    """(dimensions of the tensor to make first, what to do to it to get the layout)."""
    layout, dims = tensor.layout, tensor.dims
    if layout.way is Way.PERMUTED:
        return _undo_order(dims, layout.order)
    if layout.way is Way.EXPANDED:
        base = tuple(1 if place in layout.order else size for place, size in enumerate(dims))
        return base, f".expand({', '.join(map(str, dims))})"
    if layout.way is Way.SLICED:
        return (*dims[:-1], dims[-1] * layout.step), f"[{', '.join([':'] * (len(dims) - 1) + [f'::{layout.step}'])}]"
    if layout.way is Way.CUT:
        return (*dims[:-1], dims[-1] + 1), f"[{', '.join([':'] * (len(dims) - 1) + [':-1'])}]"
    if layout.way is Way.OFFSET:
        return (dims[0] + 1, *dims[1:]), "[1:]"
    if layout.way is Way.RAW:
        reach = sum((size - 1) * stride for size, stride in zip(dims, layout.strides, strict=True)) + layout.offset + 1
        offset = f", {layout.offset}" if layout.offset else ""
        return (reach,), f".as_strided({dims}, {layout.strides}{offset})"
    return dims, ""


def _undo_order(dims: tuple[int, ...], order: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    rank = len(dims)
    if order == (0, *range(2, rank), 1) and rank in (4, 5):
        return dims, f".to(memory_format=torch.channels_last{'_3d' if rank == 5 else ''})"
    base = tuple(dims[place] for place in order)
    moved = [place for place in range(rank) if order[place] != place]
    if len(moved) == 2:
        if rank == 2:
            return base, ".T"
        return base, ".mT" if moved == [rank - 2, rank - 1] else f".transpose({moved[0]}, {moved[1]})"
    return base, f".permute({', '.join(str(order.index(place)) for place in range(rank))})"


def _filled(tensor: Tensor, dims: tuple[int, ...], place: str) -> str:
    dtype = "" if tensor.dtype in _DEFAULTS.get(tensor.fill, ("float32",)) else f", dtype=torch.{tensor.dtype}"
    sizes = ", ".join(map(str, dims)) if dims else "()"
    if tensor.fill is Fill.VALUES and prod(dims) == len(tensor.values):
        return _literal(tensor, dims, place)
    if tensor.fill is Fill.FULL:
        shown = f"({sizes},)" if len(dims) == 1 else f"({sizes})" if dims else "()"
        inferred = tensor.dtype in ("float32", "int64", "bool")
        return f"torch.full({shown}, {_element(tensor.values[0])}{'' if inferred else dtype}{place})"
    if tensor.fill is Fill.EYE and len(dims) >= 2:
        batch = f".expand({sizes})" if len(dims) > 2 else ""
        return f"torch.eye({', '.join(map(str, dict.fromkeys(dims[-2:])))}{dtype}{place}){batch}"
    if tensor.fill is Fill.ARANGE:
        shape = f".reshape({sizes})" if len(dims) != 1 else ""
        end = f"{prod(dims)}.0" if tensor.dtype == "float32" else str(prod(dims))
        return f"torch.arange({end}{dtype}{place}){shape}"
    maker = tensor.fill.value if tensor.fill in _MAKERS else "ones"
    if not dims and maker in _SCALARS and tensor.dtype in _SCALARS[maker]:
        return f"torch.tensor({_SCALARS[maker][tensor.dtype]}{place})"
    return f"torch.{maker}({sizes}{dtype}{place})"


_MAKERS = (Fill.ONES, Fill.ZEROS, Fill.RANDN, Fill.RAND)
_DEFAULTS = {Fill.ARANGE: ("float32", "int64"), Fill.VALUES: ("float32", "int64", "bool", "complex64")}
_SCALARS: Mapping[str, Mapping[str, str]] = {
    "ones": {"float32": "1.0", "int64": "1", "bool": "True"},
    "zeros": {"float32": "0.0", "int64": "0", "bool": "False"},
}


def _literal(tensor: Tensor, dims: tuple[int, ...], place: str) -> str:
    dtype = "" if tensor.dtype in _DEFAULTS[Fill.VALUES] and tensor.values else f", dtype=torch.{tensor.dtype}"
    if not tensor.values:
        return f"torch.empty({', '.join(map(str, dims)) or '()'}{dtype}{place})"
    return f"torch.tensor({_nested([_element(value) for value in tensor.values], dims)}{dtype}{place})"


def _nested(elements: Sequence[str], dims: Sequence[int]) -> str:
    if not dims:
        return elements[0]
    size = len(elements) // dims[0]
    rows = [_nested(elements[start : start + size], dims[1:]) for start in range(0, len(elements), size)]
    return f"[{', '.join(rows)}]"


def _element(value: object) -> str:
    if isinstance(value, str):  # nan, inf and complex numbers come as text
        return value if value.startswith("(") or value.endswith("j") else f'float("{value}")'
    return repr(value)
