"""What a script says that must raise wherever it runs, told without a run: a good part of what passes propose.

Only what is certain counts, and only what the best so far does not say as well: a bug may be such an error itself,
and what never runs may say anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tputriage.minimize.names import GIVEN, unbound_names
from tputriage.minimize.reducing.own import misfits, owned
from tputriage.minimize.reducing.sizes import parse
from tputriage.minimize.trees import COMPREHENSIONS, DEFINITIONS, IMPORTS, Function, binds, deep, parameters

LITERALS = {ast.List: list, ast.Tuple: tuple, ast.Dict: dict, ast.Set: set, ast.JoinedStr: str}
LATER = (*IMPORTS, *COMPREHENSIONS, *DEFINITIONS, ast.Lambda, ast.Match)
BLOCKS = ("body", "orelse", "finalbody", "handlers")


@lru_cache(maxsize=64)  # the best so far is asked about with each candidate
def troubles(source: str) -> frozenset[str]:
    """In words; none where the source is no Python or goes too deep, or where a star import may bind anything."""
    tree = parse(source)
    if tree is None or "import *" in source:
        return frozenset()
    try:
        with deep():
            return _troubles(source, tree)
    except RecursionError:
        return frozenset()


def _troubles(source: str, tree: ast.Module) -> frozenset[str]:
    wrong = (told for node in ast.walk(tree) for told in _wrong(node))
    return frozenset({*unbound_names(source), *_early(tree), *wrong, *misfits(owned(tree), tree)})


def _early(tree: ast.Module) -> Iterator[str]:
    """Reads that come before what binds the name, in the module's own statements and in each function's."""
    declared = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    yield from _through(tree.body, {*GIVEN, *declared}, binds(*tree.body))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _through(node.body, parameters(node), binds(*node.body) - _elsewhere(node))


def _elsewhere(function: Function) -> set[str]:
    """Names that the function says are not its own."""
    said = (node for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)))
    return {name for node in said for name in node.names}


def _through(body: Sequence[ast.stmt], bound: set[str], own: set[str]) -> Iterator[str]:
    """In the order of the text; what any branch binds is bound from then on."""
    for node in body:
        early = (name for name in _read_at_once(node) if name in own and name not in bound)
        yield from (f"{name} is read too early" for name in early)
        bound |= binds(node)


def _read_at_once(node: ast.AST) -> Iterator[str]:
    """Names that a statement reads before it has bound any: not what functions and blocks in it read later."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    if isinstance(node, LATER):
        return
    for name, value in ast.iter_fields(node):
        if isinstance(node, (ast.stmt, ast.ExceptHandler)) and name in BLOCKS:
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from _read_at_once(part)


def _wrong(node: ast.AST) -> Iterator[str]:
    """What one node says that cannot be."""
    match node:
        case ast.Attribute(
            value=ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.JoinedStr() as value, attr=name
        ):
            if not hasattr(LITERALS[type(value)], name):
                yield f"a literal has no {name}"
        case ast.Attribute(value=ast.Constant(value=value), attr=name) if not hasattr(value, name):
            yield f"a literal has no {name}"
        case ast.Call(func=ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.JoinedStr() | ast.Constant()):
            yield f"a literal is called: {ast.unparse(node)}"
        case ast.Assert(test=ast.Constant(value=value)) if not value:
            yield "an assertion is false"
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values) | ast.List(elts=values)):
            starred = any(isinstance(part, ast.Starred) for part in (*names, *values))
            if not starred and len(names) != len(values):
                yield f"{len(values)} values for {ast.unparse(node)}"
