"""A tensor as the expression that makes it: values first, then what gives it its layout, then where it lies.

Layouts are written as what makes them (`.T`, `[:, ::2]`, `memory_format=`), never as raw strides where they have
a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from tputriage.minimize.arguments import Fill, Layout, Tensor, Way, complex_text

CONJUGATE = "{}.conj()"


def made(tensor: Tensor, *, on_cpu: bool = False) -> str:
    """The expression that makes the tensor; `on_cpu` leaves the device out."""
    moves = tensor.on_device and not on_cpu
    # Sparse and quantized tensors are made on CPU and moved: few devices can make one.
    formed_there = not tensor.form or tensor.form == CONJUGATE
    place = ", device=device" if moves and formed_there else ""
    base, after = _undo(tensor)
    after = (tensor.form or "{}").format("{}" + after)
    after += ".to(device)" if moves and not formed_there else ""
    direct = tensor.requires_grad and after == "{}"
    text = after.format(_filled(tensor, base, place + (", requires_grad=True" if direct else "")))
    if tensor.requires_grad and not direct:
        text += ".requires_grad_()"
    return text if tensor.leaf or not tensor.requires_grad else f"{text}.clone()"


def _undo(tensor: Tensor) -> tuple[tuple[int, ...], str]:
    """(dimensions of the tensor to make first, what to do to it to get the layout)."""
    layout, dims = tensor.layout, tensor.dims
    if layout.way is Way.PERMUTED:
        return (dims, "") if _born(tensor) else _undo_order(dims, layout.order)
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


def memory_format(layout: Layout) -> str:
    """The name that torch has for it; "" for none."""
    rank = len(layout.order)
    named = rank in (4, 5) and layout.order == (0, *range(2, rank), 1)
    return f"torch.channels_last{'_3d' * (rank == 5)}" if named else ""


def _born(tensor: Tensor) -> str:
    """The layout that it is made in, by the one maker that takes a memory format."""
    return memory_format(tensor.layout) if tensor.fill is Fill.EMPTY else ""


def _undo_order(dims: tuple[int, ...], order: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    rank = len(dims)
    if name := memory_format(Layout(Way.PERMUTED, order)):
        return dims, f".to(memory_format={name})"
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
    if born := _born(tensor):
        return f"torch.empty({sizes}{dtype}{place}, memory_format={born})"
    maker = tensor.fill.value if tensor.fill in _MAKERS else "ones"
    if not dims and maker in _SCALARS and tensor.dtype in _SCALARS[maker]:
        return f"torch.tensor({_SCALARS[maker][tensor.dtype]}{place})"
    return f"torch.{maker}({sizes}{dtype}{place})"


_MAKERS = (Fill.ONES, Fill.ZEROS, Fill.RANDN, Fill.RAND, Fill.EMPTY)
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
        is_complex = value.startswith("(") or value.endswith("j")
        return complex_text(value) if is_complex else f'float("{value}")'
    return repr(value)
