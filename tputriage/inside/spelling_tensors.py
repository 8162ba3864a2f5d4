"""Tensors as expressions: by shape, type and layout, with numbers of no meaning; by their numbers where told to."""

from __future__ import annotations

import math
from typing import Any

MOST_NUMBERS = 64


def text(torch: Any, value: Any, where: str, exact: bool) -> str | None:
    """The expression; `where` is the device's, "" for the host. None for a kind of tensor that is not spelled."""
    if value.layout is not torch.strided or type(value) not in (torch.Tensor, torch.nn.Parameter):
        return None
    readable = value.numel() <= MOST_NUMBERS and (exact or not where)
    literal = readable and (exact or not value.dtype.is_floating_point)
    found = _numbers(torch, value) if literal else _shape(torch, value)
    found += f".to({where})" if where else ""
    if isinstance(value, torch.nn.Parameter):
        return f"torch.nn.Parameter({found})"
    return found + (".requires_grad_()" if value.requires_grad else "")


def _numbers(torch: Any, value: Any) -> str:
    plain = value.detach().cpu()
    usual = value.dtype in (torch.float32, torch.int64, torch.bool)
    dtype = "" if usual and value.numel() else f", dtype={value.dtype}"
    return f"torch.tensor({_nested(plain.tolist())}{dtype})"


def _shape(torch: Any, value: Any) -> str:
    dims = list(value.shape)
    channels_last = value.dim() == 4 and value.is_contiguous(memory_format=torch.channels_last)
    if value.is_contiguous() or not all(value.stride()):
        return _made(torch, value, dims)
    if channels_last:
        return f"{_made(torch, value, dims)}.to(memory_format=torch.channels_last)"
    order = sorted(range(len(dims)), key=lambda place: (-value.stride(place), place))
    if order == list(range(len(dims))):
        return _made(torch, value, dims)
    back = ", ".join(str(order.index(place)) for place in range(len(dims)))
    return f"{_made(torch, value, [dims[place] for place in order])}.permute({back})"


def _made(torch: Any, value: Any, dims: list[int]) -> str:
    sizes = ", ".join(map(str, dims)) or "()"
    dtype = "" if value.dtype is torch.float32 else f", dtype={value.dtype}"
    maker = "rand" if value.dtype.is_floating_point and value.dtype.itemsize > 1 else "zeros"
    return f"torch.{maker}({sizes}{dtype})"


def _nested(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_nested(item) for item in values)}]"
    if isinstance(values, float) and not math.isfinite(values):
        return f"float('{values}')"
    return repr(values)
