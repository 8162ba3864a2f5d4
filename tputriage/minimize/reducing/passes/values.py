"""With a trace: an expression becomes the value it had, where that is shorter or leads to fewer names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tputriage.minimize.names import ARGUMENTS
from tputriage.minimize.reducing.edits import Program, Site
from tputriage.minimize.reducing.passes import Pass


def recorded(program: Program) -> Sequence[Sequence[Site]]:
    """By statement; in each the widest expressions stand last, as they are tried first."""
    assert program.facts is not None
    groups: dict[int, list[tuple[int, Site]]] = {}
    for node, text in _told(program):
        statement = program.statement(node)
        depth = sum(1 for _ in program.above(node))
        groups.setdefault(id(statement), []).append((-depth, _site(node, text)))
    return [[site for _, site in sorted(group, key=lambda pair: pair[0])] for group in groups.values()]


def _told(program: Program) -> Iterator[tuple[cst.BaseExpression, str]]:
    assert program.facts is not None
    for node in program.nodes:
        if not isinstance(node, cst.BaseExpression) or isinstance(program.parent(node), cst.Expr):
            continue
        text = program.facts.values.get(program.places.get(id(node), (0, 0, 0, 0)))
        code = program.module.code_for_node(node)
        if text is not None and text != code and ARGUMENTS not in code:
            yield node, text


def _site(node: cst.BaseExpression, text: str) -> Site:
    return Site.putting(node, cst.parse_expression(text))


PASSES = [Pass("expression to the value it had", 26, recorded, whole=True, traced=True)]
