"""A call as the lines of a script that a person would write: inputs first, each with a short name, then the call.

The text is asked of the oracle as it is; `emit` gives the last one its header.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

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

MOST_LINES = 3  # of a function with its tensor inside: its name, the arguments, the bracket
PREAMBLE = "import sys\n\nimport torch\n\n"
DEVICE_LINE = 'device = sys.argv[1] if len(sys.argv) > 1 else "{device}"\n'
UNARY = {"__neg__": "-", "__invert__": "~", "__abs__": "abs"}
# Parameter names that say nothing, or that would hide something of the script's own.
BLAND = frozenset(
    {"self", "input", "tensor", "other", "x", "a", "device", "sys", "torch", "instance", "value", "out", "f", "actual",
     "expected"}
)  # fmt: skip
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
        wishes = chain([wish] if plain else [], LETTERS, (f"x{number}" for number in count(1)))
        self.given[tensor.id] = next(name for name in wishes if name not in taken)


def script_of(call: Call, device: str) -> str:
    """The whole script for a call that raises."""
    names = names_for(call)
    if (alone := _inlined(call, device)) is not None:
        return assembled([alone], device)
    lines = [assigned(tensor, names) for tensor in call.tensors]
    return assembled([*lines, *statement(call, names, device)], device)


def _inlined(call: Call, device: str) -> str | None:
    """The call with its one tensor made where it is taken, if that is short; several read better by name."""
    met = [leaf for value in (*call.args, *call.kwargs.values()) for leaf in tensors_of(value)]
    if len(met) != 1 or met[0].view or "(" in call.name or call.compiled or call.changes_in_place:
        return None
    (text,) = statement(call, Names({met[0].id: made(met[0])}), device)
    one_line = call.then or call.name.startswith("torch.Tensor.")  # else what comes last would follow a lone bracket
    return text if len(wrapped(text).splitlines()) <= (1 if one_line else MOST_LINES) else None


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
    if (call.then or item) and not call.compiled and _is_operator(call):
        text = f"({text})"
    if call.then == "backward":
        return [f"{text}{item}.sum().backward()"]
    return [f"{text}{item}{call.then}"]


def _is_operator(call: Call) -> bool:
    """Whether it is written with signs, so that what follows would be done to its last operand alone."""
    method = call.name.removeprefix("torch.Tensor.")
    plain = not call.kwargs and len(call.args) == 2 and (method in BINARY or method in REFLECTED)
    return method != call.name and (plain or (method in UNARY and method != "__abs__"))


def expression(call: Call, names: Names, device: str) -> str:
    if call.compiled:
        inside = {leaf.id for value in (*call.args, *call.kwargs.values()) for leaf in tensors_of(value)}
        given = ", ".join(names.given[number] for number in sorted(inside, key=list(names.given).index))
        return f"torch.compile(lambda {given}: {_eager(call, names, device)})({given})"
    return _eager(call, names, device)


def _eager(call: Call, names: Names, device: str) -> str:
    args = [text_of(value, names, device) for value in call.args]
    kwargs = [_keyword(key, text_of(value, names, device)) for key, value in call.kwargs.items()]
    if not call.name.startswith("torch.Tensor."):
        return f"{_path(call.name.removesuffix('.default'))}({', '.join(args + kwargs)})"
    method = call.name.removeprefix("torch.Tensor.")
    if method in ("__getitem__", "__setitem__"):
        args[1] = _index(call.args[1], names, device)
    return _method(method, args, kwargs)


def _keyword(key: str, text: str) -> str:
    """torch has parameters that Python cannot name, as `from` of `random_`."""
    return f"{key}={text}" if _is_name(key) else f"**{{{_quoted(key)}: {text}}}"


def _path(name: str) -> str:
    """And overloads, as `torch.ops.aten.random_.from`. What is called may be any expression."""
    first, *parts = name.split(".")
    if not any(map(keyword.iskeyword, parts)):
        return name
    for part in parts:
        first = f"{first}.{part}" if _is_name(part) else f"getattr({first}, {_quoted(part)})"
    return first


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _method(method: str, args: Sequence[str], kwargs: Sequence[str]) -> str:
    first = args[0] if args else "x"
    if method.endswith((".__get__", ".__set__")):
        field_name, _, kind = method.rpartition(".")
        return f"{first}.{field_name}" + (f" = {args[1]}" if kind == "__set__" else "")
    if method in ("__getitem__", "__setitem__"):
        return f"{first}[{args[1]}]" + (f" = {args[2]}" if method == "__setitem__" else "")
    if method in BINARY and len(args) == 2 and not kwargs:
        return f"{first} {BINARY[method]} {args[1]}"
    if method in REFLECTED and len(args) == 2 and not kwargs:
        left = f"({args[1]})" if args[1].startswith("-") else args[1]  # `-2 ** x` is `-(2 ** x)`
        return f"{left} {REFLECTED[method]} {first}"
    if method in UNARY:
        return f"{UNARY[method]}({first})" if method == "__abs__" else f"{UNARY[method]}{first}"
    return f"{_path(f'{first}.{method}')}({', '.join([*args[1:], *kwargs])})"


def _index(value: Value, names: Names, device: str) -> str:
    """What stands in the brackets; a slice is `1:2` there and nowhere else."""
    if isinstance(value, Items) and not value.is_list and value.items:
        return ", ".join(_slice(item, text_of(item, names, device)) for item in value.items)
    return _slice(value, text_of(value, names, device))


def _slice(value: Value, text: str) -> str:
    if isinstance(value, Slice):
        start, stop, step = ("" if part is None else str(part) for part in value.parts)
        return f"{start}:{stop}" + (f":{step}" if step else "")
    return text


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
        return f"slice({', '.join(map(str, value.parts))})"
    if isinstance(value, (Name, Opaque)):
        return value.text
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in plain else plain
