"""Deletes statements, the outermost first; a definition also together with all that uses it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tputriage.minimize.reducing.edits import Program, Site
from tputriage.minimize.reducing.passes import Pass

Block = cst.Module | cst.IndentedBlock
Definition = cst.FunctionDef | cst.ClassDef


def blocks(program: Program) -> list[Block]:
    """Modules' and blocks' bodies, those that lie less deep first."""
    found = [node for node in program.nodes if isinstance(node, (cst.Module, cst.IndentedBlock))]
    return sorted(found, key=lambda block: sum(1 for _ in program.above(block)))


def statements(program: Program) -> Sequence[Sequence[Site]]:
    return [
        [Site.removing(statement) for statement in block.body if not _is_pass(statement)] for block in blocks(program)
    ]


def small_statements(program: Program) -> Sequence[Sequence[Site]]:
    """Of lines that hold several, `a; b`."""
    lines = [line for line in program.of(cst.SimpleStatementLine) if len(line.body) > 1]
    suites = [suite for suite in program.of(cst.SimpleStatementSuite) if len(suite.body) > 1]
    return [[Site.removing(small) for small in line.body] for line in [*lines, *suites]]


def definitions(program: Program) -> Sequence[Sequence[Site]]:
    """A function or class with every statement that mentions its name."""
    found = [node for node in program.nodes if isinstance(node, (cst.FunctionDef, cst.ClassDef))]
    return [[_with_uses(program, one) for one in found]]


def _with_uses(program: Program, definition: Definition) -> Site:
    name = definition.name.value
    used = [node for node in program.of(cst.Name) if node.value == name and node is not definition.name]
    found: dict[int, cst.CSTNode] = {id(definition): definition}
    for node in used:
        statement = program.statement(node)
        if isinstance(statement, cst.SimpleStatementLine):
            found[id(statement)] = statement
    return Site.removing(*found.values())


def _is_pass(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Pass()]):
            return True
    return False


PASSES = [
    Pass("delete statements", 6, statements),
    Pass("delete statements of a line", 7, small_statements),
    Pass("delete definitions with their uses", 8, definitions, whole=False),
]
