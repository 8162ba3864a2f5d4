"""An expression becomes a part of itself: `f(x)` is `x`, `x.m()` is `x`, `a + b` is `a`; `x = f()` is `f()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import libcst as cst

from tputriage.minimize.names import ARGUMENTS
from tputriage.minimize.reducing.edits import Program, Site, callee, root_of, walk
from tputriage.minimize.reducing.passes import Pass

Pick = Callable[[Any], cst.BaseExpression]


def parts(program: Program) -> Sequence[Sequence[Site]]:
    """By statement, outer expressions last; what a node offers stands in the order of its text."""
    groups: dict[int, list[Site]] = {}
    imported = program.imported
    for node in program.nodes:
        if (
            isinstance(node, cst.BaseExpression)
            and not _is_target(program, node)
            and not _is_name(program, node, imported)
        ):
            sites = [
                Site(((node, pick),), f"{_kind(node)} {place}") for place, pick in enumerate(_picks(node, imported))
            ]
            groups.setdefault(id(program.statement(node)), []).extend(reversed(sites))
    return [list(reversed(group)) for group in groups.values()]


def _is_target(program: Program, node: cst.CSTNode) -> bool:
    around = (node, *program.above(node))
    return any(isinstance(one, (cst.AssignTarget, cst.Decorator, cst.Annotation)) for one in around)


def _kind(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Call):
        return f"{callee(node)} of {len(node.args)}"
    word = getattr(node, "operator", None) or getattr(node, "attr", None)
    return f"{type(node).__name__} {getattr(word, 'value', type(word).__name__)}"


def _is_name(program: Program, node: cst.BaseExpression, imported: set[str]) -> bool:
    """Whether its parts mean nothing alone: `torch.nn.Linear`, the `x.m` of `x.m()`, and the device's argument."""
    parent = program.parent(node)
    if isinstance(parent, cst.Call) and parent.func is node and isinstance(node, cst.Attribute):
        return True
    text = program.module.code_for_node(node)
    return text.startswith(ARGUMENTS) or (isinstance(node, cst.Attribute) and root_of(node) in imported)


def _picks(node: cst.BaseExpression, imported: set[str]) -> Iterator[Pick]:
    """A module stands for nothing: `torch.nn.Linear(1, 1)` is no `torch.nn`."""
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and root_of(node.func) not in imported:
            yield lambda new: new.func.value
        yield from (partial(_argument, place=place) for place, arg in enumerate(node.args) if not arg.star)
    elif isinstance(node, (cst.Attribute, cst.Subscript)):
        yield lambda new: new.value
    elif isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        yield lambda new: new.left
        yield lambda new: new.right
    elif isinstance(node, cst.UnaryOperation):
        yield lambda new: new.expression
    elif isinstance(node, cst.IfExp):
        yield lambda new: new.body
        yield lambda new: new.orelse


def _argument(new: cst.Call, place: int) -> cst.BaseExpression:
    return new.args[place].value


def unread_targets(program: Program) -> Sequence[Sequence[Site]]:
    """`x = f()` and `with a as x:` where nothing reads x."""
    read = {node.value for node in program.of(cst.Name) if not _is_target(program, node)}
    sites = [
        Site(((node, lambda new: cst.Expr(new.value)),))
        for node in program.of(cst.Assign)
        if not {part.value for target in node.targets for part in walk(target) if isinstance(part, cst.Name)} & read
    ]
    items = [node for node in program.of(cst.WithItem) if node.asname is not None]
    sites += [Site(((node, lambda new: new.with_changes(asname=None)),)) for node in items]
    return [sites]


PASSES = [
    Pass("assignment to its value", 48, unread_targets),
    Pass("expression to a part of it", 50, parts, whole=False),
]
