"""How a script uses its own classes and functions: calls that do not fit them, attributes that they never get."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tputriage.minimize.trees import Function, binds

PROTOCOL = {"__enter__": 1, "__exit__": 4, "__len__": 1, "__iter__": 1, "__next__": 1}
ANY = frozenset({"setattr", "vars", "__dict__", "__getattr__", "__getattribute__", "__slots__", "globals", "exec"})


@dataclass(frozen=True)
class Own:
    """A script's classes that have only one another as bases, and its functions, by name; undecorated, bound once."""

    classes: Mapping[str, ast.ClassDef]
    functions: Mapping[str, Function]
    attributes: frozenset[str]  # all that any object is ever given; which object is of which class is not followed

    def maker(self, name: str, below: tuple[str, ...] = ()) -> Function | None:
        """`__init__` of a class, its own or the first base's; a class that stands on itself has none."""
        one = self.classes[name]
        own = next((node for node in one.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
        if own is not None:
            return own
        bases = (base.id for base in one.bases if isinstance(base, ast.Name) and base.id in self.classes)
        higher = (base for base in bases if base not in (name, *below))
        return next((found for base in higher if (found := self.maker(base, (name, *below)))), None)


def owned(tree: ast.Module) -> Own:
    """Whatever is decorated or bound twice is left out, and every class that has to do with a library's."""
    bound = Counter(_bound(tree))
    plain = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and bound[node.name] == 1]
    plain = [node for node in plain if not node.decorator_list]
    functions = {node.name: node for node in plain if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in plain if isinstance(node, ast.ClassDef) and not node.keywords}
    every = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    while strange := {name for node in every for name in _strangers(node, classes)}:
        classes = {name: node for name, node in classes.items() if name not in strange}
    return Own(classes, functions, frozenset(_attributes(tree)) | set(dir(object)))


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import() | ast.ImportFrom():
                yield from binds(node)


def _strangers(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> set[str]:
    """Names of `classes` that this class shows not to be the script's alone: its own, or those that it stands on."""
    bases = {base.id if isinstance(base, ast.Name) else "" for base in node.bases} - {"object"}
    if classes.get(node.name) is node and bases <= classes.keys():
        return set()
    return {node.name, *bases} & classes.keys()


def _attributes(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.ClassDef():
                yield from _bound(ast.Module(node.body, []))


def misfits(own: Own, tree: ast.Module) -> Iterator[str]:
    """In words."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for call in calls:
        assert isinstance(call.func, ast.Name)
        if _is_wrong(own, call.func.id, call):
            yield f"a call does not fit {call.func.id}: {ast.unparse(call)}"
    for node in own.classes.values():
        yield from _methods(node)
    if not ANY & _words(tree):
        yield from _missing(own, tree)


def _is_wrong(own: Own, name: str, call: ast.Call) -> bool:
    if name in own.functions:
        return not _fits(own.functions[name].args, call, 0)
    if name not in own.classes:
        return False
    maker = own.maker(name)
    return bool(call.args or call.keywords) if maker is None else not _fits(maker.args, call, 1)


def _fits(given: ast.arguments, call: ast.Call, first: int) -> bool:
    """Whether the call's arguments can be bound, the first few being bound already."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(part.arg is None for part in call.keywords):
        return True
    places = [part.arg for part in (*given.posonlyargs, *given.args)][first:]
    only = [part.arg for part in given.kwonlyargs]
    said = {part.arg for part in call.keywords if part.arg}
    if len(call.args) > len(places) and given.vararg is None:
        return False
    if said - {*places[len(call.args) :], *only} and given.kwarg is None:
        return False
    usual = places[len(places) - len(given.defaults) :] if given.defaults else []
    usual += [part.arg for part, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None]
    return not {*places[len(call.args) :], *only} - said - set(usual)


def _methods(node: ast.ClassDef) -> Iterator[str]:
    """Methods that do not take what Python itself gives them."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in PROTOCOL and method.args.vararg is None:
            places = len([*method.args.posonlyargs, *method.args.args])
            if not places - len(method.args.defaults) <= PROTOCOL[method.name] <= places:
                yield f"{node.name}.{method.name} takes {places}"


def _missing(own: Own, tree: ast.Module) -> Iterator[str]:
    """What is read of `self` in a class, or of a class just called, and what `with` needs."""
    for one in own.classes.values():
        for method in one.body:
            if isinstance(method, ast.FunctionDef) and not method.decorator_list and method.args.args:
                yield from _read_of(method, method.args.args[0].arg, own)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Call(func=ast.Name(id=name)), attr=attr) if name in own.classes:
                if attr not in own.attributes:
                    yield f"{name} has no {attr}"
            case ast.withitem(context_expr=ast.Call(func=ast.Name(id=name))) if name in own.classes:
                yield from (f"{name} has no {attr}" for attr in ("__enter__", "__exit__") if attr not in own.attributes)


def _read_of(method: ast.FunctionDef, name: str, own: Own) -> Iterator[str]:
    for node in ast.walk(method):
        match node:
            case ast.Attribute(value=ast.Name(id=one), attr=attr, ctx=ast.Load()) if one == name:
                if attr not in own.attributes:
                    yield f"{name} has no {attr}"


def _words(tree: ast.Module) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
