"""Statements that say the same with other names, changed alike: a script that compares two runs holds only then.

`x = a * 2 + f()` and, further down, `y = b * 2 + f()` become `x = a` and `y = b`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from tputriage.minimize.reducing.edits import Program, Site, walk
from tputriage.minimize.reducing.passes import Pass
from tputriage.minimize.reducing.passes.hoisting import parts

WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*")


def twins(program: Program) -> Sequence[Sequence[Site]]:
    """A group for statements of one shape."""
    own = {node.value for target in program.of(cst.AssignTarget) for node in walk(target) if isinstance(node, cst.Name)}
    alike: dict[str, list[Sequence[Site]]] = {}
    for group in parts(program):
        statement = program.statement(group[0].changes[0][0]) if group else None
        if isinstance(statement, cst.SimpleStatementLine):
            alike.setdefault(_shape(program, statement, own), []).append(group)
    return [_together(groups) for groups in alike.values() if len(groups) > 1]


def _shape(program: Program, statement: cst.CSTNode, own: set[str]) -> str:
    """Its text with the script's own names left out."""
    text = program.module.code_for_node(statement)
    return WORD.sub(lambda word: "_" if word[0] in own else word[0], text).strip()


def _together(groups: Sequence[Sequence[Site]]) -> list[Site]:
    return [Site(tuple(change for site in sites for change in site.changes)) for sites in zip(*groups, strict=False)]


PASSES = [Pass("statements alike to a part of them", 52, twins, whole=False)]
