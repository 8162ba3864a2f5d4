"""A function's body where its call stood: its `return` as an assignment, its `yield` as what the `with` held."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from tputriage.minimize.reducing.renaming import assignment, last_name
from tputriage.minimize.trees import DEFINITIONS, Function, blocks

# Managers that let every error pass. Any other may swallow one, and what the function gives then is None.
HARMLESS = frozenset(
    {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast", "device", "open", "nullcontext",
     "catch_warnings", "TemporaryDirectory", "NamedTemporaryFile"}
)  # fmt: skip
MOST_YIELDS = 8
MOST_BRANCHES = 40  # statements that may come to stand in both branches
MOST_FORKS = 4  # of these, that return in turn: each doubles what follows it


def assigned_tail(body: Sequence[ast.stmt], name: str) -> tuple[list[ast.stmt], ast.expr] | None:
    """(the lines, what the call gave); None where a `return` or `yield` is not at an end.

    Where the one return is the last line, its expression is the result, and no name is needed. A `name` of "" is for
    a call of which nobody asks what it gave.
    """
    parts = [part for node in body for part in _own(node)]
    if any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)) for part in parts):
        return None
    returns = [part for part in parts if isinstance(part, ast.Return)]
    if not returns:
        return list(body), ast.Constant(None)
    if len(returns) == 1 and body[-1] is returns[0]:
        return list(body[:-1]), returns[0].value or ast.Constant(None)
    lines = _tail(list(body), name)
    return None if lines is None else (lines, ast.Name(name, ast.Load()) if name else ast.Constant(None))


def _own(node: ast.AST) -> list[ast.AST]:
    """What runs when the statement does: not what functions in it do."""
    if isinstance(node, (*DEFINITIONS, ast.Lambda)):
        return []
    return [node, *(part for child in ast.iter_child_nodes(node) for part in _own(child))]


def _has_return(node: ast.stmt) -> bool:
    return any(isinstance(part, ast.Return) for part in _own(node))


def _tail(body: list[ast.stmt], name: str) -> list[ast.stmt] | None:
    for place, node in enumerate(body):
        if not _has_return(node):
            continue
        rest = body[place + 1 :]
        last = _ended(node, rest, name)
        return None if last is None else [*body[:place], *last]
    return body if _leaves(body) else [*body, *_given(name)]


def _given(name: str, value: ast.expr | None = None) -> list[ast.stmt]:
    """That the call gave the value; where nobody asks, that it was made."""
    if not name:
        return [] if value is None else [ast.Expr(value)]
    return [assignment(name, value or ast.Constant(None))]


def _ended(node: ast.stmt, rest: list[ast.stmt], name: str) -> list[ast.stmt] | None:
    """A statement that returns, and what follows where it did not."""
    if isinstance(node, ast.Return):
        return _given(name, node.value)
    if isinstance(node, ast.If) and len(rest) <= MOST_BRANCHES and sum(map(_has_return, rest)) <= MOST_FORKS:
        first = _tail([*node.body, *([] if _leaves(node.body) else copy.deepcopy(rest))], name)
        second = _tail([*node.orelse, *([] if _leaves(node.orelse) else rest)], name)
        if first is None or second is None:
            return None
        node.body, node.orelse = first or [ast.Pass()], second
        return [node]
    if isinstance(node, ast.Try):
        return None if rest else _ended_try(node, name)
    if isinstance(node, ast.With):
        return _ended_with(node, rest, name)
    return None


def _ended_with(node: ast.With, rest: list[ast.stmt], name: str) -> list[ast.stmt] | None:
    """What follows a `with` whose end is a `return` is reached only where an error was swallowed on the way."""
    swallows = not all(last_name(item.context_expr) in HARMLESS for item in node.items)
    ended = None if rest and (swallows or not _leaves(node.body)) else _tail(node.body, name)
    if ended is None:
        return None
    node.body = ended or [ast.Pass()]
    return [*_given(name), node] if swallows else [node]


def _ended_try(node: ast.Try, name: str) -> list[ast.stmt] | None:
    """Nothing follows it. What stands in `else` is not to run after a `return`, and `finally` gives nothing."""
    if any(map(_has_return, [*node.finalbody, *(node.body if node.orelse else ())])):
        return None
    for block in [block for block in blocks(node) if block and block is not node.finalbody]:
        ended = _tail(block, name)
        if ended is None:
            return None
        block[:] = ended or [ast.Pass()]
    return [node]


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise))


def spliced(generator: Sequence[ast.stmt], target: ast.expr | None, inner: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """The body of a context manager's generator with `inner` where it yields; None where that is not plain."""
    body: list[ast.stmt] | None = list(generator)
    yields = [part for node in generator for part in _own(node) if isinstance(part, (ast.Yield, ast.YieldFrom))]
    if not 0 < len(yields) <= MOST_YIELDS:
        return None
    for found in yields:
        if body is None or not isinstance(found, ast.Yield):
            return None
        body = _spliced(body, found, target, copy.deepcopy(list(inner)))
    return body


def yields(function: Function) -> bool:
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for node in function.body for part in _own(node))


def _spliced(
    body: list[ast.stmt], found: ast.Yield, target: ast.expr | None, inner: list[ast.stmt]
) -> list[ast.stmt] | None:
    for place, node in enumerate(body):
        if not any(part is found for part in ast.walk(node)):
            continue
        middle = _yielding(node, found, target, inner)
        return None if middle is None else [*body[:place], *middle, *body[place + 1 :]]
    return None


def _yielding(
    node: ast.stmt, found: ast.Yield, target: ast.expr | None, inner: list[ast.stmt]
) -> list[ast.stmt] | None:
    if isinstance(node, ast.Expr) and node.value is found:
        given = [] if target is None else [ast.Assign([target], found.value or ast.Constant(None), lineno=0)]
        return [*given, *inner]
    if isinstance(node, (ast.With, ast.For, ast.While, ast.If)):
        for block in blocks(node):
            held = _spliced(block, found, target, inner)
            if held is not None:
                block[:] = held
                return [node]
        return None
    if isinstance(node, ast.Try):
        held = _spliced(node.body, found, target, inner)
        return None if held is None else [*held, *node.orelse, *node.finalbody]
    return None
