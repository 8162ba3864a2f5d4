"""Names that only stand for another name or a constant, replaced by it: `a = b; f(a)` is `f(b)`.

Follows the statements in their order, and forgets what a loop, a branch or a function may change.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from tputriage.minimize.reducing.attributes import named_attributes, unread_out
from tputriage.minimize.reducing.elements import elements_out
from tputriage.minimize.reducing.renaming import Folded
from tputriage.minimize.reducing.sweeping import sweep
from tputriage.minimize.trees import COMPREHENSIONS, DEFINITIONS, IMPORTS, binds, blocks, reads, swept

Known = dict[str, ast.expr]
MOST_ROUNDS = 12  # an object may be held by another one's attribute


def propagated(source: str) -> str:
    """The script with its copies and constants put where they are read, and without those nothing reads then."""
    tree = ast.parse(source)
    _copies_out(tree)
    return swept(ast.unparse(ast.fix_missing_locations(tree)))


def flattened(source: str, *, bold: bool = True) -> str:
    """The same, with the attributes of objects that are only there to hold them as names."""
    for _ in range(MOST_ROUNDS):
        tree = ast.parse(source)
        _copies_out(tree)
        unread_out(tree)
        named_attributes(tree)
        before, source = source, sweep(ast.unparse(ast.fix_missing_locations(tree)), registered=bold)
        if source == before:
            break
    return swept(source, bold=bold)


def _copies_out(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        for block in blocks(node):
            block[:] = [line for statement in block for line in _apart(statement)]
    _through(tree.body, {})
    elements_out(tree)
    Folded().visit(tree)
    for node in ast.walk(tree):
        for block in blocks(node):
            block[:] = [line for line in block if not _is_idle(line)] or ([ast.Pass()] if block else [])


def _apart(node: ast.stmt) -> list[ast.stmt]:
    """`a, b = x, y` as two lines, where neither value reads what the other line binds."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            roots = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
            if not roots & reads(*values) and not any(isinstance(part, ast.Starred) for part in (*targets, *values)):
                return [ast.Assign([one], value, lineno=0) for one, value in zip(targets, values, strict=True)]
    return [node]


def _is_idle(node: ast.stmt) -> bool:
    match node:
        case ast.Pass():
            return True
        case ast.Assign(targets=[ast.Name(id=one)], value=ast.Name(id=other)):
            return one == other
    return False


def _through(body: Sequence[ast.stmt], known: Known) -> None:
    for node in body:
        if isinstance(node, IMPORTS):
            _forget(known, binds(node))
        elif isinstance(node, DEFINITIONS):
            changed = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            _forget(known, {node.name} | (binds(*node.body) & changed))
        else:
            _one(node, known)


def _one(node: ast.stmt, known: Known) -> None:
    inner = list(blocks(node))
    if inner:
        _forget(known, _bound_first(node))
        _heads(node, known)
        for block in inner:
            _through(block, dict(known))
        _forget(known, binds(node))
        return
    _Reading(known).visit(node)
    _forget(known, binds(node) | _deleted(node))
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Constant() as value):
            if not (isinstance(value, ast.Name) and value.id == name):
                known[name] = value


def _bound_first(node: ast.stmt) -> set[str]:
    """Names that may have another value when a block of the statement is run: a handler comes after any line."""
    if isinstance(node, ast.If):
        return binds(node.test)
    return binds(*node.items) if isinstance(node, (ast.With, ast.AsyncWith)) else binds(node)


def _deleted(node: ast.stmt) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del)}


def _heads(node: ast.stmt, known: Known) -> None:
    """What a compound statement evaluates before its body."""
    reading = _Reading(known)
    for name in ("test", "iter"):
        if hasattr(node, name):
            setattr(node, name, reading.visit(getattr(node, name)))
    for item in getattr(node, "items", ()):
        item.context_expr = reading.visit(item.context_expr)


def _forget(known: Known, names: set[str]) -> None:
    stale = [
        name for name, value in known.items() if name in names or (isinstance(value, ast.Name) and value.id in names)
    ]
    for name in stale:
        del known[name]


class _Reading(ast.NodeTransformer):
    """Leaves functions alone: they read a name when they are called."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._known.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if value is None else copy.deepcopy(value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        node.value = self.visit(node.value)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The names that a comprehension binds are its own."""
        inner = self
        if isinstance(node, COMPREHENSIONS):
            inner = _Reading(dict(self._known))
            _forget(inner._known, binds(*(part.target for part in node.generators)))
        return super(_Reading, inner).generic_visit(node)
