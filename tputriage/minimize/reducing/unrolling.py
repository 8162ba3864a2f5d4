"""A loop written out: its body once for each value that it went through, where a watched run or the text tells them."""

from __future__ import annotations

import ast
import copy
import itertools
import math
from collections.abc import Mapping, Sequence, Set

from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.reducing.lists import PLAIN
from tputriage.minimize.reducing.renaming import assignment, last_name
from tputriage.minimize.trees import DEFINITIONS, binds, blocks, inner_reads, position, reads

MOST_ROUNDS = 8
FEW_ROUNDS = 2
ENDING_EARLY = frozenset({"next", "any", "all", "iter"})  # they may not ask for every value
PUT_IN = (ast.Constant, ast.Name, ast.Subscript)  # items that stand in the lines themselves
LOOPS = (ast.For, ast.While, ast.AsyncFor)


def loops_out(loop: ast.For, facts: Facts) -> list[ast.stmt] | None:
    """The rounds one after the other; None where they are unknown, too many, or cut short by `break`."""
    items = items_of(loop.iter, facts)
    if items is None or len(items) > MOST_ROUNDS or jumps(loop.body) or _only_counts(loop, items):
        return None
    if reads(*map(ast.Expr, [loop.iter, *items])) & _given_anew(loop.body):
        return None  # a later round would go through another object than the loop does
    rounds = [line for item in items for line in _round(loop, item)]
    return [*rounds, *(_last(loop.target, items[-1]) if items else ()), *loop.orelse]


class _Last(ast.Assign):
    """What a loop's name is left with: of use only where it is read behind the loop."""


def _last(target: ast.expr, item: ast.expr) -> list[ast.stmt]:
    names = _matched(target, item) or {}
    plain = {name: value for name, value in names.items() if isinstance(value, PUT_IN)}
    return [_Last([ast.Name(name, ast.Store())], copy.deepcopy(value), lineno=0) for name, value in plain.items()]


def settle(tree: ast.Module) -> None:
    """In place: what loops leave behind goes where nothing reads it, and else is a line like any other."""
    read = reads(tree)
    for block in [block for node in ast.walk(tree) for block in blocks(node)]:
        kept = [node for node in block if not isinstance(node, _Last) or binds(node) & read]
        lines = [ast.Assign(node.targets, node.value, lineno=0) if isinstance(node, _Last) else node for node in kept]
        block[:] = lines or ([ast.Pass()] if block else [])


def loops_all_out(body: list[ast.stmt], facts: Facts) -> list[ast.stmt]:
    """Loops that hold a `return` unrolled first, since only then is it at an end."""
    found: list[ast.stmt] = []
    for node in body:
        returns = isinstance(node, ast.For) and any(isinstance(part, ast.Return) for part in ast.walk(node))
        rounds = loops_out(node, facts) if returns and isinstance(node, ast.For) else None
        found += [node] if rounds is None else rounds
    return found


def _only_counts(loop: ast.For, items: Sequence[ast.expr]) -> bool:
    """Whether its rounds differ by a number only: one of them, or the loop itself, says it shorter."""
    counts = isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Name) and loop.iter.func.id == "range"
    leaves = any(isinstance(part, ast.Return) for part in ast.walk(loop))
    return counts and not leaves and len(items) > FEW_ROUNDS


def _round(loop: ast.For, item: ast.expr) -> list[ast.stmt]:
    names = _matched(loop.target, item)
    body = copy.deepcopy(loop.body)
    if names is None or names.keys() & binds(*body):
        return [ast.Assign([copy.deepcopy(loop.target)], copy.deepcopy(item), lineno=0), *body]
    plain = {name: value for name, value in names.items() if isinstance(value, PUT_IN)}
    lines = [assignment(name, value) for name, value in names.items()]
    kept = [line for line, name in zip(lines, names, strict=True) if name not in plain or inner_reads(body, name)]
    return [*kept, *(_Putting(plain).visit(node) for node in body)]


def _given_anew(body: Sequence[ast.stmt]) -> set[str]:
    """Names that the lines bind, or a part of which they set: `x`, and `xs` of `xs[0] = 1`."""
    parts = [part for line in body for part in ast.walk(line)]
    set_there = [part for part in parts if isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load)]
    return binds(*body) | {name for part in set_there for name in reads(ast.Expr(part.value))}


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


def jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether a `break` or `continue` of this loop is in it."""
    for node in body:
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        if isinstance(node, (*LOOPS, *DEFINITIONS)):
            continue
        if jumps([part for part in ast.iter_child_nodes(node) if isinstance(part, (ast.stmt, ast.excepthandler))]):  # type: ignore[misc]
            return True
    return False


def items_of(node: ast.expr, facts: Facts) -> list[ast.expr] | None:
    """What iterating over an expression gives, as expressions; None where nothing tells, or there are very many."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return None if any(isinstance(one, ast.Starred) for one in node.elts) else list(node.elts)
    if isinstance(node, ast.Dict):
        return None if None in node.keys else [key for key in node.keys if key is not None]
    if isinstance(node, ast.Call):
        found = _of_call(node, facts)
        if found is not None:
            return found
    text = facts.steady.get(position(node))
    value = ast.parse(text, mode="eval").body if text else None
    if isinstance(value, (ast.List, ast.Tuple)) and not _is_literal(value):
        return _by_place(node, len(value.elts))
    return items_of(value, facts) if isinstance(value, (ast.List, ast.Tuple, ast.Dict, ast.Call)) else None


def _is_literal(value: ast.expr) -> bool:
    """Whether writing it down again makes no other object that anyone could tell apart."""
    return not any(isinstance(part, ast.Call) for part in ast.walk(value))


def _by_place(node: ast.expr, count: int) -> list[ast.expr] | None:
    """`xs[0]`, `xs[1]`: the very objects."""
    if not all(isinstance(part, (ast.Name, ast.Attribute, ast.expr_context)) for part in ast.walk(node)):
        return None
    return [ast.Subscript(copy.deepcopy(node), ast.Constant(place), ast.Load()) for place in range(count)]


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
            few = len(found) == len(args) and math.prod(map(len, found)) <= MOST_ROUNDS
            return [_pair(*row) for row in itertools.product(*found)] if few else None
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
            items = items_of(inner, facts)
            return None if items is None else items[::-1]
        case ast.Call(func=ast.Name(id="list" | "tuple" | "iter"), args=[inner]):
            return items_of(inner, facts)
        case ast.Call(func=ast.Attribute(value=inner, attr="items" | "values" | "keys" as kind), args=[]):
            return _of_dict(inner, kind, facts)
    return None


class Rounds(ast.NodeTransformer):
    """`[f(x) for x in (a, b)]` as `[f(a), f(b)]`, where the script's own functions are called in it."""

    def __init__(self, facts: Facts, own: Set[str]) -> None:
        self._facts = facts
        self._own = own

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        self.generic_visit(node)
        return self._written_out(node) or node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        ends_early = isinstance(node.func, ast.Name) and node.func.id in ENDING_EARLY
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp) and not ends_early:
            node.args = [self._written_out(node.args[0]) or node.args[0]]
        return node

    def _written_out(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr | None:
        loop = node.generators[0]
        calls = [part for part in ast.walk(node.elt) if isinstance(part, ast.Call)]
        if len(node.generators) > 1 or loop.ifs or loop.is_async or not any(map(self._is_own, calls)):
            return None
        items = items_of(loop.iter, self._facts)
        if items is None or len(items) > MOST_ROUNDS:
            return None
        found = [_matched(loop.target, item) for item in items]
        if any(names is None or not all(isinstance(one, PLAIN) for one in names.values()) for names in found):
            return None
        return ast.List([_Putting(names or {}).visit(copy.deepcopy(node.elt)) for names in found], ast.Load())

    def _is_own(self, call: ast.Call) -> bool:
        return last_name(call.func) in self._own or position(call) in self._facts.calls


def _of_range(args: Sequence[ast.expr], facts: Facts) -> list[ast.expr] | None:
    texts = [facts.steady.get(position(arg)) if not isinstance(arg, ast.Constant) else repr(arg.value) for arg in args]
    given = [int(text) for text in texts if text and text.removeprefix("-").isdecimal()]
    if len(given) != len(args) or not 1 <= len(given) <= 3 or given[2:] == [0]:  # what `range` would refuse
        return None
    numbers = range(*given)
    return [ast.Constant(number) for number in numbers] if not numbers[MOST_ROUNDS:] else None


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
