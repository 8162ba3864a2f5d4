"""A captured torch call as a value that can be made smaller: tensors by shape, layout, dtype and filling.

Strides are read once, into a `Layout` that says how such a tensor comes about (a permutation, a slice, an
expansion), so that a smaller tensor keeps what matters of them. Pure; the text is made in `writing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod
from typing import Any, TypeAlias

FLOATS = frozenset({"float32", "float64", "float16", "bfloat16"})
COMPLEX = frozenset({"complex64", "complex128", "complex32"})


class Fill(StrEnum):
    """How a tensor's values come about, the plainest first."""

    ONES = "ones"
    ZEROS = "zeros"
    RANDN = "randn"
    RAND = "rand"
    EYE = "eye"
    ARANGE = "arange"
    FULL = "full"  # one captured number
    VALUES = "values"  # the captured ones, written out


class Way(StrEnum):
    """How a layout comes about."""

    CONTIGUOUS = "contiguous"
    PERMUTED = "permuted"
    EXPANDED = "expanded"
    SLICED = "sliced"  # every `step`th of the last dimension
    CUT = "cut"  # the first part of the last dimension
    OFFSET = "offset"  # all but the first of the first dimension
    RAW = "raw"  # as_strided


@dataclass(frozen=True, slots=True)
class Layout:
    way: Way = Way.CONTIGUOUS
    order: tuple[int, ...] = ()  # PERMUTED: dimensions in the order of memory; EXPANDED: the expanded ones
    step: int = 1  # SLICED
    strides: tuple[int, ...] = ()  # RAW
    offset: int = 0  # RAW


CONTIGUOUS = Layout()


@dataclass(frozen=True, slots=True)
class Tensor:
    id: int
    dims: tuple[int, ...]
    dtype: str
    on_device: bool = True
    requires_grad: bool = False
    layout: Layout = CONTIGUOUS
    fill: Fill = Fill.ONES
    values: tuple[Any, ...] = ()  # flat, row-major; one for FULL
    storage: int = -1

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS or self.dtype in COMPLEX


@dataclass(frozen=True, slots=True)
class Name:
    """An expression that stands for itself: `torch.float32`, `...`, `float("nan")`."""

    text: str


@dataclass(frozen=True, slots=True)
class Device:
    """The device under test, or another by its type."""

    text: str


@dataclass(frozen=True, slots=True)
class Slice:
    parts: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[Value, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """What cannot be written down."""

    text: str


Value: TypeAlias = bool | int | float | str | Tensor | Name | Device | Slice | Items | Opaque | None


@dataclass(frozen=True, slots=True)
class Call:
    """One call; `then` is what is done with its result: "" | ".cpu()" | "backward"."""

    name: str
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    parameters: tuple[str, ...] = ()
    needed: int = 0  # positional arguments that a call must give
    then: str = ""
    index: int = -1  # which item of a result that is a tuple `then` is about; -1 for the result itself

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Each once, in the order of the call."""
        found = (leaf for value in (*self.args, *self.kwargs.values()) for leaf in leaves(value))
        return tuple({leaf.id: leaf for leaf in found if isinstance(leaf, Tensor)}.values())

    @property
    def changes_in_place(self) -> bool:
        method = self.name.removesuffix(".default").rpartition(".")[2]
        setter = method in ("__setitem__", "__set__") or method.startswith("__i")
        return setter or (method.endswith("_") and not method.endswith("__"))

    @property
    def is_expressible(self) -> bool:
        found = [leaf for value in (*self.args, *self.kwargs.values()) for leaf in leaves(value)]
        return bool(self.name) and not any(isinstance(leaf, Opaque) for leaf in found)


def leaves(value: Value) -> Iterator[Value]:
    if isinstance(value, Items):
        for item in value.items:
            yield from leaves(item)
    else:
        yield value


def mapped(call: Call, change: Callable[[Tensor], Value]) -> Call:
    """The call with every tensor replaced."""
    return revalued(call, lambda value: change(value) if isinstance(value, Tensor) else value)


def revalued(call: Call, change: Callable[[Value], Value]) -> Call:
    """The call with every leaf replaced."""

    def walk(value: Value) -> Value:
        if isinstance(value, Items):
            return replace(value, items=tuple(walk(item) for item in value.items))
        return change(value)

    kwargs = {key: walk(value) for key, value in call.kwargs.items()}
    return replace(call, args=tuple(walk(value) for value in call.args), kwargs=kwargs)


def read_call(record: Mapping[str, Any], device: str) -> Call:
    """A call as `inside/ops.py` describes it."""
    return Call(
        name=record["name"],
        args=tuple(read_value(item, device) for item in record["args"]),
        kwargs={key: read_value(item, device) for key, item in record["kwargs"].items()},
        parameters=tuple(record["parameters"]),
        needed=record["needed"],
    )


def read_value(item: Any, device: str) -> Value:
    if not isinstance(item, Mapping):
        assert item is None or isinstance(item, (bool, int, float, str))
        # A device is often given by its name.
        return Device(device) if isinstance(item, str) and item.split(":")[0] == device else item
    kind, text = item["is"], item.get("text", "")
    if kind == "tensor":
        return _read_tensor(item, device)
    if kind in ("list", "tuple"):
        return Items(tuple(read_value(entry, device) for entry in item["items"]), kind == "list")
    if kind == "float":
        return Name(f'float("{text}")')
    if kind == "slice":
        return Slice(tuple(item["items"]))
    if kind == "device":
        return Device(text)
    return Name(text) if kind in ("complex", "name") else Opaque(text)


def _read_tensor(item: Mapping[str, Any], device: str) -> Tensor | Opaque:
    if item["conjugated"]:
        return Opaque("a conjugated view")
    constant = "constant" in item
    values = (item["constant"],) if constant else tuple(item.get("values", ()))
    dims, strides = tuple(item["shape"]), tuple(item["strides"])
    return Tensor(
        id=item["id"],
        dims=dims,
        dtype=item["dtype"],
        on_device=item["device"] == device,
        requires_grad=item["requires_grad"],
        layout=read_layout(dims, strides, item["offset"]),
        fill=Fill.FULL if constant else Fill.VALUES if values else Fill.ONES,
        values=values,
        storage=item["storage"],
    )


def read_layout(dims: Sequence[int], strides: Sequence[int], offset: int = 0) -> Layout:
    """How a tensor of these dimensions and strides comes about."""
    real = [place for place, size in enumerate(dims) if size != 1]
    if prod(dims) == 0 or _is_dense(real, dims, strides):
        return Layout(Way.OFFSET) if offset and dims else CONTIGUOUS
    expanded = tuple(place for place in real if strides[place] == 0)
    if expanded:
        rest = [place for place in real if place not in expanded]
        return Layout(Way.EXPANDED, expanded) if _is_dense(rest, dims, strides) else _raw(strides, offset)
    order = _memory_order(dims, strides)
    if _is_dense([place for place in order if dims[place] != 1], dims, strides):
        return Layout(Way.PERMUTED, order)
    return _read_slice(dims, strides, offset)


def _read_slice(dims: Sequence[int], strides: Sequence[int], offset: int) -> Layout:
    last = len(dims) - 1
    step = strides[last]
    if step > 1 and dims[last] > 1:
        outer = [place for place in range(last) if dims[place] != 1]
        room = strides[outer[-1]] if outer else step * dims[last]
        if dims[last] * step - step < room <= dims[last] * step and _is_dense(outer, dims, strides, room):
            return Layout(Way.SLICED, step=step)
    inner = [place for place in range(last) if dims[place] != 1]
    if step == 1 and inner and _is_dense(inner, dims, strides, strides[inner[-1]]):
        return Layout(Way.CUT)
    return _raw(strides, offset)


def _raw(strides: Sequence[int], offset: int) -> Layout:
    return Layout(Way.RAW, strides=tuple(strides), offset=offset)


def _is_dense(order: Sequence[int], dims: Sequence[int], strides: Sequence[int], unit: int = 1) -> bool:
    """Whether the dimensions in `order`, outermost first, lie one in the other without gaps."""
    for place in reversed(order):
        if strides[place] != unit:
            return False
        unit *= dims[place]
    return True


def _memory_order(dims: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Dimensions from the largest stride to the smallest; channels last where that fits too."""
    rank = len(dims)
    if rank in (4, 5):
        channels_last = (0, *range(2, rank), 1)
        if _is_dense([place for place in channels_last if dims[place] != 1], dims, strides):
            return channels_last
    return tuple(sorted(range(rank), key=lambda place: (-strides[place], place)))
