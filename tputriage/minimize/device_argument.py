"""How a script is told its device: as its first argument, never by a change of its text.

While it is reduced a script says `sys.argv[1]` and nothing else, so that no pass can take the argument away and
leave the default; when it is written for people it says `sys.argv[1] if len(sys.argv) > 1 else "tpu"`.
"""

from __future__ import annotations

import ast

from tputriage.minimize.names import ARGUMENT
from tputriage.minimize.reducing.sweeping import sweep


def argued(source: str, device: str) -> str | None:
    """The script with its device as an argument; None where it neither takes one nor names the device in one place."""
    tree = ast.parse(source)
    defaulted = [node for node in ast.walk(tree) if isinstance(node, ast.IfExp) and _is_argument(node.body)]
    if defaulted:
        return _replaced(source, defaulted[0], ARGUMENT)
    if any(_is_argument(node) for node in ast.walk(tree)):
        return source
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == device]
    if len(named) != 1:
        return None
    return with_import(_replaced(source, named[0], ARGUMENT))


def defaulted(source: str, device: str) -> str:
    """The script as people run it: with the device where no argument is given."""
    tree = ast.parse(source)
    arguments = [node for node in ast.walk(tree) if _is_argument(node)]
    kept = {id(node.body) for node in ast.walk(tree) if isinstance(node, ast.IfExp)}
    assigned = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    full = f'{ARGUMENT} if len(sys.argv) > 1 else "{device}"'
    for node in reversed(sorted(arguments, key=lambda node: (node.lineno, node.col_offset))):  # type: ignore[attr-defined]
        if id(node) not in kept:
            source = _replaced(source, node, full if id(node) in assigned else f"({full})")
    return source


def as_given(source: str, device: str, given: str) -> str:
    """The script told its device as the `given` one was: by its name, where that one has it in its text.

    The name stands where it is read, if that is one place: a line that only names it says nothing more.
    """
    plain = argued(source, device) or source
    places = [node for node in ast.walk(ast.parse(plain)) if _is_argument(node)]
    if ARGUMENT in given or len(places) != 1:
        return defaulted(source, device)
    return sweep(_where_it_is_read(_replaced(plain, places[0], f'"{device}"'), device))


def _where_it_is_read(source: str, device: str) -> str:
    nodes = list(ast.walk(ast.parse(source)))
    named = [node for node in nodes if isinstance(node, ast.Assign) and getattr(node.value, "value", None) == device]
    names = {target.id for node in named for target in node.targets if isinstance(target, ast.Name)}
    met = [node for node in nodes if isinstance(node, ast.Name) and node.id in names]
    reads = [node for node in met if isinstance(node.ctx, ast.Load)]
    once = len(names) == len(named) == len(reads) == 1 and len(met) == 2
    return _replaced(source, reads[0], f'"{device}"') if once else source


def with_import(source: str) -> str:
    """`import sys` before the first other import, where the script has none."""
    tree = ast.parse(source)
    if any(isinstance(node, ast.Import) and any(name.name == "sys" for name in node.names) for node in tree.body):
        return source
    lines = source.splitlines(keepends=True)
    first = next((node.lineno for node in tree.body if not _must_lead(node)), 1)
    return "".join([*lines[: first - 1], "import sys\n", *lines[first - 1 :]])


def _must_lead(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_argument(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node) == ARGUMENT


def _replaced(source: str, node: ast.AST, text: str) -> str:
    """Columns of `ast` count bytes."""
    assert isinstance(node, ast.expr)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    head = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    tail = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (head + text.encode() + tail).decode()
