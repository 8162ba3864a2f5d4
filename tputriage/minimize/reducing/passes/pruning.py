"""With a trace: cut off what follows the failure, and drop what never ran.

The device stops at its failure and the reference goes on, so what only the reference needs would have to stay.
A `raise SystemExit(0)` behind the failing statement stops both; a later pass takes it out again where it can.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tputriage.minimize.reducing.edits import Program, Site, gone
from tputriage.minimize.reducing.facts import Place
from tputriage.minimize.reducing.passes import Pass

STOP = cst.parse_statement("raise SystemExit(0)\n")


def cuts(program: Program) -> Sequence[Sequence[Site]]:
    """The innermost failing statement first: it leaves the least behind it."""
    assert program.facts is not None
    unused = _never_ran(program)
    failing = [_statement_at(program, frame.at) for frame in reversed(program.facts.frames)]
    offers = [_cut(program, node, unused) for node in failing if node is not None and not _at_top(program, node)]
    plain = [Site(tuple((node, gone) for node in unused))] if unused else []
    return [[*offers, *plain]]


def never_ran(program: Program) -> Sequence[Sequence[Site]]:
    """One by one, where not all could go at once."""
    return [[Site.removing(node) for node in _never_ran(program)]]


def _never_ran(program: Program) -> list[cst.BaseStatement]:
    """Outermost ones only. Definitions and docstrings stay: they ran when they were defined."""
    assert program.facts is not None
    started = {place[:2] for place in program.facts.ran}
    found = [
        node
        for node in program.nodes
        if isinstance(node, cst.BaseStatement) and not _silent(node) and program.starts(node) not in started
    ]
    kept = {id(node) for node in found}
    return [node for node in found if not any(id(above) in kept for above in program.above(node))]


def _silent(node: cst.BaseStatement) -> bool:
    """Statements the trace does not announce, and those whose place differs from the one it tells."""
    match node:
        case cst.FunctionDef() | cst.ClassDef():
            return True
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.BaseString()), *_]):
            return True
        case cst.SimpleStatementLine(body=[cst.ImportFrom(module=cst.Name("__future__")), *_]):
            return True
    return False


def _statement_at(program: Program, place: Place) -> cst.BaseStatement | None:
    """The innermost statement that holds the place; libcst counts characters where Python counts bytes."""
    found = [node for node in program.nodes if isinstance(node, cst.BaseStatement) and _holds(program, node, place)]
    return found[-1] if found else None


def _holds(program: Program, node: cst.BaseStatement, place: Place) -> bool:
    around = program.places.get(id(node))
    return around is not None and around[:2] <= place[:2] and place[2:] <= around[2:]


def _at_top(program: Program, node: cst.CSTNode) -> bool:
    return not any(isinstance(above, cst.FunctionDef) for above in program.above(node))


def _cut(program: Program, node: cst.BaseStatement, unused: Sequence[cst.BaseStatement]) -> Site:
    stopped = (node, lambda new: cst.FlattenSentinel([new, STOP]))
    return Site((stopped, *((one, gone) for one in unused if one is not node)))


PASSES = [
    Pass("cut off after the failure", 1, cuts, one=True, traced=True),
    Pass("drop what never ran", 4, never_ran, traced=True),
]
