"""A call as the lines of a script that a person would write: inputs first, each with a short name, then the call.

The text is asked of the oracle as it is; `emit` gives the last one its header.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tputriage.minimize.arguments import (
    Call,
    Device,
    Generator,
    Items,
    Name,
    Opaque,
    Pairs,
    Slice,
    Tensor,
    Value,
    tensors_of,
)
from tputriage.minimize.making import made
from tputriage.minimize.wrapping import wrapped
from tputriage.signatures.speaking import BINARY, REFLECTED

PREAMBLE = "import sys\n\nimport torch\n\n"
DEVICE_LINE = 'device = sys.argv[1] if len(sys.argv) > 1 else "{device}"\n'
UNARY = {"__neg__": "-", "__invert__": "~", "__abs__": "abs"}
# Parameter names that say nothing, or that would hide something of the script's own.
BLAND = frozenset({"self", "input", "tensor", "other", "x", "a", "device", "sys", "torch", "instance", "value", "out"})
LETTERS = ("x", "y", "z", "u", "v", "w")


@dataclass
class Names:
    """Variable names given so far, by the tensor's id."""

    given: dict[int, str] = field(default_factory=dict)

    def add(self, tensor: Tensor, wish: str) -> None:
        if tensor.id in self.given:
            return
        taken = set(self.given.values())
        hides = keyword.iskeyword(wish) or hasattr(builtins, wish) or wish in BLAND or wish[-1:].isdigit()
        plain = wish.isidentifier() and not hides
        wishes = ([wish] if plain else []) + list(LETTERS) + [f"x{number}" for number in range(1, 200)]
        self.given[tensor.id] = next(name for name in wishes if name not in taken)


def script_of(call: Call, device: str) -> str:
    """The whole script for a call that raises."""
    names = names_for(call)
    lines = [assigned(tensor, names) for tensor in call.tensors]
    return assembled([*lines, *statement(call, names, device)], device)


def assigned(tensor: Tensor, names: Names, *, on_cpu: bool = False) -> str:
    """The line that makes the tensor."""
    text = viewed(tensor, names) if tensor.view else made(tensor, on_cpu=on_cpu)
    return f"{names.given[tensor.id]} = {text}"


def viewed(tensor: Tensor, names: Names) -> str:
    """The view of what the tensor lies in."""
    assert tensor.view is not None
    grows = tensor.requires_grad and not tensor.view.base.requires_grad
    return names.given[tensor.view.base.id] + tensor.view.text + (".requires_grad_()" if grows else "")


def assembled(lines: Iterable[str], device: str) -> str:
    return PREAMBLE + DEVICE_LINE.format(device=device) + "\n".join(wrapped(line) for line in lines) + "\n"


def names_for(call: Call) -> Names:
    names = Names()
    for place, value in enumerate(call.args):
        wish = call.parameters[place] if place < len(call.parameters) else ""
        _name_all(value, wish, names)
    for key, value in call.kwargs.items():
        _name_all(value, key, names)
    return names


def _name_all(value: Value, wish: str, names: Names) -> None:
    if isinstance(value, Tensor):
        if value.view:
            names.add(value.view.base, "")
        names.add(value, wish)
    elif isinstance(value, Items):
        for item in value.items:
            _name_all(item, "", names)
    elif isinstance(value, Pairs):
        for key, item in value.items:
            _name_all(item, key, names)


def statement(call: Call, names: Names, device: str) -> list[str]:
    """The call itself, with what is done to its result."""
    text = expression(call, names, device)
    if call.name.endswith(("__set__", "__setitem__")):
        return [text]
    item = f"[{call.index}]" if call.index >= 0 else ""
    if call.then and call.name.startswith("torch.Tensor.") and " " in text.partition("(")[0]:
        text = f"({text})"
    if call.then == "backward":
        return [f"{text}{item}.sum().backward()"]
    return [f"{text}{item}{call.then}"]


def expression(call: Call, names: Names, device: str) -> str:
    if call.compiled:
        inside = {leaf.id for value in (*call.args, *call.kwargs.values()) for leaf in tensors_of(value)}
        given = ", ".join(names.given[number] for number in sorted(inside, key=list(names.given).index))
        return f"torch.compile(lambda {given}: {_eager(call, names, device)})({given})"
    return _eager(call, names, device)


def _eager(call: Call, names: Names, device: str) -> str:
    args = [text_of(value, names, device) for value in call.args]
    kwargs = [f"{key}={text_of(value, names, device)}" for key, value in call.kwargs.items()]
    if not call.name.startswith("torch.Tensor."):
        return f"{call.name.removesuffix('.default')}({', '.join(args + kwargs)})"
    return _method(call.name.removeprefix("torch.Tensor."), call, args, kwargs)


def _method(method: str, call: Call, args: Sequence[str], kwargs: Sequence[str]) -> str:
    first = args[0] if args else "x"
    if method.endswith((".__get__", ".__set__")):
        field_name, _, kind = method.rpartition(".")
        return f"{first}.{field_name}" + (f" = {args[1]}" if kind == "__set__" else "")
    if method in ("__getitem__", "__setitem__"):
        index = args[1].removeprefix("(").removesuffix(")").rstrip(",") if _is_tuple(call.args[1]) else args[1]
        return f"{first}[{index or '()'}]" + (f" = {args[2]}" if method == "__setitem__" else "")
    if method in BINARY and len(args) == 2 and not kwargs:
        return f"{first} {BINARY[method]} {args[1]}"
    if method in REFLECTED and len(args) == 2:
        return f"{args[1]} {REFLECTED[method]} {first}"
    if method in UNARY:
        return f"{UNARY[method]}({first})" if method == "__abs__" else f"{UNARY[method]}{first}"
    return f"{first}.{method}({', '.join([*args[1:], *kwargs])})"


def _is_tuple(value: Value) -> bool:
    return isinstance(value, Items) and not value.is_list and bool(value.items)


def text_of(value: Value, names: Names, device: str) -> str:
    if isinstance(value, Tensor):
        return names.given[value.id]
    if isinstance(value, Items):
        inner = ", ".join(text_of(item, names, device) for item in value.items)
        if value.is_list:
            return f"[{inner}]"
        return f"({inner},)" if len(value.items) == 1 else f"({inner})"
    if isinstance(value, Pairs):
        return f"{{{', '.join(f'{_quoted(key)}: {text_of(item, names, device)}' for key, item in value.items)}}}"
    return _scalar(value, device)


def _scalar(value: Value, device: str) -> str:
    if isinstance(value, Device):
        return "device" if value.text.split(":")[0] == device else f'"{value.text}"'
    if isinstance(value, Generator):
        return f"torch.Generator({'device' if value.on_device else ''})"
    if isinstance(value, Slice):
        start, stop, step = ("" if part is None else str(part) for part in value.parts)
        return f"{start}:{stop}" + (f":{step}" if step else "")
    if isinstance(value, (Name, Opaque)):
        return value.text
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in plain else plain
