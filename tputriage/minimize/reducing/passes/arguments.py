"""Drops arguments, keywords, elements, entries, targets, bases, decorators, annotations, defaults, docstrings."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tputriage.minimize.reducing.edits import Program, Site, callee
from tputriage.minimize.reducing.passes import Pass


def call_arguments(program: Program) -> Sequence[Sequence[Site]]:
    return [
        [Site.removing(arg, kind=_kind(call, place)) for place, arg in enumerate(call.args)]
        for call in program.of(cst.Call)
        if call.args
    ]


def _kind(call: cst.Call, place: int) -> str:
    keyword = call.args[place].keyword
    return f"{callee(call)} without {keyword.value if keyword else place} of {len(call.args)}"


def elements(program: Program) -> Sequence[Sequence[Site]]:
    """Of lists, tuples, sets and dicts that are values; a tuple that is assigned to keeps its length."""
    targets = {id(target.target) for target in program.of(cst.AssignTarget)}
    holders = [node for node in program.of((cst.List, cst.Tuple, cst.Set, cst.Dict)) if id(node) not in targets]
    return [[Site.removing(element) for element in node.elements] for node in holders if node.elements]  # type: ignore[attr-defined]


def decorations(program: Program) -> Sequence[Sequence[Site]]:
    """What says something about a definition and seldom does anything."""
    found: list[Site] = [Site.removing(node) for node in program.of(cst.Decorator)]
    found += [Site.removing(arg) for node in program.of(cst.ClassDef) for arg in (*node.bases, *node.keywords)]
    found += [Site(((node, _without_default),)) for node in program.of(cst.Param) if node.default is not None]
    return [found] if found else []


def annotated(program: Program) -> Sequence[Sequence[Site]]:
    """Annotations of parameters, results and variables; a dataclass keeps those that are its fields."""
    found: list[Site] = []
    for node in program.of(cst.Annotation):
        parent = program.parent(node)
        if isinstance(parent, cst.AnnAssign):
            if parent.value is not None:
                found.append(Site(((parent, _plain_assignment),)))
        else:
            found.append(Site.removing(node))
    return [found] if found else []


def docstrings(program: Program) -> Sequence[Sequence[Site]]:
    """And any other string that stands as a statement."""
    found = [
        Site.removing(line)
        for line in program.of(cst.SimpleStatementLine)
        if all(isinstance(small, cst.Expr) and isinstance(small.value, cst.BaseString) for small in line.body)
    ]
    return [found] if found else []


def _without_default(param: cst.Param) -> cst.Param:
    return param.with_changes(default=None, equal=cst.MaybeSentinel.DEFAULT)


def _plain_assignment(node: cst.AnnAssign) -> cst.BaseSmallStatement:
    if node.value is None:
        return node
    return cst.Assign([cst.AssignTarget(node.target)], node.value)


PASSES = [
    Pass("drop docstrings", 10, docstrings),
    Pass("drop annotations", 41, annotated),
    Pass("drop decorators, bases and defaults", 40, decorations),
    Pass("drop arguments", 45, call_arguments),
    Pass("drop elements", 46, elements),
]
