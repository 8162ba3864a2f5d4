"""How a script is told its device: as its first argument, never by a change of its text.

While it is reduced a script says `sys.argv[1]` and nothing else, so that no pass can take the argument away and
leave the default; when it is written for people it says `sys.argv[1] if len(sys.argv) > 1 else "tpu"`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tputriage.minimize.names import ARGUMENT, ARGUMENTS
from tputriage.minimize.reducing.sizes import mentions, parse
from tputriage.minimize.reducing.sweeping import sweep
from tputriage.minimize.trees import is_argument, led_by, lines_of, must_lead


def argued(source: str, device: str) -> str | None:
    """The script with its device as an argument; None where it neither takes one nor names the device in one place."""
    tree = ast.parse(source)
    defaulted = [node for node in ast.walk(tree) if isinstance(node, ast.IfExp) and _is_defaulted(node)]
    if defaulted:
        return _replaced(source, tree, {defaulted[0]: ARGUMENT})
    given = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and is_argument(node)]
    if given:
        return source if ARGUMENT in source else _replaced(source, tree, dict.fromkeys(given, ARGUMENT))
    named = [node for node in _values(tree) if node.value == device]
    if len(named) != 1:
        return None
    return with_import(_replaced(source, tree, {named[0]: ARGUMENT}))


def _is_defaulted(node: ast.IfExp) -> bool:
    return is_argument(node.body) and ARGUMENTS in ast.unparse(node.test)


def _values(tree: ast.Module) -> list[ast.Constant]:
    """Constants in whose place any expression can stand: no docstring, no pattern, no part of an f-string's text."""
    fixed: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=parts):
                fixed.update(map(id, parts))
            case ast.Expr(value=value) | ast.MatchValue(value=value):
                fixed.add(id(value))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in fixed]


def defaulted(source: str, device: str) -> str:
    """The script as people run it: with the device where no argument is given."""
    tree = ast.parse(source)
    kept = {node.body for node in ast.walk(tree) if isinstance(node, ast.IfExp)}
    assigned = {node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    full = f'{ARGUMENT} if len(sys.argv) > 1 else "{device}"'
    found = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and is_argument(node) and node not in kept]
    return _replaced(source, tree, {node: full if node in assigned else f"({full})" for node in found})


def as_given(source: str, device: str, given: str) -> str:
    """The script told its device as the `given` one was: by its name, where that one has it in its text.

    The name stands where it is read, if that is one place: a line that only names it says nothing more. All else
    stays, whether something reads it or not: the oracle has answered for it as it is.
    """
    plain = argued(source, device) or source
    tree = ast.parse(plain)
    places = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and is_argument(node)]
    if any(map(is_argument, ast.walk(ast.parse(given)))) or len(places) != 1:
        return defaulted(source, device)
    return _by_name(_replaced(plain, tree, {places[0]: f'"{device}"'}), device)


def _by_name(source: str, device: str) -> str:
    """Without the line that only names the device, and without `import sys` where nothing else reads it."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    named = [node for node in nodes if isinstance(node, ast.Assign) and getattr(node.value, "value", None) == device]
    names = {target.id for node in named for target in node.targets if isinstance(target, ast.Name)}
    met = [node for node in nodes if isinstance(node, ast.Name) and node.id in names]
    reads = [node for node in met if isinstance(node.ctx, ast.Load)]
    once = len(names) == len(named) == len(reads) == 1 and mentions(tree)[reads[0].id] == 2
    return sweep(_replaced(source, tree, {reads[0]: f'"{device}"'}) if once else source, names={"sys", *names})


def with_import(source: str) -> str:
    """`import sys` before the first statement that is no import, where the script has none before that."""
    body = ast.parse(source).body
    leading = next((place for place, node in enumerate(body) if not _leads(node)), len(body))
    return source if any(_binds_sys(node) for node in body[:leading]) else led_by(source, "import sys")


def _leads(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) or must_lead(node)


def _binds_sys(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and any((name.asname or name.name) == "sys" == name.name for name in node.names)


def _replaced(source: str, tree: ast.Module, texts: Mapping[ast.expr, str]) -> str:
    """The source with other texts for these expressions of its tree; as it is where that makes no program.

    An f-string that holds some of them is written anew: there quotes end it, and places are wrong before Python 3.12.
    """
    strings = _strings(tree)
    held = {part: around for around in strings for part in ast.walk(around) if part in texts}
    edits = {node: text for node, text in texts.items() if node not in held}
    try:
        edits |= {around: ast.unparse(_Swapping(texts).visit(around)) for around in held.values()}
    except ValueError:  # a backslash that has no place in an f-string
        return source
    lines = [line.encode() for line in lines_of(source)]
    for node in sorted(edits, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = [head + edits[node].encode() + tail, *[b""] * (last - first)]
    replaced = b"".join(lines).decode()
    return replaced if parse(replaced) is not None else source


def _strings(tree: ast.Module) -> list[ast.JoinedStr]:
    """The f-strings that lie in no other."""
    found: list[ast.JoinedStr] = []
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):  # the outer ones first
        if isinstance(node, ast.JoinedStr) and node not in inside:
            inside.update(ast.walk(node))
            found.append(node)
    return found


class _Swapping(ast.NodeTransformer):
    """Puts other expressions for some."""

    def __init__(self, texts: Mapping[ast.expr, str]) -> None:
        self.texts = texts

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and node in self.texts:
            return ast.parse(self.texts[node], mode="eval").body
        new: ast.AST = super().visit(node)
        return new
