"""Random numbers drawn on CPU, from its stream, and moved to the device.

A counterfactual: what then no longer fails differs by its random stream alone. It sees what is drawn op by op;
a compiled graph draws for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map


class CpuRandom(TorchDispatchMode):
    """While it is entered, every op that draws random numbers for another device runs on CPU."""

    def __init__(self) -> None:
        super().__init__()
        self._generators: dict[int, tuple[Any, torch.Generator]] = {}  # the first keeps the id from being reused

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        device = _device_of(args, kwargs)
        if device is None or torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **kwargs)
        drawn = func(*tree_map(self._to_cpu, args), **tree_map(self._to_cpu, kwargs))
        if func._schema.is_mutable:
            return args[0].copy_(drawn)
        return tree_map(_mover(device), drawn)

    def _to_cpu(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach().cpu()
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if isinstance(value, torch.Generator) and value.device.type != "cpu":
            fresh = torch.Generator().manual_seed(value.initial_seed())
            return self._generators.setdefault(id(value), (value, fresh))[1]
        return value


def _device_of(args: Any, kwargs: Mapping[str, Any]) -> torch.device | None:
    """The device other than CPU that a call works on; None where there is none."""
    named = kwargs.get("device")
    places = [value.device for value in args if isinstance(value, torch.Tensor)]
    if named is not None:
        places.append(torch.device(named))
    return next((place for place in places if place.type not in ("cpu", "meta")), None)


def _mover(device: torch.device) -> Callable[[Any], Any]:
    return lambda value: value.to(device) if isinstance(value, torch.Tensor) else value
