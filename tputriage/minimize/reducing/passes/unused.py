"""What nothing reads, by libcst's scope analysis: imports, definitions, names and what `as` names.

The sweep that goes with each change counts a name in whatever scope it is met; here one that only another scope has
too is seen for unused. Names of a class body stay: an attribute may be asked for anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from libcst.metadata import Assignment, ClassScope

from tputriage.minimize.reducing.edits import New, Program, Site
from tputriage.minimize.reducing.passes import Pass


def unused(program: Program) -> Sequence[Sequence[Site]]:
    """In the order of the text: what only a later one reads goes when that is gone."""
    unread = list(_unread(program))
    sites = [*_imports(program, unread), *(site for _, node in unread for site in _others(program, node))]
    return [sorted(sites, key=lambda site: program.starts(site.changes[0][0]))]


def _unread(program: Program) -> Iterator[tuple[str, cst.CSTNode]]:
    """(name, what binds it)."""
    for scope in program.scopes:
        if not isinstance(scope, ClassScope):
            bound = (one for one in scope.assignments if isinstance(one, Assignment) and not one.references)
            yield from ((one.name, one.node) for one in bound)


def _imports(program: Program, unread: Sequence[tuple[str, cst.CSTNode]]) -> Iterator[Site]:
    """A site a statement: it goes where none of its names is read."""
    names = {(name, id(node)) for name, node in unread}
    imports: list[cst.Import | cst.ImportFrom] = [*program.of(cst.Import), *program.of(cst.ImportFrom)]
    for node in imports:
        aliases = [] if isinstance(node.names, cst.ImportStar) else list(node.names)
        unread_here = [one for one in aliases if (one.evaluated_alias or one.evaluated_name, id(node)) in names]
        if unread_here:
            yield Site.removing(node) if unread_here == aliases else Site.removing(*unread_here)


def _others(program: Program, node: cst.CSTNode) -> Iterator[Site]:
    match node, program.parent(node):
        case (cst.FunctionDef() | cst.ClassDef(), _):
            yield Site.removing(node)
        case cst.Name(), cst.AssignTarget() as target:
            assign = program.parent(target)
            if isinstance(assign, cst.Assign) and len(assign.targets) == 1:
                yield Site.removing(assign)
        case cst.Name(), cst.AsName() as named:
            yield Site(((_around(program, named), _unnamed),))


def _around(program: Program, named: cst.CSTNode) -> cst.CSTNode:
    around = program.parent(named)
    assert around is not None
    return around


def _unnamed(node: cst.WithItem | cst.ExceptHandler) -> New:
    """`with f() as x:` and `except E as error:` without the name."""
    part = "name" if isinstance(node, cst.ExceptHandler) else "asname"
    return node.with_changes(**{part: None})


PASSES = [Pass("drop unused names by scope", 12, unused)]
