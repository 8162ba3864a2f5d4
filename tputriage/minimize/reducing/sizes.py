"""How large a script is for its reader: a total order, and the figures that are told.

Static and quick, so that it can be asked for each candidate; never runs anything.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

IGNORED = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


@dataclass(frozen=True, slots=True, order=True)
class Size:
    """What makes one script smaller than another: the fields in their order."""

    statements: int
    names: int
    characters: int
    text: str


def parse(source: str) -> ast.Module | None:
    """The syntax tree, or None where the source is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "candidate", "exec", dont_inherit=True)
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            return None


@lru_cache(maxsize=64)  # the best so far is measured with each candidate
def size_of(source: str) -> Size | None:
    """None where the source does not compile."""
    tree = parse(source)
    if tree is None:
        return None
    statements = sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
    return Size(statements, len(mentions(tree)), len(source), source)


def is_smaller(source: str, other: str) -> bool:
    """Whether both compile, and the first is the smaller one."""
    size, than = size_of(source), size_of(other)
    return size is not None and than is not None and size < than


def tokens_of(source: str) -> int:
    """Tokens as a reader counts them: no comments, blank lines or indentation."""
    return sum(token.type not in IGNORED for token in tokenize.generate_tokens(io.StringIO(source).readline))


def mentions(tree: ast.AST) -> Counter[str]:
    """How often each identifier is met: names, attributes, parameters, definitions, imports."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        found.update(_identifiers(node))
    return found


def _identifiers(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
