"""Objects that are only there to hold attributes: `x.a` as `a`, and what nothing reads left out."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from tputriage.minimize.reducing.objects import EMPTY, KEPT_ROOTS
from tputriage.minimize.reducing.renaming import last_name
from tputriage.minimize.reducing.sweeping import is_pure
from tputriage.minimize.trees import DEFINITIONS, blocks, free_name, reads, texts


def unread_out(tree: ast.Module) -> None:
    """In place: without attributes given to such objects that nothing in the script asks for."""
    objects = {name for name, kind in _empties(tree.body) if kind == EMPTY}
    asked = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    asked |= texts(tree)
    added = [node.target for node in ast.walk(tree) if isinstance(node, ast.AugAssign)]
    asked |= {target.attr for target in added if isinstance(target, ast.Attribute)}
    read = reads(tree)
    for node in ast.walk(tree):
        for block in blocks(node):
            kept = [
                line for line in block if not _is_unread(line, objects, asked) and not _is_idle(line, objects, read)
            ]
            block[:] = kept or ([ast.Pass()] if block else [])


def _is_unread(line: ast.stmt, objects: set[str], asked: set[str]) -> bool:
    match line:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attribute)], value=value):
            return name in objects and attribute not in asked and is_pure(value)
    return False


def _is_idle(line: ast.stmt, objects: set[str], read: set[str]) -> bool:
    match line:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
            return name in objects and name not in read
    return False


def named_attributes(tree: ast.Module) -> None:
    """In place: `x.a` as `a`, for objects of which nothing is used but attributes that the script gave them."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = {node.id for node in names} | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    used |= set(dir(builtins))
    for name, kind in _empties(tree.body):
        found = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
        ]
        stored = {node.attr for node in found if isinstance(node.ctx, ast.Store)}
        bare = sum(node.id == name for node in names) - len(found)
        if bare != 1 or not stored or _stored_later(tree, name):
            continue
        if kind != "TestCase" and any(node.attr not in stored for node in found):
            continue
        new: dict[str, str] = {}
        for attribute in sorted(stored):
            wishes = (attribute.lstrip("_") or attribute, f"{name}_{attribute}")
            new[attribute] = free_name(*wishes, taken=used | set(new.values()))
        used |= set(new.values())
        _Attributes(name, new, gone=kind != "TestCase").visit(tree)


def _empties(body: Sequence[ast.stmt]) -> list[tuple[str, str]]:
    """Names of what is made empty in the script's own lines, each with its kind."""
    found = []
    for node in body:
        for part in ast.walk(node) if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ():
            match part:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[], keywords=[])):
                    found += [(name, last_name(func))] if last_name(func) in {EMPTY, *KEPT_ROOTS} else []
    return found


def _stored_later(tree: ast.Module, name: str) -> bool:
    """Whether a function sets one of its attributes, which a plain name would be local to."""
    inner = [node for node in ast.walk(tree) if isinstance(node, DEFINITIONS)]
    return any(
        isinstance(part, ast.Attribute)
        and isinstance(part.ctx, ast.Store)
        and isinstance(part.value, ast.Name)
        and part.value.id == name
        for node in inner
        for part in ast.walk(node)
    )


class _Attributes(ast.NodeTransformer):
    def __init__(self, name: str, new: dict[str, str], *, gone: bool) -> None:
        self._gone = gone
        self._name = name
        self._new = new

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name == self._name and self._gone:
                return ast.Pass()
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self._name and node.attr in self._new:
            return ast.Name(self._new[node.attr], node.ctx)
        return self.generic_visit(node)
