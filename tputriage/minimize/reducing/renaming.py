"""What writing a call out does to trees: names made free ones, the call's place taken by its result. Runs nothing."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.trees import HIDDEN, Function, binds, blocks, position

HARMLESS = frozenset(
    {"staticmethod", "classmethod", "contextmanager", "abstractmethod", "override", "property", "cached_property",
     "wraps", "no_grad", "inference_mode"}
)  # fmt: skip
READ = frozenset({"property", "cached_property"})


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name, whatever it is called or indexed with."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def first_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_wrapped(function: Function) -> bool:
    """Whether it says `global` or `nonlocal`, or is wrapped by what may call it in another way."""
    wrapped = [part for part in function.decorator_list if last_name(part) not in HARMLESS]
    return bool(wrapped) or any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(function))


def is_property(function: Function) -> bool:
    return any(last_name(part) in READ for part in function.decorator_list)


def is_manager(function: Function) -> bool:
    return any(last_name(part) == "contextmanager" for part in function.decorator_list)


def super_named(body: ast.stmt, function: Function, owner: str) -> ast.stmt:
    """`super()` as `super(A, self)`, which means the same where there is no method around it."""
    names = function.args.args
    for node in ast.walk(body) if owner and names else ():
        if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = [ast.Name(owner, ast.Load()), ast.Name(names[0].arg, ast.Load())]
    return body


def lambda_called(function: ast.Lambda, call: ast.Call) -> ast.expr:
    """The lambda's body, or the call itself where its arguments are more than plain."""
    names = [part.arg for part in function.args.args]
    if len(names) != len(call.args) or call.keywords or any(isinstance(arg, ast.Starred) for arg in call.args):
        return call
    given = dict(zip(names, call.args, strict=True))
    found: ast.expr = Renaming({}, given).visit(copy.deepcopy(function.body))
    return found


def asking(node: ast.stmt, facts: Facts) -> list[ast.Call | ast.Attribute]:
    """The statement's own calls, and the attributes that call something; inner ones first.

    Those that run later or more than once are left out.
    """
    found: list[ast.Call | ast.Attribute] = []
    inner = {id(part) for block in blocks(node) for part in block}

    def walk(part: ast.AST) -> Iterator[None]:
        for child in ast.iter_child_nodes(part):
            if not isinstance(child, HIDDEN) and id(child) not in inner:
                yield from walk(child)
        read = isinstance(part, ast.Attribute) and hasattr(part, "lineno") and isinstance(part.ctx, ast.Load)
        if isinstance(part, ast.Call) or (isinstance(part, ast.Attribute) and read and position(part) in facts.calls):
            found.append(part)

    list(walk(node))
    return found


def put_result(node: ast.stmt, asked: ast.expr, result: ast.expr) -> None:
    for part in ast.walk(node):
        for name, value in ast.iter_fields(part):
            if value is asked:
                setattr(part, name, result)
            elif isinstance(value, list) and any(one is asked for one in value):
                value[:] = [result if one is asked else one for one in value]


def assignment(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)


class Named(ast.NodeTransformer):
    """`getattr(x, "name")` as `x.name`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name))], keywords=[]):
                return ast.Attribute(value, name, ast.Load()) if name.isidentifier() else node
        return node


class Folded(ast.NodeTransformer):
    """A text put into an f-string as part of its text: in braces its backslashes could not be written."""

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.FormattedValue(value=ast.Constant(value=str(text)), format_spec=None):
                return ast.Constant(repr(text) if node.conversion == ord("r") else text)
        return node


class Renaming(ast.NodeTransformer):
    """New names for old ones, and expressions for names that are only read."""

    def __init__(self, new: Mapping[str, str], plain: Mapping[str, ast.expr]) -> None:
        self._new = new
        self._plain = plain

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._plain and isinstance(node.ctx, ast.Load):
            return copy.deepcopy(self._plain[node.id])
        return ast.copy_location(ast.Name(self._new.get(node.id, node.id), node.ctx), node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._new.get(node.name, node.name) if node.name else None
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Inside it its own names hide those around it."""
        own = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)} | binds(*node.body)
        inner = Renaming(
            {name: new for name, new in self._new.items() if name not in own},
            {name: value for name, value in self._plain.items() if name not in own},
        )
        node.name = self._new.get(node.name, node.name)
        node.decorator_list = [self.visit(part) for part in node.decorator_list]
        node.body = [inner.visit(part) for part in node.body]
        node.args = self.visit(node.args)
        return node
