"""The `with` statements around a failing one: kept with what was done in them to the names that they opened.

The value of such a name says nothing outside: a temporary folder is gone, a file closed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from tputriage.minimize.trees import binds, blocks, reads

CONTEXTS = (ast.With, ast.AsyncWith)


def only_contexts(path: Sequence[ast.stmt]) -> bool:
    return all(isinstance(node, CONTEXTS) for node in path[:-1])


def opened(path: Sequence[ast.stmt]) -> set[str]:
    """Names that the contexts of a path bind, and those made of them before its last statement."""
    names: set[str] = set()
    for outer, inner in pairwise(path):
        if isinstance(outer, ast.With):
            names |= binds(*outer.items)
        for node in _before(outer, inner):
            names |= (binds(node) | changed(node)) if reads(node) & names else set()
    return names


def in_contexts(path: Sequence[ast.stmt], statement: ast.stmt, *, whole: bool = False) -> ast.stmt:
    """The statement in the contexts of the path, after what leads to the opened names it reads.

    `whole`: after all that stood before it there.
    """
    own = opened(path)
    for outer, inner in reversed(list(pairwise(path))):
        if isinstance(outer, ast.With):
            before = _before(outer, inner)
            lead = before if whole else _lead(before, reads(statement) & own, own)
            statement = ast.With(items=outer.items, body=[*lead, statement])
    return statement


def changed(node: ast.stmt) -> set[str]:
    """Names of what a statement stores into: `x.data = y`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return reads(*(target for target in targets if isinstance(target, (ast.Attribute, ast.Subscript))))


def touched(node: ast.stmt) -> set[str]:
    """Names that a bare call may change: `model.eval()`."""
    return reads(node) if isinstance(node, ast.Expr) else set()


def _before(outer: ast.stmt, inner: ast.stmt) -> list[ast.stmt]:
    block = next((block for block in blocks(outer) if inner in block), [inner])
    return block[: block.index(inner)]


def _lead(before: Sequence[ast.stmt], names: set[str], own: set[str]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for node in reversed(before):
        if (binds(node) | changed(node) | touched(node)) & names:
            kept.insert(0, node)
            names = names | (reads(node) & own)
    return kept
