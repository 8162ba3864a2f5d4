"""Tensors of one call that lie in the same memory: written as views of one another, as they were made.

`x[1:].copy_(x[:-1])` is another call than one on two tensors of their own. What is written of a view does not
say sizes where it can say `[1:]`, so that it fits a smaller tensor too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import prod
from typing import Any

from tputriage.minimize.arguments import Call, Tensor, View, mapped

MOST_DIMENSIONS = 6
NEAR_END = 2  # elements from the end that a slice counts from there
Record = Mapping[str, Any]


def tied(call: Call, records: Sequence[Record]) -> Call:
    """The call with its views named as such."""
    by_storage: dict[int, dict[int, Record]] = {}
    for record in records:
        if record["storage"] >= 0:
            by_storage.setdefault(record["storage"], {})[record["id"]] = record
    tensors = {tensor.id: tensor for tensor in call.tensors}
    groups = (list(group.values()) for group in by_storage.values() if len(group) > 1)
    views = dict(pair for group in groups for pair in _views(group, tensors))
    return mapped(call, lambda tensor: replace(tensor, view=views.get(tensor.id)))


def _views(group: Sequence[Record], tensors: Mapping[int, Tensor]) -> Iterator[tuple[int, View]]:
    """(number of a tensor, what it is a view of)."""
    if len({record["dtype"] for record in group}) > 1:
        return
    whole = next((record for record in group if _is_whole(record)), None)
    base = tensors[whole["id"]] if whole else _unseen(group)
    for record in group:
        if record is not whole:
            yield record["id"], View(base, view_text(base.dims, record["shape"], record["strides"], record["offset"]))


def _is_whole(record: Record) -> bool:
    return prod(record["shape"]) == record["elements"] and tuple(record["strides"]) == strides_of(record["shape"])


def _unseen(group: Sequence[Record]) -> Tensor:
    """The tensor that all of them are views of, which is no argument itself."""
    first = max(group, key=lambda record: prod(record["shape"]))
    dims, left = [], first["elements"]
    for stride in first["strides"]:
        if not stride or left % stride:
            break
        dims.append(left // stride)
        left = stride
    known = left == 1 and bool(dims)
    return Tensor(
        id=-first["id"],
        dims=tuple(dims) if known else (first["elements"],),
        dtype=first["dtype"],
        on_device=True,
        requires_grad=first["requires_grad"],
    )


def strides_of(dims: Sequence[int]) -> tuple[int, ...]:
    """Those of a contiguous tensor."""
    return tuple(prod(max(1, size) for size in dims[place + 1 :]) for place in range(len(dims)))


def view_text(base: Sequence[int], dims: Sequence[int], strides: Sequence[int], offset: int) -> str:
    """What is done to a contiguous tensor of sizes `base` to get the view."""
    if tuple(dims) == tuple(base) and tuple(strides) == strides_of(base):
        return ".detach()"
    if not offset and prod(dims) == prod(base) and tuple(strides) == strides_of(dims):
        return f".view({', '.join(map(str, dims))})"
    text = _moved(base, dims, strides) if not offset else ""
    return text or _cut_out(base, dims, strides, offset) or f".as_strided({tuple(dims)}, {tuple(strides)}, {offset})"


def _moved(base: Sequence[int], dims: Sequence[int], strides: Sequence[int]) -> str:
    """Dimensions in another order; "" where that is not it."""
    whole = strides_of(base)
    if len(dims) != len(base) or len(base) > MOST_DIMENSIONS:
        return ""
    for order in permutations(range(len(base))):
        if all(dims[to] == base[at] and strides[to] == whole[at] for to, at in enumerate(order)):
            return ".T" if len(order) == 2 else f".permute({', '.join(map(str, order))})"
    return ""


def _cut_out(base: Sequence[int], dims: Sequence[int], strides: Sequence[int], offset: int) -> str:
    """A slice in each dimension, or a number in one of them; "" where that is not it."""
    for dropped in [None, *range(len(base))]:
        if len(dims) != len(base) - (dropped is not None):
            continue
        kept = [place for place in range(len(base)) if place != dropped]
        sizes, steps = list(base), [1] * len(base)
        for place, size, stride in zip(kept, dims, strides, strict=True):
            whole = strides_of(base)[place]
            sizes[place], steps[place] = size, stride // whole if size > 1 and stride % whole == 0 else 1
            if size > 1 and (stride % whole or not stride):
                break
        else:
            text = _slices(base, sizes, steps, offset, dropped)
            if text:
                return text
    return ""


def _slices(base: Sequence[int], sizes: Sequence[int], steps: Sequence[int], offset: int, dropped: int | None) -> str:
    parts = []
    for place, whole in enumerate(strides_of(base)):
        start, offset = divmod(offset, whole)
        end = start + 1 if place == dropped else start + (sizes[place] - 1) * steps[place] + 1
        if end > base[place]:
            return ""
        parts.append(str(start) if place == dropped else _slice(start, end, steps[place], base[place]))
    while parts and parts[-1] == ":":
        parts.pop()
    return f"[{', '.join(parts)}]" if parts and not offset else ""


def _slice(start: int, end: int, step: int, size: int) -> str:
    left = size - end
    stop = "" if left < step else str(-left) if left <= NEAR_END else str(end)
    return f"{start or ''}:{stop}" + (f":{step}" if step > 1 else "")
