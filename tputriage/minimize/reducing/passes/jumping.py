"""With a trace: start where it failed. The way there goes; the names it computed get the values they had.

The move that deleting cannot make: scaffolding is a chain of true dependencies, so none of its links can go alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from tputriage.minimize.names import unbound_names
from tputriage.minimize.reducing.binding import substituted
from tputriage.minimize.reducing.edits import Program, Site, walk
from tputriage.minimize.reducing.facts import FrameFacts
from tputriage.minimize.reducing.passes import Pass

MOST_OFFERS = 10
Lines = list[cst.BaseStatement]


def jumps(program: Program) -> Sequence[Sequence[Site]]:
    """Each frame of the traceback as the place to start from; the innermost first: it leaves the least before it."""
    assert program.facts is not None
    found: dict[str, Site] = {}
    for frame in reversed(program.facts.frames):
        for body in _starts(program, frame):
            site = _from_here(program, _without_self(body, frame.names.get("self", "")))
            text = program.with_changes([site])
            if text is not None and not unbound_names(text):
                found.setdefault(text, site)
    return [list(found.values())[:MOST_OFFERS]]


def _from_here(program: Program, body: Lines) -> Site:
    """The module's imports, definitions and values, then `body` in the place of all that it does."""
    kept = [node for node in program.module.body if not _acts(node)]
    return Site(((program.module, lambda new: new.with_changes(body=[*kept, *body])),))


def _without_self(body: Lines, text: str) -> Lines:
    """`self` by a name that says what it is, since there is no method around it: `tester` for `ModelTester()`."""
    if not text:
        return body
    words = re.findall(r"[A-Z][a-z]+", text.partition("(")[0])
    name = text if text.isidentifier() else words[-1].lower() if words else "one"
    found: Lines = [substituted(line, {"self": cst.Name(name)}) for line in body]
    return [line for line in found if not line.deep_equals(_assignment(name, name))]


def _acts(node: cst.BaseStatement | cst.SimpleStatementLine) -> bool:
    if isinstance(node, cst.SimpleStatementLine):
        return any(isinstance(small, (cst.Expr, cst.Raise, cst.Assert, cst.Del)) for small in node.body)
    return not isinstance(node, (cst.FunctionDef, cst.ClassDef))


def _starts(program: Program, frame: FrameFacts) -> Iterator[Lines]:
    node = next((one for one in reversed(_statements(program)) if program.starts(one) == frame.statement[:2]), None)
    around = [] if node is None else [node, *program.above(node)]
    function = next((one for one in around if isinstance(one, cst.FunctionDef)), None)
    if node is None or function is None or not isinstance(function.body, cst.IndentedBlock):
        return
    names = dict(frame.names)
    before = [one for one in function.body.body if program.starts(one) < program.starts(node)]
    outer = next(one for one in function.body.body if any(one is part for part in around))
    tail = [one for one in before if one is not outer]
    yield from _with_values(names, [], node)
    if isinstance(node, cst.SimpleStatementLine):
        held = next((one for one in around if isinstance(one, cst.With)), None)
        if held is not None and held is not outer:
            yield from _with_values(names, [], held)
    yield from _with_values(names, tail, outer)
    yield from _whole_body(names, function, [*tail, outer])


def _statements(program: Program) -> list[cst.BaseStatement]:
    return [node for node in program.nodes if isinstance(node, cst.BaseStatement)]


def _with_values(
    names: Mapping[str, str], before: Sequence[cst.BaseStatement], last: cst.BaseStatement
) -> Iterator[Lines]:
    """`last`, after what gives each name it reads a value: the recorded one, else the statements that bound it."""
    lines: Lines = [_plain(last)]
    needed, bound = _read(last), _bound(last)
    given = {name for name in needed if name in names}
    for statement in reversed(before):
        if _bound(statement) & (needed - given):
            lines.insert(0, statement)
            needed |= _read(statement)
            bound |= _bound(statement)
            given |= {name for name in _read(statement) if name in names and name not in _bound(statement)}
    yield [*(_assignment(name, names[name]) for name in names if name in given), *lines]


def _whole_body(
    names: Mapping[str, str], function: cst.FunctionDef, body: Sequence[cst.BaseStatement]
) -> Iterator[Lines]:
    parameters = [param.name.value for param in _parameters(function)]
    if all(name in names for name in parameters):
        yield [*(_assignment(name, names[name]) for name in parameters), *body[:-1], _plain(body[-1])]


def _parameters(function: cst.FunctionDef) -> list[cst.Param]:
    stars = [one for one in (function.params.star_arg, function.params.star_kwarg) if isinstance(one, cst.Param)]
    return [*function.params.posonly_params, *function.params.params, *function.params.kwonly_params, *stars]


def _assignment(name: str, text: str) -> cst.BaseStatement:
    found = cst.parse_statement(f"{name} = {text}\n")
    assert isinstance(found, cst.SimpleStatementLine)
    return found


def _plain(statement: cst.BaseStatement) -> cst.BaseStatement:
    """`return x` is `x` where there is no function around it."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Return(value=cst.BaseExpression() as value)]):
            return cst.SimpleStatementLine([cst.Expr(value)])
    return statement


def _read(node: cst.CSTNode) -> set[str]:
    return {one.value for one in walk(node) if isinstance(one, cst.Name)}


def _bound(node: cst.CSTNode) -> set[str]:
    """Names that a statement binds somewhere in it."""
    targets = [
        one.target for one in walk(node) if isinstance(one, (cst.AssignTarget, cst.For, cst.AnnAssign, cst.AugAssign))
    ]
    names = [one.asname.name for one in walk(node) if isinstance(one, cst.WithItem) and one.asname is not None]
    found = {part.value for target in [*targets, *names] for part in walk(target) if isinstance(part, cst.Name)}
    return found | {one.name.value for one in walk(node) if isinstance(one, (cst.FunctionDef, cst.ClassDef))}


PASSES = [Pass("start where it failed", 2, jumps, one=True, traced=True)]
