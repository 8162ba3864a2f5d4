"""What the top-level statements of a module change besides the names that they bind. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping

from tputriage.minimize.trees import DEFINITIONS, Definition, binds, blocks, parameters

# Methods that change what they are called on: a function that merely uses a name is no reason to bring in its calls.
CHANGING = ("add", "append", "clear", "extend", "insert", "pop", "register", "remove", "setdefault", "update")


def changes(tree: ast.Module) -> Mapping[str, tuple[ast.stmt, ...]]:
    """Name -> the statements that change its value, themselves or by a function that they call."""
    by_call = {node.name: changed_by(node) for node in tree.body if isinstance(node, DEFINITIONS)}
    found: dict[str, list[ast.stmt]] = defaultdict(list)
    for node in tree.body:
        for name in touched(node).union(*(by_call.get(name, set()) for name in called(node))):
            found[name].append(node)
    return {name: tuple(nodes) for name, nodes in found.items()}


def called(node: ast.stmt) -> set[str]:
    """Names of what a statement calls: a decorator, what a class is built on, the function of a call."""
    if isinstance(node, DEFINITIONS):
        given = [*node.decorator_list, *(node.bases if isinstance(node, ast.ClassDef) else ())]
        return {root_of(part.func if isinstance(part, ast.Call) else part) for part in given}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return {root_of(node.value.func)}
    return set()


def changed_by(node: Definition) -> set[str]:
    """Names of the module that a call of the function changes; of a class, its making of subclasses."""
    if isinstance(node, ast.ClassDef):
        makers = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init_subclass__")
        return set().union(*(changed_by(part) for part in makers))
    inside = list(ast.walk(node))
    functions = [part for part in inside if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
    own = set().union(*(parameters(part) | binds(*part.body) for part in functions))
    declared = {name for part in inside if isinstance(part, ast.Global) for name in part.names}
    roots = {root_of(target) for part in inside for target in _targets(part) if _changes(target)}
    return (roots - own - {""}) | declared


def _changes(target: ast.expr) -> bool:
    stored = isinstance(getattr(target, "ctx", None), ast.Store | ast.Del)
    return not isinstance(target, ast.Name) and (stored or getattr(target, "attr", "") in CHANGING)


def touched(node: ast.stmt) -> set[str]:
    """Names whose values a statement of a module changes: `X.append(1)`, `X["a"] = 1`, `X.y = 1`, `@X.register`."""
    if isinstance(node, DEFINITIONS):
        calls = (part.func if isinstance(part, ast.Call) else part for part in node.decorator_list)
        return {root_of(part) for part in calls if isinstance(part, ast.Attribute) and part.attr in CHANGING}
    found = {root for target in _targets(node) if (root := root_of(target)) and not isinstance(target, ast.Name)}
    return found.union(*(touched(part) for block in blocks(node) for part in block))


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign | ast.Delete):
        yield from node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        yield node.target
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node.value.func


def root_of(node: ast.expr) -> str:
    """`a` of `a.b["c"].d`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
