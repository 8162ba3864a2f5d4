"""Values as expressions of the script that holds them: literals, containers, tensors by shape, objects by their making.

Reads attributes without running properties, and a device tensor's numbers only where told to (`exact`), so that
looking changes nothing. What cannot be written down is None.
"""

from __future__ import annotations

import ast
import builtins
import collections
import enum
import math
import sys
import tempfile
import types
from collections.abc import Mapping
from typing import Any

from . import spelling_tensors

MOST_ITEMS = 64
LONGEST = 2000
DEEPEST = 6
PLAIN = (bool, int, float, str, bytes, complex, type(None), type(...))
CALLABLES = (type, types.FunctionType, types.BuiltinFunctionType)
Made = Mapping[int, tuple[Any, dict[str, Any]]]


class Speller:
    """Spells values with the names that a script's globals give."""

    def __init__(self, names: Mapping[str, Any], device: str, made: Made) -> None:
        self._device = device
        self._made = made  # id of an object -> (the object, its constructor's arguments)
        self._names = names
        self._torch: Any = sys.modules.get("torch")
        self._scratch = tempfile.gettempdir()

    def spell(self, value: Any, *, exact: bool = False) -> str | None:
        """The expression, or None."""
        try:
            text = self._spell(value, DEEPEST, exact)
        except Exception:  # a value that cannot even be looked at cannot be written down
            return None
        return text if text is not None and len(text) <= LONGEST and _is_expression(text) else None

    def _spell(self, value: Any, depth: int, exact: bool) -> str | None:
        if self._is_device(value):
            return self._device_text() if type(value) is str else self._device_itself()
        if type(value) is str and self._scratch in value:
            return None  # no other run has that folder
        if type(value) in PLAIN:
            return "..." if value is ... else _number(value) if isinstance(value, float) else repr(value)
        for spells in (self._definition, self._container, self._torch_value, self._object):
            text = spells(value, depth - 1, exact) if depth else None
            if text is not None:
                return text
        return self._named(value)

    def _is_device(self, value: Any) -> bool:
        if type(value) is str:
            return value.partition(":")[0] == self._device
        return self._torch is not None and isinstance(value, self._torch.device) and value.type == self._device

    def _device_text(self) -> str:
        spelled = [name for name, value in self._names.items() if _is_plain(name) and self._is_device(value)]
        usual = "sys.argv[1]" if "sys" in self._names else repr(self._device)
        return "device" if "device" in spelled else spelled[-1] if spelled else usual

    def _device_itself(self) -> str:
        """A `torch.device`: what compares with it tells it from its name."""
        held = [name for name, value in self._names.items() if isinstance(value, self._torch.device)]
        ours = [name for name in held if _is_plain(name) and self._is_device(self._names[name])]
        return "device" if "device" in ours else ours[-1] if ours else f"torch.device({self._device_text()})"

    def _named(self, value: Any) -> str | None:
        return next((name for name, known in self._names.items() if known is value and _is_plain(name)), None)

    def _definition(self, value: Any, depth: int, exact: bool) -> str | None:
        """A class, function, method or member of an enum."""
        if isinstance(value, enum.Enum):
            kind = self._spell(type(value), depth, exact)
            one = str(value.name).isidentifier() and value.name is not None  # and not several flags, or none of them
            return (f"{kind}.{value.name}" if one else f"{kind}({value.value!r})") if kind else None
        if isinstance(value, types.MethodType):
            owner = self._spell(value.__self__, depth, exact)
            return f"{owner}.{value.__name__}" if owner else None
        if isinstance(value, CALLABLES):
            return self._named(value) or public_name(value) or self._by_path(value)
        return None

    def _by_path(self, value: Any) -> str | None:
        """`torch.nn.functional.silu`, where the module's first part is a global or torch; `len`, `int`."""
        name = str(getattr(value, "__name__", ""))
        if getattr(builtins, name, None) is value:
            return name
        path = f"{value.__module__}.{value.__qualname__}".split(".")
        found = self._torch if path[0] == "torch" else self._names.get(path[0])
        for part in path[1:]:
            found = getattr(found, part, None)
        return ".".join(path) if found is value else None

    def _container(self, value: Any, depth: int, exact: bool) -> str | None:
        kind = type(value)
        if kind in (dict, collections.OrderedDict, collections.defaultdict):
            return self._mapping(value, depth, exact)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self._called(value, dict(zip(kind._fields, value, strict=True)), depth, exact)
        if kind is range:
            return repr(value)
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

    def _mapping(self, value: Mapping[Any, Any], depth: int, exact: bool) -> str | None:
        pairs = [(self._spell(k, depth, exact), self._spell(v, depth, exact)) for k, v in value.items()]
        if len(pairs) > MOST_ITEMS or any(k is None or v is None for k, v in pairs):
            return None
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"

    def _torch_value(self, value: Any, depth: int, exact: bool) -> str | None:
        torch = self._torch
        if torch is None:
            return None
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return str(value)
        if isinstance(value, torch.device):
            return f"torch.device({str(value)!r})" if exact else repr(str(value))
        if isinstance(value, torch.Size):
            return repr(value) if exact else repr(tuple(value))
        if isinstance(value, torch.Generator):
            given = self._device_text() if self._is_device(value.device) else ""
            return f"torch.Generator({given}).manual_seed({value.initial_seed()})"
        if isinstance(value, torch.Tensor):
            where = self._device_text() if self._is_device(value.device) else ""
            return spelling_tensors.text(torch, value, where, exact)
        return None

    def _object(self, value: Any, depth: int, exact: bool) -> str | None:
        """An object by its class, which the script must name, and what its constructor was given."""
        made = self._made.get(id(value))
        if made is not None and made[0] is value:
            text = self._called(value, made[1], depth, exact)
            return None if text is None else text + self._module_state(value)
        kind: Any = type(value)
        plain = kind.__init__ is object.__init__ and kind.__new__ is object.__new__
        return self._called(value, {}, depth, exact) if plain and not getattr(value, "__dict__", {}) else None

    def _called(self, value: Any, given: Mapping[str, Any], depth: int, exact: bool) -> str | None:
        name = self._named(type(value)) or public_name(type(value))
        parts = [("", argument) for argument in given.get("*", ())]
        parts += [(f"{key}=", argument) for key, argument in given.items() if key != "*"]
        texts = [(key, self._spell(argument, depth, exact)) for key, argument in parts]
        if not name or any(text is None for _, text in texts):
            return None
        return f"{name}({', '.join(f'{key}{text}' for key, text in texts)})"

    def _module_state(self, value: Any) -> str:
        if self._torch is None or not isinstance(value, self._torch.nn.Module):
            return ""
        mode = "" if value.training else ".eval()"
        first = next(iter(value.parameters()), None)
        if first is None:
            return mode
        kind = "" if first.dtype is self._torch.float32 else f".to({first.dtype})"
        return mode + kind + (f".to({self._device_text()})" if self._is_device(first.device) else "")


def _is_expression(text: str) -> bool:
    """An enum's member, a keyword or a function may have a name that Python cannot read."""
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_plain(name: str) -> bool:
    return name.isidentifier() and not name.startswith("__")


def public_name(value: Any) -> str:
    """`torch.nn.Linear` and its like; "" for what is not a class of torch's public rooms."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(value, type):
        return ""
    rooms = (("torch.nn", torch.nn), ("torch.optim", torch.optim), ("torch", torch))
    name: str = value.__name__
    return next((f"{room}.{name}" for room, held in rooms if vars(held).get(name) is value), "")


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"float('{value}')"
