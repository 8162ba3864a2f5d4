"""A call of the script's own function or method becomes that function's body; a name read once, what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import libcst as cst

from tputriage.minimize.names import ARGUMENTS
from tputriage.minimize.reducing.binding import bound_arguments, is_plain_body, substituted
from tputriage.minimize.reducing.edits import Program, Site, gone, walk
from tputriage.minimize.reducing.passes import Pass

LONGEST_LINE = 100
Small = cst.Expr | cst.Assign | cst.Return


def calls(program: Program) -> Sequence[Sequence[Site]]:
    """Those of which a statement consists; each of them is a group, with an offer for each function of that name."""
    found = []
    for line in program.of(cst.SimpleStatementLine):
        if len(line.body) == 1 and isinstance(line.body[0], (cst.Expr, cst.Assign, cst.Return)):
            small = line.body[0]
            if isinstance(small.value, cst.Call):
                found.append([site for body in _bodies(program, small, small.value) if (site := _put(line, body))])
    return found


def _put(line: cst.SimpleStatementLine, body: list[cst.BaseStatement]) -> Site:
    return Site.putting(line, cst.FlattenSentinel(body))


def _bodies(program: Program, small: Small, call: cst.Call) -> Iterator[list[cst.BaseStatement]]:
    for function in _called(program, call):
        if not is_plain_body(function):
            continue
        bound = bound_arguments(function, call)
        if bound is not None:
            yield [*bound.lines, *_body(function, small, bound.names)]


def _called(program: Program, call: cst.Call) -> list[cst.FunctionDef]:
    match call.func:
        case cst.Name(value=name):
            inside = False
        case cst.Attribute(attr=cst.Name(value=name)):
            inside = True
        case _:
            return []
    named = [node for node in program.of(cst.FunctionDef) if node.name.value == name]
    return [node for node in named if _is_method(program, node) == inside]


def _is_method(program: Program, node: cst.FunctionDef) -> bool:
    return any(isinstance(above, cst.ClassDef) for above in program.above(node))


def _body(function: cst.FunctionDef, small: Small, names: dict[str, cst.BaseExpression]) -> list[cst.BaseStatement]:
    """The statements, the result put where the call's result went."""
    names = dict(names)
    statements = list(function.body.body)
    last = statements[-1]
    result: cst.BaseExpression | None = None
    match last:
        case cst.SimpleStatementLine(body=[cst.Return(value=value)]):
            statements, result = statements[:-1], value
    match small, result:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]), cst.Name(value=local):
            names.setdefault(local, target)
    lines = [substituted(statement, names) for statement in statements]
    ending = _ending(small, substituted(result, names) if result is not None else None)
    return [
        line for line in [*lines, *ending] if isinstance(line, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    ]


def _ending(small: Small, result: cst.CSTNode | None) -> list[cst.BaseStatement]:
    if isinstance(small, cst.Expr):
        return [] if result is None else [cst.SimpleStatementLine([cst.Expr(result)])]  # type: ignore[arg-type]
    value = result or cst.Name("None")
    if isinstance(small, cst.Assign):
        target = small.targets[0].target
        if isinstance(target, cst.Name) and isinstance(value, cst.Name) and target.value == value.value:
            return []
    return [cst.SimpleStatementLine([small.with_changes(value=value)])]


def names_read_once(program: Program) -> Sequence[Sequence[Site]]:
    """`x = f(); g(x)` is `g(f())`, where the line stays short. The device's name stays: it is what people change."""
    uses: dict[str, list[cst.Name]] = {}
    for node in program.of(cst.Name):
        uses.setdefault(node.value, []).append(node)
    targets = Counter(
        part.value for one in program.of(cst.AssignTarget) for part in walk(one) if isinstance(part, cst.Name)
    )
    return [[site for line in program.of(cst.SimpleStatementLine) if (site := _moved(program, line, uses, targets))]]


def _moved(
    program: Program, line: cst.SimpleStatementLine, uses: dict[str, list[cst.Name]], targets: Counter[str]
) -> Site | None:
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)], value=value)]
        ):
            text = program.module.code_for_node(value)
            read = [node for node in uses[name.value] if node is not name]
            if len(read) != 1 or targets[name.value] != 1 or ARGUMENTS in text:
                return None
            around = program.statement(read[0])
            length = 0 if around is None else len(program.module.code_for_node(around).strip().splitlines()[0])
            if length + len(text) > LONGEST_LINE or isinstance(program.parent(read[0]), (cst.Param, cst.Attribute)):
                return _into_attribute(program, line, read[0], value, length + len(text))
            return Site(((line, gone), (read[0], lambda _: value)))
    return None


def _into_attribute(
    program: Program, line: cst.CSTNode, read: cst.Name, value: cst.BaseExpression, length: int
) -> Site | None:
    parent = program.parent(read)
    if length <= LONGEST_LINE and isinstance(parent, cst.Attribute) and parent.value is read:
        return Site(((line, gone), (read, lambda _: value)))
    return None


def spread(program: Program) -> Sequence[Sequence[Site]]:
    """`f(**{"a": 1})` is `f(a=1)`, `f(*(1, 2))` is `f(1, 2)`; also where a name holds the dict or tuple."""
    held = _held_once(program)
    sites = []
    for arg in program.of(cst.Arg):
        name = arg.value.value if arg.star and isinstance(arg.value, cst.Name) else ""
        written = arg.with_changes(value=held[name].value) if name in held else arg
        if parts := _spread(written):
            gone = Site.removing(held[name]).changes if name in held else ()
            sites.append(Site((*Site.putting(arg, cst.FlattenSentinel(parts)).changes, *gone)))
    return [sites] if sites else []


def _held_once(program: Program) -> dict[str, cst.Assign]:
    """Names that are bound once and read once, by the assignment that binds them."""
    counts = Counter(node.value for node in program.of(cst.Name))
    found: dict[str, cst.Assign] = {}
    for node in program.of(cst.Assign):
        match node.targets:
            case [cst.AssignTarget(target=cst.Name(value=name))] if counts[name] == 2:
                found[name] = node
    return found


def _spread(arg: cst.Arg) -> list[cst.Arg]:
    match arg:
        case cst.Arg(star="**", value=cst.Dict(elements=elements)):
            pairs = [(one.key, one.value) for one in elements if isinstance(one, cst.DictElement)]
            named = [(str(key.evaluated_value), value) for key, value in pairs if isinstance(key, cst.SimpleString)]
            if len(named) == len(elements) and all(name.isidentifier() for name, _ in named):
                plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
                return [cst.Arg(value, keyword=cst.Name(name), equal=plain) for name, value in named]
        case cst.Arg(star="*", value=cst.Tuple(elements=elements) | cst.List(elements=elements)):
            return [cst.Arg(one.value) for one in elements]
    return []


PASSES = [
    Pass("call to the function's body", 14, calls, one=True),
    Pass("keywords out of a dict", 16, spread),
    Pass("name to what it holds", 54, names_read_once, whole=False),
]
