"""A torch call as JSON values: the name a person would write, and what is needed to make its arguments again.

Plain JSON stands for itself; everything else is `{"is": KIND, …}`. Tensors are described by their metadata;
values are read only where asked for, since reading makes a device finish its work. Nothing here calls `repr`
on a tensor.
"""

from __future__ import annotations

import functools
import inspect
import math
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from . import ops_forms

MOST_VALUES = 4096  # elements of a tensor that are carried by value
MOST_BITS = 4096  # of a whole number; Python refuses to write much longer ones down
DEEPEST = 6  # nesting of lists and dicts before an argument counts as opaque
# Searched in this order: a function is known by the first public name under which it is found.
SPACES = (".nn.functional", "", ".linalg", ".special", ".fft", ".sparse", ".nn.init")
NAMESPACES = tuple(f"torch{space}" for space in SPACES)
Copied = Mapping[int, Any]  # copies of tensors by the original's identity
DEVICE, GENERATOR = torch.device, torch.Generator  # a test may put something else in their place
_names: dict[Any, str] = {}


class Tensors:
    """Numbers for tensors and for their storages: the same number is the same object."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._storages: dict[int, int] = {}
        self._next = 0

    def number(self, tensor: Any) -> int:
        reference, number = self._known.get(id(tensor), (None, 0))
        if reference is None or reference() is not tensor:
            self._next += 1
            number = self._next
            self._known[id(tensor)] = (weakref.ref(tensor), number)
        return number

    def storage(self, tensor: Any) -> int:
        """-1 for a tensor that has none."""
        key = storage_key(tensor)
        return self._storages.setdefault(key, len(self._storages)) if key else -1


def storage_key(tensor: Any) -> int:
    """The same number for the same memory, as long as it lives; 0 for a sparse tensor, or a wrapper of torch.func's."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except Exception:  # NotImplementedError, RuntimeError: each kind of wrapper refuses in its own way
        return 0


def describe(value: Any, tensors: Tensors, *, values: bool | Copied = False, depth: int = 0) -> Any:
    """`value` as JSON; `values` reads the elements of small tensors too, from these copies where they are given."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, torch.Tensor):
        try:
            return _tensor(value, tensors, values=values)
        except Exception:  # listening must not change the test: a tensor that refuses to be looked at is opaque
            return _opaque(value)
    if isinstance(value, (list, tuple, dict)) and depth < DEEPEST:
        return _container(value, lambda item: describe(item, tensors, values=values, depth=depth + 1))
    return _scalar(value)


def _container(value: Any, inner: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return _opaque(value)
        return {"is": "dict", "items": {key: inner(item) for key, item in value.items()}}
    return {"is": "list" if isinstance(value, list) else "tuple", "items": [inner(item) for item in value]}


def _scalar(value: Any) -> Any:
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else {"is": "float", "text": str(float(value))}
    if isinstance(value, int):  # an enum or another subclass: its number does
        return int(value) if value.bit_length() <= MOST_BITS else _opaque(value)
    if isinstance(value, complex):
        return {"is": "complex", "text": str(complex(value))}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        plain = all(part is None or type(part) is int for part in parts)
        return {"is": "slice", "items": list(parts)} if plain else _opaque(value)
    return {"is": "name", "text": "..."} if value is Ellipsis else _torch_value(value)


def _torch_value(value: Any) -> Any:
    if isinstance(value, DEVICE):
        return {"is": "device", "text": value.type}
    if isinstance(value, GENERATOR):
        return {"is": "generator", "text": value.device.type}
    named = isinstance(value, (torch.dtype, torch.layout, torch.memory_format))
    return {"is": "name", "text": str(value)} if named else _opaque(value)


def _opaque(value: Any) -> dict[str, Any]:
    return {"is": "opaque", "text": f"{type(value).__module__}.{type(value).__qualname__}"}


def _tensor(tensor: Any, tensors: Tensors, *, values: bool | Copied) -> dict[str, Any]:
    # A subclass that has no dispatch of its own computes as a plain tensor does.
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return _opaque(tensor)
    form, dtype = ops_forms.form_of(tensor)
    if form is None:
        return _opaque(tensor)
    found = {
        "is": "tensor",
        "id": tensors.number(tensor),
        "shape": list(tensor.shape),
        "dtype": str(dtype).removeprefix("torch."),
        "device": tensor.device.type,
        "requires_grad": tensor.requires_grad,
        "leaf": tensor.is_leaf,
        "form": form,
        **_memory(tensor, tensors),
    }
    source = values.get(id(tensor), tensor) if isinstance(values, Mapping) else tensor
    return found | (_values(source) if values else {})


def _memory(tensor: Any, tensors: Tensors) -> dict[str, Any]:
    """Where its elements lie; as for a tensor of its own where it has no strides."""
    storage = tensors.storage(tensor) if tensor.layout is torch.strided else -1
    if storage < 0:
        strides = [math.prod(tensor.shape[place + 1 :]) for place in range(tensor.dim())]
        return {"storage": -1, "elements": tensor.numel(), "strides": strides, "offset": 0}
    return {
        "storage": storage,
        "elements": tensor.untyped_storage().nbytes() // max(1, tensor.element_size()),
        "strides": list(tensor.stride()),
        "offset": tensor.storage_offset(),
    }


def _values(tensor: Any) -> dict[str, Any]:
    """`values` (flat, row-major), or `constant` where a larger one holds one number; nothing where unreadable."""
    try:
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            flat = ops_forms.without_form(tensor.detach().cpu()).reshape(-1)
            if flat.numel() > 1 and bool((flat == flat[0]).all()):
                return {"constant": _number(flat[0].item())}
            return {"values": [_number(item) for item in flat.tolist()]} if flat.numel() <= MOST_VALUES else {}
    except Exception:  # a tensor whose making failed cannot be read; its metadata has to do
        return {}


def _number(value: Any) -> Any:
    plain = isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value))
    return value if plain else str(value)


def public_name(func: Any) -> str:
    """The dotted name that evaluates to `func`, e.g. `torch.nn.functional.mish`, `torch.Tensor.median`; "" for none."""
    if not _names:
        _names.update(_index())
    try:
        return _names.get(func, "")
    except TypeError:  # unhashable
        return ""


def _index() -> Iterator[tuple[Any, str]]:
    """Later entries win, so the preferred namespace comes last."""
    yield from _methods()
    for space in reversed(NAMESPACES):
        module = functools.reduce(getattr, space.split(".")[1:], torch)
        for name in dir(module):
            member = getattr(module, name)
            if callable(member) and not name.startswith("_") and not inspect.isclass(member):
                yield from _hashed(member, f"{space}.{name}")


def _methods() -> Iterator[tuple[Any, str]]:
    for name in dir(torch.Tensor):
        member = inspect.getattr_static(torch.Tensor, name, None)
        if inspect.isgetsetdescriptor(member) or isinstance(member, property):
            for part in ("__get__", "__set__"):
                yield getattr(member, part), f"torch.Tensor.{name}.{part}"
        elif callable(accessor := getattr(torch.Tensor, name, member)):
            yield from _hashed(accessor, f"torch.Tensor.{name}")


def _hashed(member: Any, name: str) -> Iterator[tuple[Any, str]]:
    try:
        hash(member)
    except TypeError:
        return
    yield member, name


def parameters(func: Any, name: str) -> tuple[list[str], int]:
    """(names of positional parameters, how many of them a call must give); ([], 0) where nothing tells."""
    try:
        found = [
            parameter
            for parameter in inspect.signature(func).parameters.values()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        return [entry.name for entry in found], sum(entry.default is entry.empty for entry in found)
    except (TypeError, ValueError):
        return _from_schemas(func, name)


def _from_schemas(func: Any, name: str) -> tuple[list[str], int]:
    """As `parameters`, for what is written in C++; of several overloads the one that asks for least."""
    short = getattr(func, "__name__", "") or name.rsplit(".", 1)[-1]
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{short}")
    best: tuple[list[str], int] = ([], 0)
    for schema in schemas:
        entries = [entry for entry in schema.arguments if not entry.kwarg_only]
        needed = sum(not entry.has_default_value() for entry in entries)
        if not best[0] or needed < best[1]:
            best = [entry.name for entry in entries], needed
    return best


def call_of(
    func: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    tensors: Tensors,
    *,
    values: bool | Copied = False,
) -> dict[str, Any]:
    """One call of a public function, or of an aten operator, with everything needed to write it down."""
    name, also = public_name(func), []
    if isinstance(func, torch._ops.OpOverload):
        name, also = f"torch.ops.{func}", list(_namesakes(func._opname))
        entries = [entry for entry in func._schema.arguments if not entry.kwarg_only]
        names, needed = [entry.name for entry in entries], sum(not e.has_default_value() for e in entries)
    else:
        names, needed = parameters(func, name)
    return {
        "name": name,
        "also": also,
        "args": [describe(item, tensors, values=values) for item in args],
        "kwargs": {key: describe(item, tensors, values=values) for key, item in kwargs.items()},
        "parameters": names,
        "needed": needed,
    }


def _namesakes(operator: str) -> Iterator[str]:
    """Public functions that are called like an aten operator, and may take the same arguments."""
    for space in ("torch.nn.functional", "torch", "torch.linalg", "torch.special", "torch.fft", "torch.Tensor"):
        prefix, short = f"{space.rpartition('.')[2]}_", operator
        if space in ("torch.linalg", "torch.special", "torch.fft"):
            if not operator.startswith(prefix):
                continue
            short = operator.removeprefix(prefix)
        place = functools.reduce(getattr, space.split(".")[1:], torch)
        if not short.startswith("_") and callable(getattr(place, short, None)):
            yield f"{space}.{short}"
