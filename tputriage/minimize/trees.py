"""Small questions about Python trees: where a node stands, which names it reads and binds, what is unused. Pure."""

from __future__ import annotations

import ast
import sys
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from typing import TypeAlias

Position: TypeAlias = tuple[int, int, int, int]  # line, column, end line, end column; columns in UTF-8 bytes
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
HIDDEN = (ast.Lambda, *COMPREHENSIONS)  # expressions that bind names of their own
NOWHERE: Position = (0, 0, 0, 0)
MOST_SWEEPS = 50
DEPTH = 10_000  # frames, few enough for the compiler, which shares the limit, on a stack of 8 MiB


@contextmanager
def deep() -> Iterator[None]:
    """Lets what follows trees go deeper: a sum of three hundred parts is written in a thousand calls of Python's."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def lines_of(source: str) -> list[str]:
    """Its lines with their ends, as Python counts them: a form feed or U+2028 in a string ends none."""
    return [line.decode() for line in source.encode().splitlines(keepends=True)]


def is_argument(node: ast.AST) -> bool:
    """Whether it reads the script's first argument, its device."""
    match node:
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id="sys"), attr="argv"), slice=ast.Constant(value=1), ctx=ast.Load()
        ):
            return True
    return False


def position(node: ast.expr | ast.stmt) -> Position:
    """NOWHERE for one that was made and not read, though it may have been given a line."""
    if not hasattr(node, "col_offset"):
        return NOWHERE
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def holds(node: ast.stmt, place: Position) -> bool:
    line, column, end_line, end_column = position(node)
    return position(node) != NOWHERE and (line, column) <= place[:2] and place[2:] <= (end_line, end_column)


def first_line(node: Definition) -> int:
    """Where a code object says that it starts: at its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def functions(tree: ast.AST) -> dict[int, Function]:
    """By first line."""
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {first_line(node): node for node in found}


def parameters(function: Function | ast.Lambda) -> set[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {part.arg for part in every if part is not None}


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The statement lists directly in a statement."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def path_to(body: Sequence[ast.stmt], place: Position) -> list[ast.stmt]:
    """Statements that hold the place, outermost first, not entering definitions."""
    for statement in body:
        if holds(statement, place):
            inner = [] if isinstance(statement, DEFINITIONS) else [path_to(part, place) for part in blocks(statement)]
            return [statement, *next((part for part in inner if part), [])]
    return []


def reads(*nodes: ast.AST) -> set[str]:
    names = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name))
    return {part.id for part in names if isinstance(part.ctx, ast.Load)}


def inner_reads(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether a function in the body reads the name later, when what it stands for may be another."""
    inner = [part for node in body for part in ast.walk(node) if isinstance(part, (*DEFINITIONS, ast.Lambda))]
    return any(isinstance(one, ast.Name) and one.id == name for part in inner for one in ast.walk(part))


def texts(node: ast.AST) -> set[str]:
    """The strings in it, and the names that they are paths of, since a name may be read by one."""
    found = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return found.union(*(text.split(".") for text in found if "." in text and text.replace(".", "").isidentifier()))


def binds(*nodes: ast.AST) -> set[str]:
    """Names that statements bind, those of definitions inside them left out."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, DEFINITIONS):
            found.add(node.name)
            continue
        found |= _bound_by(node)
        if not isinstance(node, HIDDEN):
            found |= binds(*ast.iter_child_nodes(node))
    return found


def _bound_by(node: ast.AST) -> set[str]:
    match node:
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {(alias.asname or alias.name).split(".")[0] for alias in aliases}
        case ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
            return {name}
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return {name}
    return set()


def free_name(*wishes: str, taken: Container[str]) -> str:
    """The first wish that is not taken, else the last one with a number."""
    numbered = (f"{wishes[-1]}_{number}" for number in count(2))
    return next(name for name in chain(wishes, numbered) if name not in taken)


def imported(tree: ast.Module) -> set[str]:
    """Names that the imports of a script's top level bind."""
    return {name for node in tree.body if isinstance(node, IMPORTS) for name in binds(node)}


def with_torch(text: str, body: Sequence[ast.stmt]) -> str:
    """The text led by `import torch`, where it needs that and the body does not bind the name."""
    return led_by(text, "import torch") if "torch." in text and "torch" not in binds(*body) else text


def led_by(source: str, line: str) -> str:
    """The script with that line, an import, before all that may follow one; as it is where nothing does."""
    node = next((node for node in ast.parse(source).body if not must_lead(node)), None)
    if node is None:
        return source
    lines = lines_of(source)
    first = first_line(node) if isinstance(node, DEFINITIONS) else node.lineno
    before, after = lines[: first - 1], lines[first - 1 :]
    if node.col_offset == 0:
        return "".join([*before, f"{line}\n", *after])
    shared = after[0].encode()
    head, tail = shared[: node.col_offset].decode(), shared[node.col_offset :].decode()
    return "".join([*before, head, f"{line}; ", tail, *after[1:]])


def must_lead(node: ast.stmt) -> bool:
    """Whether it loses its meaning behind an import: the docstring, and what is said to the compiler."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def swept(source: str, *, bold: bool = True) -> str:
    """Without imports, definitions and (where bold) assignments of names that nothing reads."""
    tree = ast.parse(source)
    for _ in range(MOST_SWEEPS):
        read = _mentions(tree)
        if not any(_sweep(block, read, bold) for block in _all_blocks(tree)):
            break
    return ast.unparse(ast.fix_missing_locations(tree))


def _all_blocks(tree: ast.Module) -> list[list[ast.stmt]]:
    """Those of a class left out, and what a `try` is to try: what it imports may not be there, which decides."""
    found = [node for node in ast.walk(tree) if not isinstance(node, ast.ClassDef)]
    return [block for node in found for block in filled(node) if not (isinstance(node, ast.Try) and block is node.body)]


def filled(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Its own statement lists that hold any; handlers and cases are nodes that have theirs."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield block


def _mentions(tree: ast.Module) -> set[str]:
    """Names that are read, whole or as a string, a definition's own reads of itself left out."""
    found: set[str] = set()
    for node in tree.body:
        found |= (reads(node) | texts(node)) - ({node.name} if isinstance(node, DEFINITIONS) else set())
        declared = (part for part in ast.walk(node) if isinstance(part, (ast.Global, ast.Nonlocal)))
        found |= {name for part in declared for name in part.names}
    return found | _noted(tree)


def _noted(tree: ast.Module) -> set[str]:
    """Classes built on one that is told of it."""
    kinds = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    told = {kind.name for kind in kinds if "__init_subclass__" in binds(*kind.body)}
    return {kind.name for kind in kinds if told & reads(*kind.bases)}


def _sweep(block: list[ast.stmt], read: set[str], bold: bool) -> bool:
    kept = [part for part in (_without_unused(node, read, bold) for node in block) if part is not None]
    changed = len(kept) != len(block) or any(one is not other for one, other in zip(kept, block, strict=True))
    if changed:
        block[:] = kept or [ast.Pass()]
    return changed


def _without_unused(node: ast.stmt, read: set[str], bold: bool) -> ast.stmt | None:
    if isinstance(node, IMPORTS):
        return import_left(node, read)
    if isinstance(node, DEFINITIONS):
        return node if node.name in read or (_does_something(node) and not bold) else None
    if bold and isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        plain = all(isinstance(target, ast.Name | ast.Tuple | ast.List) for target in targets)
        return node if not plain or binds(*targets) & read or _stores_elsewhere(targets) else None
    return node


def _does_something(node: Definition) -> bool:
    """Whether defining it may tell others of it: a decorator, or a base that notes its subclasses."""
    return bool(node.decorator_list or getattr(node, "keywords", ()))


def _stores_elsewhere(targets: Sequence[ast.expr]) -> bool:
    return any(isinstance(part, ast.Attribute | ast.Subscript) for target in targets for part in ast.walk(target))


def import_left(node: ast.Import | ast.ImportFrom, read: Container[str]) -> ast.Import | ast.ImportFrom | None:
    """The import without names that nothing reads: itself where all are read, None where none is."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return node
    kept = [alias for alias in node.names if alias.name == "*" or (alias.asname or alias.name).split(".")[0] in read]
    if len(kept) == len(node.names):
        return node
    if not kept:
        return None
    return ast.Import(kept) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, kept, node.level)
