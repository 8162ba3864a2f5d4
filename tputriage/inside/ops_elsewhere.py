"""One named call of a test done on CPU, everything else where it was: the counterfactual that proves a cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from . import ops
from .ops_copies import copied, mapped, tensors_in
from .ops_modes import FunctionMode, OperatorMode


@contextmanager
def all_elsewhere(names: Sequence[str], device: str) -> Iterator[list[Elsewhere]]:
    """Several calls at once, each counted by itself."""
    moved = [Elsewhere(name, device) for name in names]
    with ExitStack() as stack:
        for one in moved:
            stack.enter_context(one.mode())
        yield moved


class Elsewhere:
    """Counts the calls that were done on CPU."""

    def __init__(self, name: str, device: str) -> None:
        self.name = name
        self.device = device
        self.count = 0
        self._generators: dict[int, torch.Generator] = {}  # CPU's own by the identity of the device's

    def mode(self) -> Any:
        return OperatorMode(self.operator) if self.name.startswith("torch.ops.") else FunctionMode(self.public_call)

    def public_call(self, func: Any, args: Any, kwargs: Any) -> Any:
        return self.call(func, args, kwargs) if ops.public_name(func) == self.name else func(*args, **kwargs)

    def operator(self, func: Any, args: Any, kwargs: Any) -> Any:
        return self.call(func, args, kwargs) if f"torch.ops.{func}" == self.name else func(*args, **kwargs)

    def call(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Differentiable: both moves are. What the call changes in place is written back."""
        self.count += 1
        originals = tensors_in((list(args), dict(kwargs)))
        copies = self._copies(originals)
        before = {key: _version(copy) for key, copy in copies.items()}
        moved, named = mapped((list(args), dict(kwargs)), lambda leaf: self._there(leaf, copies))
        result = func(*moved, **named)
        back = {id(copies[id(tensor)]): tensor for tensor in originals}
        for tensor in originals:
            copy = copies[id(tensor)]
            if copy is not tensor and (_version(copy) != before[id(tensor)] or _version(copy) < 0):
                with torch.no_grad():
                    tensor.copy_(copy)
        return mapped(result, lambda leaf: self._home(leaf, back))

    def _copies(self, originals: Sequence[Any]) -> dict[int, Any]:
        """CPU's own by the original's identity; what lies in the same memory does so there too."""
        own = {id(tensor): tensor for tensor in originals}
        tied = len({ops.storage_key(tensor) for tensor in own.values()} - {0}) < len(own)
        shared = (
            copied(self.device, list(originals), {}) if tied and not any(t.requires_grad for t in originals) else None
        )
        return shared.made if shared else {number: tensor.cpu() for number, tensor in own.items()}

    def _there(self, leaf: Any, copies: Mapping[int, Any]) -> Any:
        if isinstance(leaf, torch.Tensor):
            return copies[id(leaf)]
        if isinstance(leaf, torch.device):
            return torch.device("cpu")
        if isinstance(leaf, torch.Generator) and leaf.device.type == self.device:
            return self._generators.setdefault(id(leaf), torch.Generator().manual_seed(leaf.initial_seed()))
        return "cpu" if isinstance(leaf, str) and leaf.split(":")[0] == self.device else leaf

    def _home(self, leaf: Any, back: Mapping[int, Any]) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return back[id(leaf)] if id(leaf) in back else leaf.to(self.device)


def _version(tensor: Any) -> int:
    """How often it was changed in place; -1 where nobody counts: then it is always taken for changed."""
    return -1 if tensor.is_inference() else int(tensor._version)
