"""The module road: the innermost torch.nn module whose call fails, from its constructor and the captured input.

The repr of a module that holds no other is its constructor; what a suite defines itself has none that could be
trusted, and is left to the test road.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from tputriage.minimize.arguments import Call, Tensor, mapped
from tputriage.minimize.reading import read_value
from tputriage.minimize.suspects import Suspect

LIBRARY = "torch.nn.modules."
DEFAULTS = re.compile(r", (?:bias=True|eps=1e-05|affine=True|elementwise_affine=True|track_running_stats=True)(?=[,)])")


def module_calls(suspect: Suspect, device: str) -> Iterator[Call]:
    """Calls of the modules around the error, innermost first; each with and without its printed defaults."""
    for record in suspect.record["modules"]:
        constructor = record["repr"]
        if not record["kind"].startswith(LIBRARY) or not _is_constructor(constructor):
            continue
        evaluated = "" if record["training"] else ".eval()"
        for text in dict.fromkeys((DEFAULTS.sub("", constructor), constructor)):
            call = Call(
                name=f"torch.nn.{text}{evaluated}.to(device)",
                args=tuple(read_value(item, device) for item in record["args"]),
                kwargs={key: read_value(item, device) for key, item in record["kwargs"].items()},
                needed=len(record["args"]),
            )
            if call.is_expressible:
                yield mapped(call, _without_gradient)


def _is_constructor(text: str) -> bool:
    """A name called with literals alone; a repr that says anything else is not run."""
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return False
    return True


def _without_gradient(tensor: Tensor) -> Tensor:
    return replace(tensor, requires_grad=False)
