"""A `with` or a loop over one of the script's own objects, as the lines that these would run around the body."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Protocol

from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.reducing.objects import Classes
from tputriage.minimize.reducing.renaming import assignment, is_manager, last_name
from tputriage.minimize.reducing.tails import assigned_tail, spliced
from tputriage.minimize.reducing.unrolling import jumps
from tputriage.minimize.trees import DEFINITIONS, Function, functions, holds, reads

Stack = tuple[Function, ...]
NOTHING = ast.Constant(None)


class Writer(Protocol):
    """What writes statements out."""

    tree: ast.Module
    facts: Facts
    classes: Classes | None

    def block(self, body: Sequence[ast.stmt], stack: Stack) -> list[ast.stmt]: ...

    def expanded(self, node: ast.stmt, stack: Stack) -> list[ast.stmt]: ...

    def bound(self, function: Function, call: ast.Call) -> tuple[list[ast.stmt], list[ast.stmt]] | None: ...

    def free(self, name: str) -> str: ...

    def called(self, asked: ast.Call | ast.Attribute) -> Function | None: ...


def context(line: Writer, node: ast.With, stack: Stack) -> list[ast.stmt] | None:
    """What the manager does before, the body, what it does after; None where it is not the script's own."""
    if len(node.items) > 1:
        inner = ast.copy_location(ast.With(node.items[1:], node.body), node)
        outer = ast.copy_location(ast.With(node.items[:1], [inner]), node)
        return line.block([outer], stack) if any(_is_own(line.tree, item.context_expr) for item in node.items) else None
    call = node.items[0].context_expr
    maker = _generator_manager(line.tree, call) if isinstance(call, ast.Call) else None
    if maker is not None and isinstance(call, ast.Call) and maker not in stack:
        bound = line.bound(maker, call)
        body = None if bound is None else spliced(bound[1], node.items[0].optional_vars, node.body)
        return None if body is None or bound is None else line.block([*bound[0], *body], (*stack, maker))
    return _object_manager(line, node, stack)


def collected(line: Writer, function: Function, call: ast.Call) -> tuple[list[ast.stmt], ast.expr] | None:
    """What a generator of the script yields, in a list."""
    bound = line.bound(function, call)
    items, item = line.free("items"), line.free("item")
    append = ast.parse(f"{items}.append({item})").body
    body = None if bound is None else spliced(bound[1], ast.Name(item, ast.Store()), append)
    if bound is None or body is None:
        return None
    return [assignment(items, ast.List([], ast.Load())), *bound[0], *body], ast.Name(items, ast.Load())


def _is_own(tree: ast.Module, manager: ast.expr) -> bool:
    return last_name(manager) in {node.name for node in ast.walk(tree) if isinstance(node, DEFINITIONS)}


def _generator_manager(tree: ast.Module, call: ast.Call) -> Function | None:
    """The one function of that name that `contextmanager` decorates."""
    named = [one for one in functions(tree).values() if one.name == last_name(call.func) and is_manager(one)]
    return named[0] if len(named) == 1 else None


def _object_manager(line: Writer, node: ast.With, stack: Stack) -> list[ast.stmt] | None:
    held = ast.Expr(copy.deepcopy(node.items[0].context_expr))
    before = line.expanded(held, stack) if line.classes is not None else []
    kind = line.classes.kind_of(held.value) if line.classes is not None else None
    if line.classes is None or kind is None:
        return None
    enter, leave = line.classes.method(kind, "__enter__"), line.classes.method(kind, "__exit__")
    if enter is None or leave is None or enter in stack:
        return None
    entered = line.bound(enter, _asked(held.value, "__enter__"))
    tail = None if entered is None else assigned_tail(entered[1], line.free("entered"))
    if entered is None or tail is None:
        return None
    target = node.items[0].optional_vars
    given: list[ast.stmt] = [] if target is None else [ast.Assign([target], tail[1], lineno=0)]
    after = _left(line, node, leave, held.value)
    if after is None:
        return None
    return [*before, *line.block([*entered[0], *tail[0], *given, *after], (*stack, enter, leave))]


def _left(line: Writer, node: ast.With, leave: Function, manager: ast.expr) -> list[ast.stmt] | None:
    """The body and what `__exit__` does then; it is told of an exception where it asks and one may pass by it."""
    told = {part.arg for part in leave.args.args[1:]} & reads(*leave.body)
    fails = any(holds(one, level.at) for level in line.facts.frames for one in node.body)
    error, body = line.free("error"), list(node.body)
    arguments: list[ast.expr] = [NOTHING, NOTHING, NOTHING]
    if told and not fails:
        caught = assignment(error, ast.Name(f"{error}_raised", ast.Load()))
        handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), f"{error}_raised", [caught])
        body = [assignment(error, NOTHING), ast.Try(body, [handler], [], [])]
        arguments = [ast.parse(f"{error} and type({error})", mode="eval").body, ast.Name(error, ast.Load()), NOTHING]
    bound = line.bound(leave, _asked(manager, "__exit__", *arguments))
    tail = None if bound is None else assigned_tail(bound[1], "")
    return None if bound is None or tail is None else [*body, *bound[0], *tail[0]]


def _asked(manager: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(copy.deepcopy(manager), name, ast.Load()), list(arguments), [])


def generated(line: Writer, loop: ast.For, stack: Stack) -> list[ast.stmt] | None:
    """`for x in f():` where f is a generator of the script: its lines, with the loop's body where it yields."""
    function = line.called(loop.iter) if isinstance(loop.iter, ast.Call) else None
    if function is None or function in stack or loop.orelse or jumps(loop.body) or not isinstance(loop.iter, ast.Call):
        return None
    bound = line.bound(function, loop.iter)
    body = None if bound is None else spliced(bound[1], loop.target, loop.body)
    return None if bound is None or body is None else line.block([*bound[0], *body], (*stack, function))
