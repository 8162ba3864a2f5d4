"""Takes out what nothing reads: definitions, imports and plain values. Text in, text out; runs nothing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set

from tputriage.minimize.reducing.sizes import parse
from tputriage.minimize.trees import DEFINITIONS, IMPORTS, binds, filled, import_left, lines_of, texts

MOST_SWEEPS = 20  # each takes what only the one before it still used
PURE = (
    ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Lambda, ast.UnaryOp,
)  # fmt: skip

CONSTANT = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.expr_context)


def sweep(source: str, *, registered: bool = True, names: Set[str] | None = None) -> str:
    """The source without what nothing reads: no run can tell the difference, save where an import does something.

    And where a decorator or a base class notes what it is given: without `registered` such definitions stay. With
    `names` all stays that binds other ones.
    """
    for _ in range(MOST_SWEEPS):
        tree = parse(source)

        def goes(node: ast.stmt, left: str) -> bool:
            known = names is None or (bool(binds(node)) and _unbound(node, left) <= names)
            return known and (registered or not _is_noted(node))

        swept = _without(source, list(_dead(tree, goes)) if tree else [])
        if swept == source:
            return source
        source = swept
    return source


def _unbound(node: ast.stmt, left: str) -> set[str]:
    """Names that go with the statement where `left` stands in its place."""
    return binds(node) - binds(*ast.parse(left).body)


def _is_noted(node: ast.stmt) -> bool:
    """`@dataclass` notes nothing."""
    decorators = [ast.unparse(part).partition("(")[0] for part in getattr(node, "decorator_list", ())]
    return bool(getattr(node, "keywords", ())) or any(not text.endswith("dataclass") for text in decorators)


def loads(tree: ast.AST) -> Counter[str]:
    """How often each name is read, in whatever scope; a `global`, `del` or `+=` of it counts."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load() | ast.Del()):
                found[name] += 1
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
            case ast.AugAssign(target=ast.Name(id=name)):
                found[name] += 1
    return found


def is_pure(value: ast.expr) -> bool:
    """Whether evaluating it does nothing that anyone could miss."""
    return all(isinstance(node, PURE) for node in ast.walk(value) if isinstance(node, ast.expr))


def _dead(tree: ast.Module, goes: Callable[[ast.stmt, str], bool]) -> Iterator[tuple[ast.stmt, str]]:
    """Statements that can go, each with what is to stand in its place."""
    read = loads(tree)
    yield from (found for found in _uncalled(tree) if goes(*found))
    for block in _blocks(tree):
        unread = ((statement, _left_of(statement, read)) for statement in block)
        found = [(statement, left) for statement, left in unread if left is not None and goes(statement, left)]
        emptied = block is not tree.body and len(found) == len(block) and not any(left for _, left in found)
        yield from [(found[0][0], "pass"), *found[1:]] if emptied else found


def _uncalled(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Methods whose name is nowhere asked for, of classes that no library knows and so none calls."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    asked = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} | texts(tree)
    for node in classes.values():
        if not all(isinstance(base, ast.Name) and base.id in classes for base in node.bases):
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("__") and method.name not in asked:
                yield method, "" if method is not node.body[0] else "pass"


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Those of the module and of functions, not of classes: an attribute may be asked for anywhere."""
    found = (node for node in ast.walk(tree) if not isinstance(node, ast.ClassDef))
    return (block for node in found for block in filled(node))


def _left_of(statement: ast.stmt, read: Counter[str]) -> str | None:
    """None where the statement stays as it is."""
    if isinstance(statement, IMPORTS):
        left = import_left(statement, read)
        return None if left is statement else ast.unparse(left) if left is not None else ""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return "" if isinstance(statement.value.value, (int, float)) else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
        return "" if all(isinstance(part, CONSTANT) for part in ast.walk(statement.value)) else None
    if isinstance(statement, DEFINITIONS):
        return "" if read[statement.name] <= loads(statement)[statement.name] else None
    if isinstance(statement, ast.Assign) and is_pure(statement.value):
        names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        return "" if len(names) == len(statement.targets) and not any(read[name] for name in names) else None
    return None


def _without(source: str, dead: list[tuple[ast.stmt, str]]) -> str:
    """Whole lines only: a statement that shares its line with another stays."""
    lines: list[str | None] = [line.rstrip("\r\n") for line in lines_of(source)]
    for node, left in dead:
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
        last = node.end_lineno or node.lineno
        if any(line is None for line in lines[first - 1 : last]) or not _alone(lines, node):
            continue
        if not left:
            first -= _blank_before(lines, first)
        lines[first - 1 : last] = [" " * node.col_offset + left if left else None, *[None] * (last - first)]
    return "".join(f"{line}\n" for line in lines if line is not None)


def _blank_before(lines: Sequence[str | None], first: int) -> int:
    """How many empty lines stand before line `first`, where a statement begins, so that they lie in no string."""
    count = 0
    while count < first - 1 and not (lines[first - 2 - count] or "").strip():
        count += 1
    return count


def _alone(lines: Sequence[str | None], node: ast.stmt) -> bool:
    before = (lines[node.lineno - 1] or "").encode()[: node.col_offset].decode(errors="replace")
    after = (
        (lines[(node.end_lineno or node.lineno) - 1] or "")
        .encode()[node.end_col_offset or 0 :]
        .decode(errors="replace")
    )
    return not before.strip() and (not after.strip() or after.lstrip().startswith("#"))
