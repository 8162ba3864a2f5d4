"""Parameters that cannot be written down as values, by the suite's own expressions for them. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from tputriage.minimize.flattening.suite import OwnModule
from tputriage.minimize.trees import DEFINITIONS, Function, binds, first_line

GIVING = ("parametrize", "parameterized.expand")
OF_A_SET = "(lambda one: {} if hasattr(one, 'marks') else one)"  # of a `pytest.param`, or of what is none


def parameter(modules: Sequence[OwnModule], told: Mapping[str, Any], name: str) -> tuple[ast.expr, OwnModule] | None:
    """The entry of a `parametrize` mark of the test, its class or its module, or of `parameterized.expand`."""
    place = told["unwritten"].get(name)
    for module in modules if place else ():
        for decorator, around in _decorators(module, told):
            names, values = _given(module, decorator, told)
            if name in names and values is not None:
                return _in_class(_entry(values, place, names.index(name)), around), module
    return None


def fixture_parameter(module: OwnModule, fixture: Mapping[str, Any]) -> tuple[ast.expr, OwnModule] | None:
    """The entry of `params` of a fixture."""
    node, around = _function_at(module.tree, fixture["line"])
    for decorator in _calls(node.decorator_list) if node and fixture["place"] else ():
        values = _keyword(decorator, "params")
        if values is not None:
            return _in_class(_entry(values, fixture["place"], 0), around), module
    return None


def _decorators(module: OwnModule, told: Mapping[str, Any]) -> Iterator[tuple[ast.Call, list[ast.ClassDef]]]:
    """Calls that give parameters, with the classes that they stand in; the test's own first."""
    function, around = _function_at(module.tree, told["line"])
    if function is not None and function.name == told["function"]:
        yield from ((call, around) for call in _giving(module, function.decorator_list))
    kinds = _classes(module.tree, told["class"].split(".")[-1])
    for kind in kinds:
        marks = [node for node in kind.body if "pytestmark" in binds(node)]
        yield from ((call, []) for call in _giving(module, kind.decorator_list))
        yield from ((call, [kind]) for call in _giving(module, marks))
    yield from ((call, []) for call in _giving(module, module.bound.get("pytestmark", ())))


def _function_at(tree: ast.AST, line: int) -> tuple[Function | None, list[ast.ClassDef]]:
    """The function that starts there, and the classes around it, from the outside in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and first_line(node) == line:
            return node, []
        found, around = _function_at(node, line)
        if found is not None:
            return found, [node, *around] if isinstance(node, ast.ClassDef) else around
    return None, []


def _classes(tree: ast.Module, name: str) -> list[ast.ClassDef]:
    """The class of that name, and those of the module that it is built on."""
    every = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found: dict[str, ast.ClassDef] = {}
    todo = [name]
    while todo:
        kind = every.get(todo.pop(0))
        if kind is not None and kind.name not in found:
            found[kind.name] = kind
            todo += [ast.unparse(base).split(".")[-1] for base in kind.bases]
    return list(found.values())


def _giving(module: OwnModule, nodes: Sequence[ast.AST]) -> Iterator[ast.Call]:
    """Calls of `parametrize`, also those that a name stands for, and those of functions that make them."""
    for node in nodes:
        calls = _calls([node])
        yield from (call for call in calls if ast.unparse(call.func).endswith(GIVING))
        for part in ast.walk(node):
            bound = module.bound.get(part.id, ()) if isinstance(part, ast.Name) else ()
            if bound and isinstance(bound[-1], ast.Assign):
                yield from (call for call in _calls(bound) if ast.unparse(call.func).endswith(GIVING))
            elif bound and isinstance(bound[-1], DEFINITIONS) and GIVING[0] in ast.unparse(bound[-1]):
                yield from (call for call in calls if call.func is part)


def _calls(nodes: Sequence[ast.AST]) -> list[ast.Call]:
    return [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Call)]


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((part.value for part in call.keywords if part.arg == name), None)


def _given(module: OwnModule, decorator: ast.Call, told: Mapping[str, Any]) -> tuple[Sequence[str], ast.expr | None]:
    """(names, values) of a call that gives parameters."""
    called = ast.unparse(decorator.func)
    if called.endswith("expand"):
        return told["arguments"], next(iter(decorator.args), None)
    if called.endswith(GIVING[0]) and called not in module.bound:
        arguments = decorator.args
        names = arguments[0] if arguments else _keyword(decorator, "argnames")
        return _names(names), arguments[1] if len(arguments) > 1 else _keyword(decorator, "argvalues")
    # What the function makes is a mark, and tells its names only when it runs.
    return list(told["unwritten"]), _expression(f"{ast.unparse(decorator)}.args[1]")


def _names(given: ast.expr | None) -> list[str]:
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return [part.strip() for part in given.value.split(",") if part.strip()]
    parts = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    return [str(part.value) for part in parts if isinstance(part, ast.Constant)]


def _entry(values: ast.expr, place: Mapping[str, Any], position: int) -> ast.expr:
    """`bare`: whether an entry is the value itself, since one name was given and no list; None where it may be."""
    index, wrapped, bare = place["index"], place["wrapped"], place["bare"]
    if not _is_written_out(values, index):
        text = f"list({ast.unparse(values)})[{index}]"
        if wrapped is None:
            text = f"{OF_A_SET.format('one.values[0]' if bare else 'one.values')}({text})"
        return _expression((text + ".values" * bool(wrapped)) + f"[{position}]" * (bool(wrapped) or bare is False))
    entry: ast.expr = values.elts[index]
    if wrapped:
        return _of_a_set(entry, position)
    if _is_written_out(entry, position) and not bare:
        return entry.elts[position]
    return entry if bare is not False else _expression(f"({ast.unparse(entry)})[{position}]")


def _of_a_set(entry: ast.expr, position: int) -> ast.expr:
    """A value of a `pytest.param`."""
    if isinstance(entry, ast.Call) and ast.unparse(entry.func).endswith("param"):
        given = entry.args[: position + 1]
        if len(given) > position and not any(isinstance(one, ast.Starred) for one in given):
            return given[position]
    return _expression(f"{ast.unparse(entry)}.values[{position}]")


def _is_written_out(values: ast.expr, index: int) -> TypeGuard[ast.List | ast.Tuple]:
    """Whether it is a list with that entry, each standing for itself."""
    return (
        isinstance(values, ast.List | ast.Tuple)
        and not any(isinstance(one, ast.Starred) for one in values.elts)
        and index < len(values.elts)
    )


class _Through(ast.NodeTransformer):
    """Names of a class body, which the script reaches through the class."""

    def __init__(self, around: Sequence[ast.ClassDef]) -> None:
        self._path = ".".join(kind.name for kind in around)
        self._names = binds(*around[-1].body)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _expression(f"{self._path}.{node.id}") if node.id in self._names else node


def _in_class(entry: ast.expr, around: Sequence[ast.ClassDef]) -> ast.expr:
    if not around:
        return entry
    made = _Through(around).visit(_expression(ast.unparse(entry)))
    assert isinstance(made, ast.expr)
    return made


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
