"""Values as expressions of the script that holds them: literals, containers, tensors by shape, objects by their making.

Reads attributes without running properties, and a device tensor's numbers only where told to (`exact`), so that
looking changes nothing. What cannot be written down is None.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

MOST_ITEMS = 64
LONGEST = 2000
DEEPEST = 6
PLAIN = (bool, int, float, str, bytes, type(None))


class Speller:
    """Spells values with the names that a script's globals give."""

    def __init__(self, names: Mapping[str, Any], device: str, made: Mapping[int, tuple[Any, dict[str, Any]]]) -> None:
        self._device = device
        self._made = made  # id of an object -> (the object, its constructor's arguments)
        self._named = {
            id(value): name
            for name, value in reversed(list(names.items()))
            if not name.startswith("__") and (isinstance(value, type) or callable(value))
        }
        spelled = [name for name, value in names.items() if not name.startswith("__") and self._is_device(value)]
        self._device_text = "device" if "device" in spelled else spelled[-1] if spelled else repr(device)
        self._torch: Any = sys.modules.get("torch")

    def spell(self, value: Any, *, exact: bool = False) -> str | None:
        """The expression, or None."""
        try:
            text = self._spell(value, DEEPEST, exact)
        except Exception:  # a value that cannot even be looked at cannot be written down
            return None
        return text if text is not None and len(text) <= LONGEST else None

    def _spell(self, value: Any, depth: int, exact: bool) -> str | None:
        if self._is_device(value):
            return self._device_text
        if type(value) in PLAIN:
            return _number(value) if isinstance(value, float) else repr(value)
        name = self._named.get(id(value)) or public_name(value)
        if name:
            return name
        if depth == 0:
            return None
        for spells in (self._container, self._torch_value, self._object):
            text = spells(value, depth - 1, exact)
            if text is not None:
                return text
        return None

    def _is_device(self, value: Any) -> bool:
        if type(value) is str:
            return value == self._device
        torch: Any = sys.modules.get("torch")
        return torch is not None and isinstance(value, torch.device) and value.type == self._device

    def _container(self, value: Any, depth: int, exact: bool) -> str | None:
        kind = type(value)
        if kind is dict:
            pairs = [(self._spell(k, depth, exact), self._spell(v, depth, exact)) for k, v in value.items()]
            if any(k is None or v is None for k, v in pairs):
                return None
            return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
        if kind not in (list, tuple, set, frozenset) or len(value) > 4 * MOST_ITEMS:
            return None
        parts = [self._spell(item, depth, exact) for item in value]
        if any(part is None for part in parts):
            return None
        inside = ", ".join(part for part in parts if part is not None)
        if kind is list:
            return f"[{inside}]"
        if kind is tuple:
            return f"({inside}{',' if len(parts) == 1 else ''})"
        return f"{kind.__name__}([{inside}])"

    def _torch_value(self, value: Any, depth: int, exact: bool) -> str | None:
        torch = self._torch
        if torch is None:
            return None
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return str(value)
        if isinstance(value, torch.device):
            return repr(str(value))
        if isinstance(value, torch.Size):
            return repr(tuple(value))
        if isinstance(value, torch.Tensor):
            return self._tensor(value, exact)
        return None

    def _tensor(self, value: Any, exact: bool) -> str | None:
        if value.layout is not self._torch.strided or type(value) not in (self._torch.Tensor, self._torch.nn.Parameter):
            return None
        on_device = value.device.type == self._device
        readable = value.numel() <= MOST_ITEMS and (exact or not on_device)
        literal = readable and (exact or not value.dtype.is_floating_point)
        text = self._numbers(value) if literal else self._shape(value)
        if on_device:
            text += f".to({self._device_text})"
        return text + (".requires_grad_()" if value.requires_grad else "")

    def _numbers(self, value: Any) -> str:
        plain = value.detach().cpu()
        usual = value.dtype in (self._torch.float32, self._torch.int64, self._torch.bool)
        dtype = "" if usual and value.numel() else f", dtype={value.dtype}"
        return f"torch.tensor({_nested(plain.tolist())}{dtype})"

    def _shape(self, value: Any) -> str:
        """A tensor of that shape, dtype and order of dimensions in memory, with numbers of no meaning."""
        dims = list(value.shape)
        order = sorted(range(len(dims)), key=lambda place: (-value.stride(place), place))
        moved = order != list(range(len(dims))) and not value.is_contiguous() and all(value.stride())
        sizes = ", ".join(str(dims[place]) for place in (order if moved else range(len(dims)))) or "()"
        dtype = "" if value.dtype is self._torch.float32 else f", dtype={value.dtype}"
        maker = "rand" if value.dtype.is_floating_point and value.dtype.itemsize > 1 else "zeros"
        back = f".permute({', '.join(str(order.index(place)) for place in range(len(dims)))})" if moved else ""
        return f"torch.{maker}({sizes}{dtype}){back}"

    def _object(self, value: Any, depth: int, exact: bool) -> str | None:
        """An object by its class, which the script must name, and what its constructor was given."""
        made = self._made.get(id(value))
        name = self._named.get(id(type(value))) or public_name(type(value))
        if made is None or not name or made[0] is not value:
            return None
        parts = [(key, self._spell(argument, depth, exact)) for key, argument in made[1].items()]
        if any(text is None for _, text in parts):
            return None
        text = f"{name}({', '.join(f'{key}={text}' for key, text in parts)})"
        return text + self._module_state(value)

    def _module_state(self, value: Any) -> str:
        if self._torch is None or not isinstance(value, self._torch.nn.Module):
            return ""
        mode = "" if value.training else ".eval()"
        first = next(iter(value.parameters()), None)
        return mode + (f".to({self._device_text})" if first is not None and first.device.type == self._device else "")


def public_name(value: Any) -> str:
    """`torch.nn.Linear` and its like; "" for what is not a class of torch's public rooms."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(value, type):
        return ""
    rooms = (("torch.nn", torch.nn), ("torch.optim", torch.optim), ("torch", torch))
    name: str = value.__name__
    return next((f"{room}.{name}" for room, held in rooms if vars(held).get(name) is value), "")


def look_up(chain: str, names: Mapping[str, Any]) -> Any:
    """The value of `a.b.c` without running any property or `__getattr__`; raises LookupError."""
    first, *rest = chain.split(".")
    value = names[first]
    for name in rest:
        value = _plain_attribute(value, name)
    return value


def _plain_attribute(value: Any, name: str) -> Any:
    own: Callable[[Any], Any] = lambda held: held.__dict__ if hasattr(held, "__dict__") else {}  # noqa: E731
    for held in (own(value), own(value).get("_modules"), own(value).get("_parameters")):
        if isinstance(held, dict) and name in held:
            return held[name]
    for kind in type(value).__mro__:
        if name in kind.__dict__:
            found = kind.__dict__[name]
            if hasattr(type(found), "__get__") and not isinstance(found, type):
                break
            return found
    raise LookupError(name)


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"float('{value}')"


def _nested(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_nested(item) for item in values)}]"
    return _number(values) if isinstance(values, float) else repr(values)
