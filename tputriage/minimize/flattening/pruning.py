"""A flattened script without members of the suite's classes that nothing mentions, and what only they needed. Pure."""

from __future__ import annotations

import ast
from collections import Counter

from tputriage.minimize.trees import DEFINITIONS, reads, swept, texts

MOST_PRUNINGS = 30
BUILT_ON = frozenset({"object", "unittest.TestCase", "TestCase", "abc.ABC", "ABC", "Generic"})


def pruned(text: str, function: str) -> str:
    """`function` is the test's."""
    for _ in range(MOST_PRUNINGS):
        tree = ast.parse(text)
        mentioned = _mentioned(tree)
        own = {part.name for part in tree.body if isinstance(part, ast.ClassDef)}
        for node in [part for part in tree.body if isinstance(part, ast.ClassDef)]:
            _prune_class(node, own, mentioned, function)
        after = swept(ast.unparse(ast.fix_missing_locations(tree)), bold=False)
        if after == text:
            break
        text = after
    return text


def _prune_class(node: ast.ClassDef, own: set[str], mentioned: Counter[str], function: str) -> None:
    """What goes no longer counts in `mentioned`."""
    foreign = any(ast.unparse(base).split("[")[0] not in BUILT_ON | own for base in node.bases)
    gone: list[ast.stmt] = []
    kept: list[ast.stmt] = []
    for part in node.body:
        name = part.name if isinstance(part, DEFINITIONS) else ""
        test = name.startswith("test") and name != function
        hook = name.startswith("__") or (foreign and not test)
        (kept if not name or mentioned[name] > 0 or hook else gone).append(part)
    node.body[:] = kept or [ast.Pass()]
    for part in gone:
        mentioned.subtract(_inside(part))


def _mentioned(tree: ast.Module) -> Counter[str]:
    """How many members mention a name, as attribute, variable or string."""
    return Counter(name for node in _members(tree) for name in _inside(node))


def _inside(node: ast.AST) -> set[str]:
    """A method's own mentions of its name left out."""
    inside = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)} | reads(node) | texts(node)
    return inside - ({node.name} if isinstance(node, DEFINITIONS) and not _calls_super(node) else set())


def _members(tree: ast.Module) -> list[ast.AST]:
    found: list[ast.AST] = []
    for node in tree.body:
        found.extend([*node.body, *node.bases, *node.decorator_list] if isinstance(node, ast.ClassDef) else [node])
    return found


def _calls_super(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "super" for part in ast.walk(node))
