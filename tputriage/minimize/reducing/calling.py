"""What a call gives each parameter of a function of the script, as expressions."""

from __future__ import annotations

import ast
import copy

from tputriage.minimize.names import name_of
from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.reducing.unrolling import items_of
from tputriage.minimize.trees import Function, position

CALLED = ("__call__", "forward")  # what runs when an object is called


def arguments(function: Function, call: ast.Call, owner: str, facts: Facts) -> dict[str, ast.expr] | None:
    """Parameter -> what the call gives it, in the order of the parameters; `owner` is the class of a method."""
    params = function.args
    names = [part.arg for part in (*params.posonlyargs, *params.args)]
    usual = dict(zip(reversed(names), reversed(params.defaults), strict=False))
    usual |= {part.arg: value for part, value in zip(params.kwonlyargs, params.kw_defaults, strict=True) if value}
    receiver = _given_first(call.func, function, owner) if owner else None
    if receiver is None and owner and not _is_static(function):
        return None
    spread = _spread(call, facts)
    if spread is None:
        return None
    positional = [*([receiver] if receiver is not None else []), *spread[0]]
    found: dict[str, ast.expr] = dict(zip(names, positional, strict=False))
    rest = positional[len(names) :]
    only = [part.arg for part in params.kwonlyargs]
    more = {name: value for name, value in spread[1].items() if name not in (*names, *only)}
    found |= {name: value for name, value in spread[1].items() if name not in more}
    if (rest and params.vararg is None) or (more and params.kwarg is None):
        return None
    found |= {name: copy.deepcopy(value) for name, value in usual.items() if name not in found}
    if params.vararg:
        found[params.vararg.arg] = ast.Tuple(rest, ast.Load())
    if params.kwarg:
        found[params.kwarg.arg] = ast.Dict([ast.Constant(name) for name in more], list(more.values()))
    return found if all(name in found for name in (*names, *only)) else None


def _spread(call: ast.Call, facts: Facts) -> tuple[list[ast.expr], dict[str, ast.expr]] | None:
    """The call's arguments with `*` and `**` written out; None where they cannot be."""
    positional: list[ast.expr] = []
    for arg in call.args:
        items = items_of(arg.value, facts) if isinstance(arg, ast.Starred) else [arg]
        if items is None:
            return None
        positional += items
    named: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        if keyword.arg is not None:
            named[keyword.arg] = keyword.value
            continue
        told = _dict_of(keyword.value, facts)
        if told is None:
            return None
        named |= told
    return positional, named


def _dict_of(node: ast.expr, facts: Facts) -> dict[str, ast.expr] | None:
    text = facts.steady.get(position(node))
    value = node if isinstance(node, ast.Dict) else ast.parse(text, mode="eval").body if text else None
    if not isinstance(value, ast.Dict):
        return None
    pairs = [(key.value, one) for key, one in zip(value.keys, value.values, strict=True) if _is_text(key)]  # type: ignore[union-attr]
    return {str(key): one for key, one in pairs} if len(pairs) == len(value.keys) else None


def _is_text(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _receiver(func: ast.expr, function: Function) -> ast.expr | None:
    """What `self` is: `x` of `x.f()` and of `getattr(x, name)()`; the object itself where it is called.

    None for a method that was held as a value: nothing says whose it is.
    """
    if isinstance(func, ast.Attribute) and func.attr == function.name:
        is_super = isinstance(func.value, ast.Call) and ast.unparse(func.value.func) == "super"
        return func.value.args[-1] if is_super and isinstance(func.value, ast.Call) else func.value
    if isinstance(func, ast.Call) and isinstance(func.func, ast.Name) and func.func.id == "getattr" and func.args:
        return func.args[0]
    return func if function.name in CALLED else None


def _given_first(func: ast.expr, function: Function, owner: str) -> ast.expr | None:
    """The object that a method is called on, or the class: the one it is called on, where that has a class's name."""
    if _is_static(function):
        return None
    if not any(ast.unparse(part) == "classmethod" for part in function.decorator_list):
        return _receiver(func, function)
    value = func.value if isinstance(func, ast.Attribute) else None
    named = isinstance(value, ast.Name) and value.id[:1].isupper()
    return value if named else ast.Name(owner, ast.Load())


def _is_static(function: Function) -> bool:
    return any(ast.unparse(part) == "staticmethod" for part in function.decorator_list)


def asks_again(result: ast.expr, function: str) -> bool:
    """Whether one of several ways to its result calls the function again: written out, it only gets longer."""
    ways = (part for part in ast.walk(result) if isinstance(part, (ast.IfExp, ast.BoolOp)))
    return any(isinstance(part, ast.expr) and name_of(part) == function for way in ways for part in ast.walk(way))
