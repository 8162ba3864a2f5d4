"""How large a script is, in the numbers that are reported: lines and tokens of code, and what it imports.

The header (the module's docstring), comments and blank lines are for the reader and do not count.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator

_SILENT = frozenset(
    {
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.COMMENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


def code_lines(source: str) -> int:
    """Lines that hold code."""
    lines: set[int] = set()
    for token in _code(source):
        lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def code_tokens(source: str) -> int:
    return sum(1 for _ in _code(source))


def third_party_imports(source: str) -> tuple[str, ...]:
    """Top-level packages outside the standard library, in the order they are first imported."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(alias.name.split(".")[0] for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found[node.module.split(".")[0]] = None
    return tuple(name for name in found if name not in sys.stdlib_module_names and name != "__future__")


def _code(source: str) -> Iterator[tokenize.TokenInfo]:
    first, last = _header(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _SILENT and not first <= token.start[0] <= last:
            yield token


def _header(source: str) -> tuple[int, int]:
    """First and last line of the module's docstring; an empty range where there is none."""
    body = ast.parse(source).body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        value = body[0].value
        if isinstance(value.value, str):
            return value.lineno, value.end_lineno or value.lineno
    return 1, 0
