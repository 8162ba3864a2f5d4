"""Lists and tuples that are only taken apart again: `xs[0]` and `f(*xs)` as the names that stand in them."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Mapping, Sequence

Lists = Mapping[str, Sequence[ast.expr]]


def elements_out(tree: ast.Module) -> None:
    """In place, for what is bound once, to names that are bound once, and only read so."""
    lists = _lists(tree)
    reads = Counter(node.id for node in _names(tree) if isinstance(node.ctx, ast.Load))
    uses = Counter(_taken_apart(node) for node in ast.walk(tree))
    _Elements({name: items for name, items in lists.items() if reads[name] == uses[name]}).visit(tree)


def _names(tree: ast.Module) -> list[ast.Name]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _lists(tree: ast.Module) -> Lists:
    stores = Counter(node.id for node in _names(tree) if not isinstance(node.ctx, ast.Load))
    found: dict[str, Sequence[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=items) | ast.Tuple(elts=items)):
                if stores[name] == 1 and all(_is_steady(item, stores) for item in items):
                    found[name] = items
    return found


def _is_steady(item: ast.expr, stores: Counter[str]) -> bool:
    return isinstance(item, ast.Constant) or (isinstance(item, ast.Name) and stores[item.id] <= 1)


def _taken_apart(node: ast.AST) -> str:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int()), ctx=ast.Load()):
            return name
        case ast.Starred(value=ast.Name(id=name), ctx=ast.Load()):
            return name
    return ""


class _Elements(ast.NodeTransformer):
    def __init__(self, lists: Lists) -> None:
        self._lists = lists

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(place))) if name in self._lists:
                items = self._lists[name]
                return copy.deepcopy(items[place]) if 0 <= place < len(items) else node
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [part for arg in node.args for part in self._spread(arg)]
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        node.elts = [part for item in node.elts for part in self._spread(item)]
        return node

    def _spread(self, item: ast.expr) -> Sequence[ast.expr]:
        match item:
            case ast.Starred(value=ast.Name(id=name)) if name in self._lists:
                return copy.deepcopy(self._lists[name])
        return [item]
