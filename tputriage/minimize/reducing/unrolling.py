"""A loop written out: its body once for each value that it went through, where a watched run or the text tells them."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Mapping, Sequence

from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.trees import DEFINITIONS, binds, inner_reads, position

MOST_ROUNDS = 8
LOOPS = (ast.For, ast.While, ast.AsyncFor)


def loops_out(loop: ast.For, facts: Facts) -> list[ast.stmt] | None:
    """The rounds one after the other; None where they are unknown, too many, or cut short by `break`."""
    items = items_of(loop.iter, facts)
    if items is None or len(items) > MOST_ROUNDS or _jumps(loop.body):
        return None
    rounds = [line for item in items for line in _round(loop, item)]
    return [*rounds, *loop.orelse]


def _round(loop: ast.For, item: ast.expr) -> list[ast.stmt]:
    names = _matched(loop.target, item)
    body = copy.deepcopy(loop.body)
    if names is None or names.keys() & binds(*body):
        return [ast.Assign([copy.deepcopy(loop.target)], copy.deepcopy(item), lineno=0), *body]
    plain = {name: value for name, value in names.items() if isinstance(value, (ast.Constant, ast.Name))}
    lines = [ast.Assign([ast.Name(name, ast.Store())], value, lineno=0) for name, value in names.items()]
    kept = [line for line, name in zip(lines, names, strict=True) if name not in plain or inner_reads(body, name)]
    return [*kept, *(_Putting(plain).visit(node) for node in body)]


def _matched(target: ast.expr, item: ast.expr) -> dict[str, ast.expr] | None:
    """Name -> value, where the target is taken apart as the item is written."""
    if isinstance(target, ast.Name):
        return {target.id: copy.deepcopy(item)}
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(item, (ast.Tuple, ast.List)):
        return None
    if len(target.elts) != len(item.elts):
        return None
    parts = [_matched(one, other) for one, other in zip(target.elts, item.elts, strict=True)]
    if any(part is None for part in parts):
        return None
    return {name: value for part in parts if part for name, value in part.items()}


def _jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether a `break` or `continue` of this loop is in it."""
    for node in body:
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        if isinstance(node, (*LOOPS, *DEFINITIONS)):
            continue
        if _jumps([part for part in ast.iter_child_nodes(node) if isinstance(part, (ast.stmt, ast.excepthandler))]):  # type: ignore[misc]
            return True
    return False


def items_of(node: ast.expr, facts: Facts) -> list[ast.expr] | None:
    """What iterating over an expression gives, as expressions; None where nothing tells."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return None if any(isinstance(one, ast.Starred) for one in node.elts) else list(node.elts)
    if isinstance(node, ast.Dict):
        return None if None in node.keys else [key for key in node.keys if key is not None]
    if isinstance(node, ast.Call):
        found = _of_call(node, facts)
        if found is not None:
            return found
    text = facts.steady.get(position(node)) if hasattr(node, "lineno") else None
    value = ast.parse(text, mode="eval").body if text else None
    return items_of(value, facts) if isinstance(value, (ast.List, ast.Tuple, ast.Dict, ast.Call)) else None


def _of_call(node: ast.Call, facts: Facts) -> list[ast.expr] | None:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
            return _of_range(args, facts)
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner], keywords=[]):
            items = items_of(inner, facts)
            return None if items is None else [_pair(ast.Constant(n), one) for n, one in enumerate(items)]
        case ast.Call(func=ast.Name(id="zip"), args=args):
            columns = [items_of(arg, facts) for arg in args]
            found = [column for column in columns if column is not None]
            return [_pair(*row) for row in zip(*found, strict=False)] if len(found) == len(args) else None
        case ast.Call(func=ast.Attribute(attr="product"), args=args, keywords=[]):
            columns = [items_of(arg, facts) for arg in args]
            found = [column for column in columns if column is not None]
            return [_pair(*row) for row in itertools.product(*found)] if len(found) == len(args) else None
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
            items = items_of(inner, facts)
            return None if items is None else items[::-1]
        case ast.Call(func=ast.Name(id="list" | "tuple" | "iter"), args=[inner]):
            return items_of(inner, facts)
        case ast.Call(func=ast.Attribute(value=inner, attr="items" | "values" | "keys" as kind), args=[]):
            return _of_dict(inner, kind, facts)
    return None


def _of_range(args: Sequence[ast.expr], facts: Facts) -> list[ast.expr] | None:
    texts = [facts.steady.get(position(arg)) if not isinstance(arg, ast.Constant) else repr(arg.value) for arg in args]
    if not all(text and text.lstrip("-").isdigit() for text in texts):
        return None
    numbers = range(*(int(text) for text in texts if text))
    return [ast.Constant(number) for number in numbers[: MOST_ROUNDS + 1]]


def _of_dict(node: ast.expr, kind: str, facts: Facts) -> list[ast.expr] | None:
    text = facts.steady.get(position(node))
    value = node if isinstance(node, ast.Dict) else ast.parse(text, mode="eval").body if text else None
    if not isinstance(value, ast.Dict) or None in value.keys:
        return None
    pairs = [(key, one) for key, one in zip(value.keys, value.values, strict=True) if key is not None]
    if kind == "items":
        return [_pair(key, one) for key, one in pairs]
    return [key if kind == "keys" else one for key, one in pairs]


def _pair(*parts: ast.expr) -> ast.expr:
    return ast.Tuple(list(parts), ast.Load())


class _Putting(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._values.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if value is None else copy.deepcopy(value)
