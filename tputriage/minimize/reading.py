"""What the worker captured of a call, as the value that is shrunk and written.

Strides are read once, into the `Layout` that such a tensor comes about by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from tputriage.minimize.aliasing import tied
from tputriage.minimize.arguments import (
    CONTIGUOUS,
    Call,
    Device,
    Fill,
    Generator,
    Items,
    Layout,
    Name,
    Opaque,
    Pairs,
    Slice,
    Tensor,
    Value,
    Way,
    complex_text,
)


def read_call(record: Mapping[str, Any], device: str) -> Call:
    """A call as `inside/ops.py` describes it; tensors that share memory are tied to each other."""
    call = Call(
        name=record["name"],
        args=tuple(read_value(item, device) for item in record["args"]),
        kwargs={key: read_value(item, device) for key, item in record["kwargs"].items()},
        parameters=tuple(record["parameters"]),
        needed=record["needed"],
    )
    return tied(call, list(_tensors((*record["args"], *record["kwargs"].values()))))


def _tensors(item: Any) -> Iterator[Mapping[str, Any]]:
    """Every tensor described in it."""
    if isinstance(item, Mapping):
        if item["is"] == "tensor":
            yield item
        elif item["is"] == "dict":  # whose own keys may be anything
            yield from _tensors(list(item["items"].values()))
        else:
            yield from _tensors(item.get("items"))
    elif isinstance(item, (list, tuple)):
        for part in item:
            yield from _tensors(part)


def read_value(item: Any, device: str) -> Value:
    if not isinstance(item, Mapping):
        assert item is None or isinstance(item, (bool, int, float, str))
        # A device is often given by its name.
        return Device(device) if isinstance(item, str) and item.split(":")[0] == device else item
    kind = item["is"]
    if kind == "tensor":
        return _read_tensor(item, device)
    if kind in ("list", "tuple"):
        return Items(tuple(read_value(entry, device) for entry in item["items"]), kind == "list")
    if kind == "dict":
        return Pairs(tuple((key, read_value(entry, device)) for key, entry in item["items"].items()))
    return _read_scalar(kind, item, device)


def _read_scalar(kind: str, item: Mapping[str, Any], device: str) -> Value:
    text = item.get("text", "")
    if kind == "float":
        return Name(f'float("{text}")')
    if kind == "slice":
        return Slice(tuple(item["items"]))
    if kind == "device":
        return Device(text)
    if kind == "generator":
        return Generator(text == device)
    if kind == "complex":
        return Name(complex_text(text))
    return Name(text) if kind == "name" else Opaque(text)


def _read_tensor(item: Mapping[str, Any], device: str) -> Tensor:
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
        form=item.get("form", ""),
        leaf=item["leaf"],
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
