"""Source text that makes a value again: scalars, containers, tensors by shape and layout, names that are at hand.

A tensor of floats is told by its shape, type and layout, not by its numbers; whether that is enough is for the
oracle to say. None where there is no short text.
"""

from __future__ import annotations

import builtins
import inspect
import math
import types
from collections.abc import Mapping
from typing import Any

import torch

LONGEST = 400  # characters
MOST_ITEMS = 40
DEEPEST = 5
MOST_NUMBERS = 16  # of a tensor of integers that is told by its numbers
PLAIN = (bool, int, str, bytes, complex, type(None), type(...))


class Namer:
    """Tells values by the globals of one script."""

    def __init__(self, names: Mapping[str, Any], device: str) -> None:
        self._device = device
        self._names = names

    def text(self, value: Any, *, build: bool = False) -> str | None:
        """With `build`, an object of the script's own classes may be told by calling its class."""
        try:
            found = self._text(value, DEEPEST, build)
        except Exception:  # a hostile __eq__, __len__ or property
            return None
        return found if found is not None and len(found) <= LONGEST else None

    def _text(self, value: Any, depth: int, build: bool) -> str | None:
        if isinstance(value, str) and value.partition(":")[0] == self._device:
            return self._device_name()
        if type(value) in PLAIN:
            return "..." if value is ... else repr(value)
        if type(value) is float:
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if depth and isinstance(value, (tuple, list, dict, set)):
            return self._container(value, depth - 1, build)
        return self._torch_value(value) or self._named(value) or self._method(value, build) or self._built(value, build)

    def _container(self, value: Any, depth: int, build: bool) -> str | None:
        if len(value) > MOST_ITEMS or type(value) not in (tuple, list, dict, set, torch.Size):
            return None
        if isinstance(value, dict):
            pairs = [(self._text(key, depth, build), self._text(item, depth, build)) for key, item in value.items()]
            if any(None in pair for pair in pairs):
                return None
            return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        texts = [self._text(item, depth, build) for item in value]
        if None in texts or (isinstance(value, set) and not texts):
            return None
        inner = ", ".join(text for text in texts if text)
        if isinstance(value, tuple):
            return f"({inner},)" if len(texts) == 1 else f"({inner})"
        return f"[{inner}]" if isinstance(value, list) else f"{{{inner}}}"

    def _device_name(self) -> str | None:
        for name, value in self._names.items():
            if isinstance(value, str) and value == self._device and name.isidentifier() and not name.startswith("__"):
                return name
        return None

    def _torch_value(self, value: Any) -> str | None:
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return str(value)
        if isinstance(value, torch.device):
            named = self._named(value) or next(
                (n for n, v in self._names.items() if type(v) is torch.device and v == value), None
            )
            if named or value.type == "cpu":
                return named or 'torch.device("cpu")'
            name = self._device_name()
            return f"torch.device({name})" if name and value.type == self._device else None
        return None

    def _named(self, value: Any) -> str | None:
        for name, known in self._names.items():
            if known is value and name.isidentifier() and not name.startswith("__"):
                return name
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            return self._by_path(value)
        return None

    def _by_path(self, value: Any) -> str | None:
        """`torch.nn.functional.silu`, where the module's first part is a global; `len`, `int`."""
        name = str(getattr(value, "__name__", ""))
        if getattr(builtins, name, None) is value:
            return name
        path = f"{value.__module__}.{value.__qualname__}".split(".")
        found = self._names.get(path[0])
        for part in path[1:]:
            found = getattr(found, part, None)
        return ".".join(path) if found is value else None

    def _method(self, value: Any, build: bool) -> str | None:
        if not isinstance(value, types.MethodType):
            return None
        owner = self._named(value.__self__) or self._built(value.__self__, build)
        return f"{owner}.{value.__name__}" if owner else None

    def _built(self, value: Any, build: bool) -> str | None:
        kind = type(value)
        if not build or kind.__module__ != "__main__" or self._named(kind) is None or isinstance(value, type):
            return None
        needed = [
            name
            for name, one in inspect.signature(kind).parameters.items()
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        texts = [self._text(getattr(value, name, value), 2, False) for name in needed]
        given = ", ".join(f"{name}={text}" for name, text in zip(needed, texts, strict=True))
        return None if None in texts else f"{kind.__name__}({given})"

    def _tensor(self, value: torch.Tensor) -> str | None:
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout is not torch.strided:
            return None
        text = _numbers(value)
        layout = _layout(value)
        if text is None or layout is None:
            return None
        text += layout
        if value.device.type == self._device != "cpu":
            name = self._device_name()
            if name is None:
                return None
            text += f".to({name})"
        return text + (".requires_grad_()" if value.requires_grad else "")


def _numbers(value: torch.Tensor) -> str | None:
    shape = ", ".join(map(str, value.shape)) or "()"
    kind = "" if value.dtype is torch.float32 else f", dtype={value.dtype}"
    if value.is_floating_point() or value.is_complex():
        return f"torch.randn({shape}{kind})"
    if value.numel() <= MOST_NUMBERS:
        return f"torch.tensor({value.tolist()}{kind if value.dtype not in (torch.int64, torch.bool) else ''})"
    return f"torch.ones({shape}{kind})"


def _layout(value: torch.Tensor) -> str | None:
    if value.is_contiguous():
        return ""
    if value.dim() == 4 and value.is_contiguous(memory_format=torch.channels_last):
        return ".to(memory_format=torch.channels_last)"
    if value.dim() == 2 and value.t().is_contiguous():
        return ".t().contiguous().t()"
    return None
