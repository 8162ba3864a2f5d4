"""Copies of a call's arguments on CPU: same strides, offsets and aliasing, so that the copy behaves as the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

MOST_ELEMENTS = 1 << 22  # of all arguments together; larger calls are not compared


@dataclass
class Copies:
    """CPU copies by the original's identity; originals are kept alive so that identities stay theirs."""

    device: str
    made: dict[int, Any] = field(default_factory=dict)
    originals: list[Any] = field(default_factory=list)
    _storages: dict[int, Any] = field(default_factory=dict)

    def of(self, value: Any) -> Any:
        """`value` with every tensor replaced by its copy, and the device's name by "cpu"."""
        return mapped(value, self._leaf)

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in self.made:
                self.originals.append(value)
                self.made[id(value)] = self._copied(value)
            return self.made[id(value)]
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == self.device else value
        return "cpu" if isinstance(value, str) and value.split(":")[0] == self.device else value

    def _copied(self, tensor: Any) -> Any:
        whole = tensor.untyped_storage()
        key = whole._cdata
        if key not in self._storages or self._storages[key].dtype != tensor.dtype:
            elements = whole.nbytes() // max(1, tensor.element_size())
            flat = tensor.detach().as_strided((elements,), (1,), 0)
            self._storages[key] = flat.cpu().clone()
        shared = self._storages[key]
        return shared.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def copied(device: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Copies | None:
    """Copies of all arguments; None where there is too much of them or they cannot be copied."""
    tensors = list(tensors_in((list(args), dict(kwargs))))
    if sum(tensor.untyped_storage().nbytes() for tensor in tensors) > 8 * MOST_ELEMENTS:
        return None
    copies = Copies(device)
    try:
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            copies.of((list(args), dict(kwargs)))
    except Exception:  # a subclass, a sparse tensor, one whose making failed: not compared
        return None
    return copies


def mapped(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: mapped(item, leaf) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, leaf) for item in value))
    if isinstance(value, tuple) and hasattr(value, "n_sequence_fields"):  # what `torch.max(x, 0)` gives
        return type(value)([mapped(item, leaf) for item in value])
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple, torch.Size):
        return type(value)(mapped(item, leaf) for item in value)
    return leaf(value)


def tensors_in(value: Any) -> list[Any]:
    found: list[Any] = []
    mapped(value, lambda leaf: found.append(leaf) if isinstance(leaf, torch.Tensor) else None)
    return found
