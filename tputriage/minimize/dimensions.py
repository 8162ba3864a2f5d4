"""A captured call with other dimensions: fewer, smaller; pure, so that each is one candidate of many.

What ties tensors together stays tied: equal sizes stay equal, and the order in memory stays what it was.
"""

from __future__ import annotations

from dataclasses import replace

from tputriage.minimize.arguments import CONTIGUOUS, Call, Fill, Items, Tensor, Value, mapped

SMALL = 2  # sizes of one hide strides, and warn in statistics; two is as easy to read


def sizes(call: Call) -> list[int]:
    """The different sizes of dimensions, largest first."""
    return sorted({size for tensor in call.tensors for size in tensor.dims}, reverse=True)


def resized(call: Call, new: dict[int, int], *, tied: bool = True) -> Call:
    """Equal sizes stay equal; with `tied`, numbers in lists that are such a size (a shape argument) follow."""

    call = mapped(call, lambda tensor: cut(tensor, tuple(new.get(size, size) for size in tensor.dims)))

    def walk(value: Value, inside: bool) -> Value:
        if isinstance(value, Items):
            return replace(value, items=tuple(walk(item, True) for item in value.items))
        counts = tied and inside and type(value) is int and value > SMALL
        return new.get(value, value) if counts and isinstance(value, int) else value

    kwargs = {key: walk(value, False) for key, value in call.kwargs.items()}
    return replace(call, args=tuple(walk(value, False) for value in call.args), kwargs=kwargs)


def cut(tensor: Tensor, dims: tuple[int, ...]) -> Tensor:
    """A tensor of other dimensions, with the leading part of its values where it has them."""
    if dims == tensor.dims:
        return tensor
    layout = tensor.layout if not tensor.layout.strides else CONTIGUOUS
    if tensor.fill is not Fill.VALUES:
        return replace(tensor, dims=dims, layout=layout)
    return replace(tensor, dims=dims, layout=layout, values=_corner(tensor.values, tensor.dims, dims))


def _corner(values: tuple[object, ...], old: tuple[int, ...], new: tuple[int, ...]) -> tuple[object, ...]:
    if not old:
        return values
    row = len(values) // old[0] if old[0] else 0
    rows = [_corner(values[place * row : (place + 1) * row], old[1:], new[1:]) for place in range(min(old[0], new[0]))]
    return tuple(value for part in rows for value in part)


def of_rank(tensor: Tensor, rank: int) -> Tensor:
    """The tensor without its first dimensions."""
    part = cut(tensor, (1,) * (len(tensor.dims) - rank) + tensor.dims[-rank:])
    return replace(part, dims=part.dims[-rank:])


def without_dimension(tensor: Tensor, place: int) -> Tensor:
    """The tensor without that dimension; the others keep their order in memory."""
    part = cut(tensor, (*tensor.dims[:place], 1, *tensor.dims[place + 1 :]))
    order = tuple(one - (one > place) for one in tensor.layout.order if one != place)
    layout = CONTIGUOUS if list(order) == sorted(order) else replace(tensor.layout, order=order)
    return replace(part, dims=tensor.dims[:place] + tensor.dims[place + 1 :], layout=layout)
