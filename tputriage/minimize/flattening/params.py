"""Parameters that cannot be written down as values, by the suite's own expressions for them. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tputriage.minimize.flattening.suite import OwnModule
from tputriage.minimize.trees import DEFINITIONS, Definition

GIVING = ("parametrize", "parameterized.expand")


def parameter(module: OwnModule, told: Mapping[str, Any], name: str) -> ast.expr | None:
    """The entry of a `parametrize` mark of the test, its class or its module, or of `parameterized.expand`."""
    place = told["unwritten"].get(name)
    for decorator in _decorators(module, told["class"], told["function"]) if place else ():
        expands = ast.unparse(decorator.func).endswith("expand")
        names = told["arguments"] if expands else _names(decorator)
        if name in names and len(decorator.args) > 1 - expands:
            return _entry(decorator.args[1 - expands], place, names.index(name), len(names))
    return None


def fixture_parameter(module: OwnModule, fixture: Mapping[str, Any]) -> ast.expr | None:
    """The entry of `params` of a fixture."""
    for node in ast.walk(module.tree):
        if isinstance(node, DEFINITIONS) and node.name == fixture["function"] and fixture["place"]:
            for decorator in _calls(node.decorator_list):
                values = next((part.value for part in decorator.keywords if part.arg == "params"), None)
                if values is not None:
                    return _entry(values, fixture["place"], 0, 1)
    return None


def _decorators(module: OwnModule, kind: str, function: str) -> Iterator[ast.Call]:
    """Calls of `parametrize`, the test's own first."""
    found = [node for node in ast.walk(module.tree) if isinstance(node, DEFINITIONS)]
    owners: list[Definition] = [node for node in found if node.name == function]
    for node in [*owners, *(node for node in found if node.name == kind), *found]:
        yield from (call for call in _calls(node.decorator_list) if ast.unparse(call.func).endswith(GIVING))
    for mark in module.bound.get("pytestmark", ()):
        yield from (call for call in _calls([mark]) if ast.unparse(call.func).endswith(GIVING))


def _calls(nodes: Sequence[ast.AST]) -> list[ast.Call]:
    return [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Call)]


def _names(decorator: ast.Call) -> list[str]:
    first = decorator.args[0] if decorator.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return [part.strip() for part in first.value.split(",")]
    parts = first.elts if isinstance(first, ast.List | ast.Tuple) else []
    return [str(part.value) for part in parts if isinstance(part, ast.Constant)]


def _entry(values: ast.expr, place: Mapping[str, Any], position: int, width: int) -> ast.expr:
    index = place["index"]
    listed = isinstance(values, ast.List | ast.Tuple) and not any(isinstance(one, ast.Starred) for one in values.elts)
    if not listed:
        text = f"list({ast.unparse(values)})[{index}]" + (".values" if place["wrapped"] else "")
        return _expression(text if width == 1 and not place["wrapped"] else f"{text}[{position}]")
    assert isinstance(values, ast.List | ast.Tuple)
    entry: ast.expr = values.elts[index]
    if place["wrapped"] and isinstance(entry, ast.Call) and ast.unparse(entry.func).endswith("param"):
        return entry.args[position]
    if place["wrapped"]:
        return _expression(f"{ast.unparse(entry)}.values[{position}]")
    if width == 1:
        return entry
    if isinstance(entry, ast.Tuple | ast.List):
        return entry.elts[position]
    return _expression(f"({ast.unparse(entry)})[{position}]")


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
