"""A reduced script made to read as if it had been written: spacing, quotes, empty lines. Its tree stays the same."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize

from tputriage.minimize.trees import DEFINITIONS, IMPORTS, deep

TUPLE = re.compile(r"^(\s*)\(([^()]+)\) = ", re.MULTILINE)


def tidy(source: str) -> str:
    """The same program; the source itself where it is none, or too deep to be written. Comments do not survive."""
    try:
        with deep():
            return _tidied(source)
    except (SyntaxError, RecursionError):
        return source


def _tidied(source: str) -> str:
    tree = ast.parse(source)
    parts, before = [], None
    for node in tree.body:
        if before is not None:
            parts.append("\n" * _gap(before, node))
        parts.append(_double_quoted(ast.unparse(node)) + "\n")
        before = node
    text = TUPLE.sub(r"\1\2 = ", "".join(parts))
    return text if ast.dump(ast.parse(text)) == ast.dump(tree) else source


def _gap(before: ast.stmt, node: ast.stmt) -> int:
    """Empty lines between two statements."""
    if isinstance(before, DEFINITIONS) or isinstance(node, DEFINITIONS):
        return 2
    if isinstance(before, IMPORTS) and isinstance(node, IMPORTS):
        return int(_is_standard(before) and not _is_standard(node))
    return int(isinstance(before, IMPORTS))


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether all of it is of Python's own library, which stands in a block of its own."""
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return all(name.partition(".")[0] in sys.stdlib_module_names for name in names)


def _double_quoted(text: str) -> str:
    """`'a'` as `"a"`, where nothing in it needs the one or the other."""
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        plain = token.type == tokenize.STRING and re.fullmatch(r"'[^'\"\\\n{}]*'", token.string)
        if plain and token.start[0] == token.end[0]:
            line, start, end = token.start[0] - 1, token.start[1], token.end[1]
            lines[line] = f'{lines[line][:start]}"{token.string[1:-1]}"{lines[line][end:]}'
    return "".join(lines)
