"""A tree without the statements that a watched run never came to."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.trees import DEFINITIONS, blocks, position

STOP = "raise SystemExit(0)"
KEPT_THOUGH_NOT_RUN = (ast.Global, ast.Nonlocal, ast.Pass)


def prune(body: list[ast.stmt], facts: Facts, needed: bool = True, *, choose: bool = True) -> None:
    """In place; a block that has to be there keeps a `pass`. With `choose` a branch stands for its `if`."""
    kept: list[ast.stmt] = []
    for node in body:
        optional = [id(getattr(node, name, None)) for name in ("orelse", "finalbody")]
        for block in blocks(node):
            prune(block, facts, id(block) not in optional, choose=choose)
        kept.extend(_left(node, facts, choose))
    body[:] = kept or ([ast.Pass()] if needed else [])


def _left(node: ast.stmt, facts: Facts, choose: bool) -> list[ast.stmt]:
    ran = facts.lines
    if not hasattr(node, "lineno") or isinstance(node, KEPT_THOUGH_NOT_RUN) or ast.unparse(node) == STOP:
        return [node]
    if isinstance(node, DEFINITIONS) and _lines(node) & ran:
        return [node]
    if not _lines(node) & ran:
        return []
    if isinstance(node, ast.If) and choose:
        return _branch(node, facts)
    if isinstance(node, ast.Try) and not node.finalbody and not any(_any_ran(part.body, ran) for part in node.handlers):
        return [*node.body, *node.orelse]
    return [node]


def _branch(node: ast.If, facts: Facts) -> list[ast.stmt]:
    """The branch that was always taken, where the test has no lines in it."""
    first, second = _any_ran(node.body, facts.lines), _any_ran(node.orelse, facts.lines)
    at_times = first and not node.orelse and position(node.test) in facts.unsteady
    if (first and second) or at_times:
        return [node]
    return node.body if first else [part for part in node.orelse if not isinstance(part, ast.Pass)]


def _any_ran(body: Sequence[ast.stmt], ran: frozenset[int]) -> bool:
    return any(hasattr(node, "lineno") and _lines(node) & ran for node in body)


def _lines(node: ast.stmt) -> frozenset[int]:
    first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
    return frozenset(range(first, (node.end_lineno or node.lineno) + 1))
