"""What a name or an attribute holds where it was last given a list whose elements are plain: told from the lines alone.

Kept as long as nothing may have changed it, which is little: whatever mentions the list, but to read it on the spot,
ends what is known of it. A loop over it can then be written out with its very elements.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from tputriage.minimize.trees import binds, parameters

PLAIN = (ast.Name, ast.Constant, ast.Attribute)
PASSED_ON = frozenset({"enumerate", "zip", "list", "tuple", "reversed", "iter"})  # what they give comes from a list
READING = PASSED_ON | {"len", "sum", "min", "max", "any", "all", "sorted", "print", "str", "repr", "isinstance", "bool"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Lists:
    """For lines that run one after the other. What stands in branches and rounds is forgotten before they begin."""

    def __init__(self, tree: ast.Module) -> None:
        functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
        self._shared = {text for function in functions for text in _shared(function)}
        self.held: dict[str, ast.List] = {}

    def of(self, node: ast.expr, body: Sequence[ast.stmt]) -> ast.expr:
        """What a loop goes through, with the list in the place of what holds it; not one that the body touches."""
        before = dict(self.held)
        for line in body:
            self.forget(line)
        found = self._given(node)
        self.held = before
        return found

    def _given(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Name() | ast.Attribute():
                return copy.deepcopy(self.held.get(ast.unparse(node), node))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in PASSED_ON:
                return ast.Call(node.func, [self._given(arg) for arg in args], [])
        return node

    def note(self, node: ast.stmt) -> None:
        """A line that has run."""
        found = None
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value):
                found = (ast.unparse(target), self._items(value))
        self.forget(node)
        if found is not None and found[1] and found[0] not in self._shared:
            self.held[found[0]] = ast.List(found[1], ast.Load())

    def _items(self, value: ast.expr) -> list[ast.expr]:
        match value:
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner], keywords=[]):
                return self._items(self._given(inner))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return items if all(isinstance(item, PLAIN) for item in items) else []
        return []

    def forget(self, node: ast.stmt) -> None:
        """What the statement, or any in it, may change, and lists of what it gives another object."""
        if not self.held:
            return
        touched, bound = set(_touched(node)), {*binds(node), *_bound(node)}
        for text, held in list(self.held.items()):
            mentioned = any(text == one or (whole and _is_part(text, one)) for one, whole in touched)
            places = [text, *map(ast.unparse, held.elts)]
            if mentioned or any(_is_part(place, name) for place in places for name in bound):
                del self.held[text]


def _shared(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[str]:
    """What a function touches that is not its own: it may do so whenever it is called."""
    body = function.body if isinstance(function.body, list) else [ast.Expr(function.body)]
    declared = [part for line in body for part in ast.walk(line) if isinstance(part, (ast.Global, ast.Nonlocal))]
    own = (binds(*body) | parameters(function)) - {name for part in declared for name in part.names}
    texts = [text for line in body for text, _ in _touched(line)] + [text for line in body for text in _bound(line)]
    return (text for text in texts if text.partition(".")[0] not in own)


def _is_part(text: str, of: str) -> bool:
    return text == of or text.startswith(f"{of}.")


def _bound(node: ast.stmt) -> Iterator[str]:
    """Names and attributes that are given another object."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)) and not isinstance(part.ctx, ast.Load):
            yield ast.unparse(part)


def _touched(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """(what is mentioned but to be read, whether whole: who has an object can change its attributes)."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in READING:
            yield from _read(*args)
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()):
            yield from _read(value)
            yield from _touched(index)
        case ast.For(target=target, iter=value, body=body, orelse=orelse):
            yield from _read(value)
            for part in (target, *body, *orelse):
                yield from _touched(part)
        case ast.Name() | ast.Attribute():
            yield ast.unparse(node), True
            yield from _owners(node)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _touched(child)


def _read(*nodes: ast.expr) -> Iterator[tuple[str, bool]]:
    for node in nodes:
        yield from () if isinstance(node, PLAIN) else _touched(node)


def _owners(node: ast.expr) -> Iterator[tuple[str, bool]]:
    """What the attributes on the way belong to: `xs` of `xs.append`, but not all that `o` of `o.a` has."""
    while isinstance(node, ast.Attribute):
        node = node.value
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield ast.unparse(node), False
        else:
            yield from _touched(node)
