"""A compound statement becomes its body, or one of its bodies; a loop's body runs once, for one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import libcst as cst

from tputriage.minimize.reducing.edits import Program, Site, gone
from tputriage.minimize.reducing.passes import Pass

HOLDING = (cst.If, cst.For, cst.While, cst.With, cst.Try)
Pick = Callable[[cst.CSTNode], cst.BaseSuite]
Pairs = list[tuple[cst.BaseExpression, cst.BaseExpression]]


def bodies(program: Program) -> Sequence[Sequence[Site]]:
    """Each block of a statement is an offer of its own; the one most often wanted comes last, as runs go backwards."""
    return [[site for node in program.of(HOLDING) for site in _offers(node)]]


def _offers(node: cst.CSTNode) -> Iterator[Site]:
    if isinstance(node, cst.Try):
        yield from (_offer(node, partial(_handler, place=place)) for place in range(len(node.handlers)))
        if node.finalbody is not None:
            yield _offer(node, lambda new: new.finalbody.body)  # type: ignore[attr-defined]
    if isinstance(node, (cst.If, cst.For, cst.While, cst.Try)) and isinstance(node.orelse, cst.Else):
        yield _offer(node, lambda new: new.orelse.body)  # type: ignore[attr-defined]
    yield _offer(node, lambda new: new.body)  # type: ignore[attr-defined]


def _handler(new: cst.CSTNode, place: int) -> cst.BaseSuite:
    assert isinstance(new, cst.Try)
    return new.handlers[place].body


def _offer(node: cst.CSTNode, pick: Pick) -> Site:
    def put(new: cst.CSTNode) -> cst.FlattenSentinel[cst.BaseStatement]:
        return cst.FlattenSentinel([*_binding(new), *_lines(pick(new))])

    return Site(((node, put),))


def _lines(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    if isinstance(block, cst.IndentedBlock):
        return list(block.body)
    assert isinstance(block, cst.SimpleStatementSuite)  # `if x: y`
    return [cst.SimpleStatementLine(block.body)]


def _binding(node: cst.CSTNode) -> list[cst.BaseStatement]:
    """What the statement bound for its body: a loop's first value, in one line."""
    if not isinstance(node, cst.For):
        return []
    pairs = _pairs(node.target, node.iter)
    if len(pairs) == 1:
        return _assign(*pairs[0])
    target = cst.Tuple([cst.Element(target) for target, _ in pairs], lpar=[], rpar=[])
    value = cst.Tuple([cst.Element(value) for _, value in pairs], lpar=[], rpar=[])
    return _assign(target, value)


def _pairs(target: cst.BaseExpression, iterated: cst.BaseExpression) -> Pairs:
    match iterated:
        case cst.List(elements=[*_, cst.Element(value=last)]) | cst.Tuple(elements=[*_, cst.Element(value=last)]):
            return [(target, last)]
        case cst.Call(func=cst.Name("range")):
            return [(target, cst.Integer("0"))]
        case cst.Call(func=cst.Name("enumerate"), args=[cst.Arg(value=inner), *_]) if isinstance(target, cst.Tuple):
            return [(target.elements[0].value, cst.Integer("0")), *_pairs(target.elements[1].value, inner)]
        case cst.Call(func=cst.Name("zip"), args=args) if isinstance(target, cst.Tuple):
            parts = zip(target.elements, args, strict=False)
            return [pair for part, arg in parts for pair in _pairs(part.value, arg.value)]
    return [(target, _first(iterated))]


def _first(iterated: cst.BaseExpression) -> cst.BaseExpression:
    if not isinstance(iterated, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return cst.Call(cst.Name("next"), [cst.Arg(cst.Call(cst.Name("iter"), [cst.Arg(iterated)]))])
    return cst.Subscript(iterated, [cst.SubscriptElement(cst.Index(cst.Integer("0")))])


def _assign(target: cst.BaseExpression, value: cst.BaseExpression) -> list[cst.BaseStatement]:
    if not isinstance(target, cst.BaseAssignTargetExpression):
        return []
    return [cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], value)])]


def definitions(program: Program) -> Sequence[Sequence[Site]]:
    """A class becomes its methods, a function its statements, and what uses the name goes: it would have none."""
    found: list[cst.ClassDef | cst.FunctionDef] = program.of((cst.ClassDef, cst.FunctionDef))
    return [[_dissolved(program, node) for node in found]]


def _dissolved(program: Program, node: cst.ClassDef | cst.FunctionDef) -> Site:
    uses = (one for one in program.of(cst.Name) if one.value == node.name.value and one is not node.name)
    lines = {id(line): line for one in uses if isinstance(line := program.statement(one), cst.SimpleStatementLine)}
    return Site((*_offer(node, lambda new: new.body).changes, *((line, gone) for line in lines.values())))  # type: ignore[attr-defined]


PASSES = [
    Pass("compound statement to its body", 30, bodies, whole=False),
    Pass("definition to its body", 38, definitions, whole=False),
]
