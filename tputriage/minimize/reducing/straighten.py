"""From one traced run: what ran, in the order it ran, as one straight script.

Cut off after the failing statement on both devices; without what never ran; the calls on the way to the failure
inlined; calls and attributes replaced by the value they had. Each proposal is a whole script; the oracle decides.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tputriage.minimize.reducing.facts import Facts, FrameFacts
from tputriage.minimize.reducing.linear import linear
from tputriage.minimize.reducing.propagating import flattened, propagated
from tputriage.minimize.reducing.scaffold import Place, Valued, bare, places, sliced
from tputriage.minimize.reducing.unrun import STOP, prune
from tputriage.minimize.trees import Function, binds, blocks, free_name, parameters, position, reads, swept, with_torch

ANY = (ast.Call, ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare, ast.IfExp)
LONGEST_LITERAL = 60
NUMBERS = frozenset({"item", "tolist", "numpy", "all", "any", "equal", "allclose", "argmax", "sum", "max", "min"})


def lines(source: str, facts: Facts) -> Iterator[str]:
    """The script as a straight line: all of it, else the way to the failure."""
    for choose in (True, False):
        opened = linear(source, facts, objects=True, choose=choose)
        if opened is not None:
            yield flattened(opened)
            yield flattened(opened, bold=False)
    for found in (linear(source, facts), straightened(source, facts)):
        if found is not None:
            yield swept(found)
            yield swept(found, bold=False)


def proposals(source: str, facts: Facts) -> Iterator[str]:
    """Smaller scripts, the boldest first."""
    yield propagated(swept(with_literals(source, facts)))
    yield flattened(source)
    yield from sliced(source, facts)
    for cut in (True, False):
        text = pruned(source, facts, cut=cut)
        yield swept(text, bold=False)
        yield text
    for kinds in ((ast.Call, ast.Attribute), (ast.Call,), (ast.Attribute,)):
        yield swept(valued(source, facts, kinds))
    for depth in range(1, len(facts.frames)):
        straight = straightened(source, facts, depth)
        if straight is not None:
            yield swept(straight, bold=False)


def pruned(source: str, facts: Facts, *, cut: bool) -> str:
    """Without statements that never ran, and left right after the failing one."""
    tree = ast.parse(source)
    if cut:
        _cut(tree, facts)
    prune(tree.body, facts)
    return ast.unparse(ast.fix_missing_locations(tree))


def _cut(tree: ast.Module, facts: Facts) -> None:
    """Both devices stop there: the reference must not need what the device never reached."""
    levels = places(tree, facts)
    if not levels:
        return
    last = levels[-1]
    owner = last.path[-2] if len(last.path) > 1 else None
    for block in blocks(owner) if owner else [last.body]:
        if last.path[-1] in block:
            after = block.index(last.path[-1]) + 1
            block[after:] = ast.parse(STOP).body


def with_literals(source: str, facts: Facts) -> str:
    """Expressions whose one value is plain replaced by it, those aside that a tensor's numbers decided."""
    tree = ast.parse(source)
    plain = {place: text for place, text in facts.steady.items() if _is_literal(text)}
    return ast.unparse(ast.fix_missing_locations(_Literal(plain, ANY).visit(tree)))


def _is_literal(text: str) -> bool:
    """And what the script itself has a name for: its device, its classes."""
    if text.isidentifier():
        return True
    if "[" in text or "{" in text:
        return False  # one object that may be changed is not another
    try:
        ast.literal_eval(text)
    except ValueError:
        return False
    return len(text) <= LONGEST_LITERAL


class _Literal(Valued):
    """Leaves what reads a tensor's numbers: the device's may be the wrong ones."""

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.Assert, ast.Raise, ast.JoinedStr)):
            return node
        if isinstance(node, ast.expr) and any(
            isinstance(part, ast.Attribute) and part.attr in NUMBERS for part in ast.walk(node)
        ):
            return ast.NodeTransformer.generic_visit(self, node)
        return super().visit(node)


def valued(source: str, facts: Facts, kinds: tuple[type[ast.expr], ...]) -> str:
    """Calls and attributes replaced by the one value that they had."""
    tree: ast.Module = Valued(facts.steady, kinds).visit(ast.parse(source))
    text = ast.unparse(ast.fix_missing_locations(tree))
    return with_torch(text, tree.body)


def straightened(source: str, facts: Facts, depth: int | None = None) -> str | None:
    """The calls on the way to the failure inlined, the first `depth` of them; None where one cannot be."""
    tree = ast.parse(source)
    prune(tree.body, facts)
    levels = places(tree, facts)
    if len(levels) < 2 or levels[0].function is not None:
        return None
    kept = levels if depth is None else levels[: depth + 1]
    inner: list[ast.stmt] = [bare(kept[-1].path[-1])]
    for caller, place in zip(reversed(kept[:-1]), reversed(kept[1:]), strict=True):
        texts = _bound(caller, place, tree)
        if texts is None:
            return None
        new = _new_names(texts, place, binds(*tree.body))
        lead = [_Renamed(new).visit(copy.deepcopy(node)) for node in _lead(place.body, place.path, inner, place.level)]
        inner = [*_assigned(texts, new), *lead]
    text = ast.unparse(ast.fix_missing_locations(ast.Module(_lead(tree.body, kept[0].path, inner, kept[0].level), [])))
    return with_torch(text, tree.body)


def _lead(body: list[ast.stmt], path: Sequence[ast.stmt], inner: list[ast.stmt], level: FrameFacts) -> list[ast.stmt]:
    """What runs before the last statement of the path, then `inner` in its place."""
    head = [node for node in body[: body.index(path[0])] if not isinstance(node, ast.Return)]
    if len(path) == 1:
        return [*head, *inner]
    node = path[0]
    block = next(block for block in blocks(node) if path[1] in block)
    rest = _lead(block, path[1:], inner, level)
    if isinstance(node, ast.With):
        return [*head, ast.With(items=node.items, body=rest)]
    return [*head, *(_round(node, level) if isinstance(node, ast.For) else []), *rest]


def _round(loop: ast.For, level: FrameFacts) -> list[ast.stmt]:
    """The loop's name as it was in the round that failed."""
    target = ast.unparse(loop.target)
    text = level.values.get(target, f"next(iter({ast.unparse(loop.iter)}))")
    return ast.parse(f"{target} = {text}").body


def _bound(caller: Place, callee: Place, tree: ast.Module) -> dict[str, str] | None:
    """The callee's parameters by what the call says, else by the values they had; None where neither is known.

    A key may be several parameters with commas between, for a call with `*expression`.
    """
    function = callee.function
    nodes = (node for node in ast.walk(caller.path[-1]) if isinstance(node, ast.Call))
    calls = [node for node in nodes if position(node) == caller.level.at]
    if function is None or not calls:
        return None
    texts = _said(function, calls[0], _is_method(function, tree))
    covered = {name for key in texts for name in key.rstrip(",").split(", ")}
    for name in sorted(parameters(function) - covered):
        if name not in callee.level.values:
            return None
        texts[name] = callee.level.values[name]
    return texts


def _assigned(texts: Mapping[str, str], new: Mapping[str, str]) -> list[ast.stmt]:
    """The assignments, those last whose name another one reads."""
    read = {key: reads(ast.parse(text)) for key, text in texts.items()}
    order = sorted(texts, key=lambda key: any(key in names for other, names in read.items() if other != key))
    lines = [(", ".join(new.get(part, part) for part in key.split(", ")), texts[key]) for key in order]
    return ast.parse("\n".join(f"{name} = {text}" for name, text in lines if name != text)).body


def _new_names(texts: Mapping[str, str], place: Place, taken: set[str]) -> dict[str, str]:
    """Other names for those of the callee's that the module binds too, since its functions may read them.

    Those of the callers may be bound anew: none of them goes on after the failure.
    """
    assert place.function is not None
    own = binds(*place.body) | parameters(place.function)
    clash = {name for name in own & taken if texts.get(name) != name}
    return {name: free_name(name, taken=taken | own) for name in sorted(clash)}


def _said(function: Function, call: ast.Call, method: bool) -> dict[str, str]:
    """Parameter, or several with commas -> text of what the call gives it."""
    given = function.args
    names = [part.arg for part in (*given.posonlyargs, *given.args)]
    texts: dict[str, str] = {}
    if method and names:
        texts[names.pop(0)] = _receiver(call.func, function)
    stars = [arg for arg in call.args if isinstance(arg, ast.Starred)]
    if len(stars) == 1 and len(call.args) == 1 and not call.keywords:
        texts[", ".join(names) + ("," if len(names) == 1 else "")] = ast.unparse(stars[0].value)
    elif not stars:
        texts.update(zip(names, map(ast.unparse, call.args), strict=False))
        texts.update({part.arg: ast.unparse(part.value) for part in call.keywords if part.arg})
        usual = zip(reversed(names), reversed(given.defaults), strict=False)
        only = ((part.arg, value) for part, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value)
        for name, value in [*usual, *only]:
            texts.setdefault(name, ast.unparse(value))
    return texts


def _receiver(func: ast.expr, function: Function) -> str:
    """What `self` is: `x` of `x.f()` and of `getattr(x, name)()`; the object itself where it is called."""
    if isinstance(func, ast.Attribute) and func.attr == function.name:
        base = ast.unparse(func.value)
        return "self" if base.startswith("super(") else base
    if isinstance(func, ast.Call) and isinstance(func.func, ast.Name) and func.func.id == "getattr" and func.args:
        return ast.unparse(func.args[0])
    return ast.unparse(func)


def _is_method(function: Function, tree: ast.Module) -> bool:
    plain = any(isinstance(part, ast.Name) and part.id == "staticmethod" for part in function.decorator_list)
    return not plain and any(isinstance(node, ast.ClassDef) and function in node.body for node in ast.walk(tree))


class _Renamed(ast.NodeTransformer):
    def __init__(self, new: Mapping[str, str]) -> None:
        self._new = new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self._new.get(node.id, node.id), node.ctx), node)
