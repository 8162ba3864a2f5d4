"""From one watched run: the whole script as one straight line, its calls inlined and its loops unrolled.

Where the scaffolding's values cannot stand in for it, since the failure lies in how they were computed, each step of
the computation at least stands alone then, and can go alone. Sloppy where that costs little: the oracle decides.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tputriage.minimize.reducing.calling import arguments
from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.reducing.tails import assigned_tail, spliced
from tputriage.minimize.reducing.unrolling import loops_out
from tputriage.minimize.reducing.unrun import prune
from tputriage.minimize.trees import DEFINITIONS, Function, binds, blocks, functions, inner_reads, position, reads

DEEPEST = 12
MOST_STATEMENTS = 800
HIDDEN = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SIMPLE = (ast.Name, ast.Constant)


def linear(source: str, facts: Facts) -> str | None:
    """None where nothing could be inlined or unrolled, or where too much came of it."""
    tree = ast.parse(source)
    prune(tree.body, facts)
    before = ast.dump(tree)
    line = _Line(tree, facts)
    body = line.block(tree.body, ())
    if line.made > MOST_STATEMENTS:
        return None
    tree.body = body
    text = ast.unparse(ast.fix_missing_locations(_Named().visit(tree)))
    return None if ast.dump(ast.parse(text)) == before else text


class _Named(ast.NodeTransformer):
    """`getattr(x, "name")` as `x.name`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name))], keywords=[]):
                return ast.Attribute(value, name, ast.Load()) if name.isidentifier() else node
        return node


@dataclass
class _Line:
    """One script on its way to a straight line."""

    tree: ast.Module
    facts: Facts
    defs: Mapping[int, Function] = field(init=False)
    owners: dict[int, str] = field(init=False)  # id of a method -> name of its class
    taken: set[str] = field(init=False)
    lambdas: dict[str, ast.Lambda] = field(init=False)  # by the name that holds them
    made: int = 0

    def __post_init__(self) -> None:
        classes = [node for node in self.tree.body if isinstance(node, ast.ClassDef)]
        reachable = {id(part) for body in (self.tree.body, *(one.body for one in classes)) for part in body}
        self.defs = {line: one for line, one in functions(self.tree).items() if id(one) in reachable}
        self.owners = {id(part): owner.name for owner in classes for part in owner.body}
        plain = [node for node in self.tree.body if not isinstance(node, DEFINITIONS)]
        self.taken = reads(*plain) | binds(*self.tree.body)
        self.lambdas = {}

    def block(self, body: Sequence[ast.stmt], stack: tuple[Function, ...]) -> list[ast.stmt]:
        return [line for statement in body for line in self.statement(statement, stack)]

    def statement(self, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt]:
        self.made += 1
        if isinstance(node, DEFINITIONS) or self.made > MOST_STATEMENTS:
            return [node]
        written_out = self.written_out(node, stack)
        if written_out is not None:
            return written_out
        for part in blocks(node):
            part[:] = self.block(part, stack)
        if isinstance(node, ast.While):
            return [node]
        return self.calls_out(node, stack)

    def written_out(self, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt] | None:
        """A loop's rounds, a context manager's lines around those it holds; None for any other statement."""
        if isinstance(node, ast.For):
            rounds = loops_out(node, self.facts)
            return None if rounds is None else self.block(rounds, stack)
        if isinstance(node, ast.With):
            return self.context(node, stack)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as held):
                self.lambdas[name] = held
        return None

    def context(self, node: ast.With, stack: tuple[Function, ...]) -> list[ast.stmt] | None:
        """`with f():` where f is a generator of the script: what it does before, the body, what it does after."""
        call = node.items[0].context_expr
        if len(node.items) != 1 or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        named = [one for one in self.tree.body if isinstance(one, ast.FunctionDef) and one.name == call.func.id]
        if not named or named[0] in stack:
            return None
        bound = self.bound(named[0], call)
        body = None if bound is None else spliced(bound[1], node.items[0].optional_vars, node.body)
        return None if body is None or bound is None else self.block([*bound[0], *body], (*stack, named[0]))

    def calls_out(self, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt]:
        """The statement after the bodies of what it calls."""
        before = self.expanded(node, stack)
        if isinstance(node, ast.Expr) and isinstance(node.value, SIMPLE):
            return before
        return [*before, node]

    def expanded(self, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt]:
        """The bodies of what the statement calls; in it stand their results."""
        before: list[ast.stmt] = []
        for call in _calls(node):
            if isinstance(call.func, ast.Name) and call.func.id in self.lambdas:
                _replace(node, call, _called(self.lambdas[call.func.id], call))
                continue
            function = self.defs.get(self.facts.calls.get(position(call), 0))
            if function is None or _is_special(function) or function in stack or len(stack) >= DEEPEST:
                continue
            lines = self.inlined(function, call, node, (*stack, function))
            if lines is not None:
                before += lines
        return before

    def inlined(
        self, function: Function, call: ast.Call, node: ast.stmt, stack: tuple[Function, ...]
    ) -> list[ast.stmt] | None:
        """The function's lines; the call in the statement becomes the name, or the expression, of their result."""
        bound = self.bound(function, call)
        if bound is None:
            return None
        name = self.free("result")
        found = assigned_tail(loops_all_out(bound[1], self.facts), name)
        if found is None:
            return None
        lines, result = found
        self.taken.add(name)
        held = ast.Expr(result)
        before = [*self.block([*bound[0], *lines], stack), *self.expanded(held, stack)]
        _replace(node, call, held.value)
        return before

    def bound(self, function: Function, call: ast.Call) -> tuple[list[ast.stmt], list[ast.stmt]] | None:
        """(assignments of its parameters, its body), its names made free ones; None where the call is not followed."""
        if isinstance(function, ast.AsyncFunctionDef) or _declares(function):
            return None
        given = arguments(function, call, id(function) in self.owners, self.facts)
        if given is None:
            return None
        body = [_super_named(copy.deepcopy(node), function, self.owners) for node in function.body]
        stored = binds(*body)
        plain = {
            name: value
            for name, value in given.items()
            if isinstance(value, SIMPLE) and name not in stored and not inner_reads(body, name)
        }
        new = {name: self.free(name) for name in sorted(stored | (given.keys() - plain.keys()))}
        self.taken.update(new.values())
        renaming = _Renaming(new, plain)
        lines = [_assignment(new[name], value) for name, value in given.items() if name not in plain]
        return lines, [renaming.visit(node) for node in body]

    def free(self, name: str) -> str:
        if name not in self.taken:
            return name
        return next(wish for number in range(2, 10_000) if (wish := f"{name}_{number}") not in self.taken)


def _super_named(body: ast.stmt, function: Function, owners: Mapping[int, str]) -> ast.stmt:
    """`super()` as `super(A, self)`, which means the same where there is no method around it."""
    owner, names = owners.get(id(function), ""), function.args.args
    for node in ast.walk(body) if owner and names else ():
        if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = [ast.Name(owner, ast.Load()), ast.Name(names[0].arg, ast.Load())]
    return body


def _is_special(function: Function) -> bool:
    """Whether Python calls it for more than its body: a constructor's call gives the object."""
    return function.name.startswith("__") and function.name != "__call__"


def _called(function: ast.Lambda, call: ast.Call) -> ast.expr:
    """The lambda's body, or the call itself where its arguments are more than plain."""
    names = [part.arg for part in function.args.args]
    if len(names) != len(call.args) or call.keywords or any(isinstance(arg, ast.Starred) for arg in call.args):
        return call
    given = dict(zip(names, call.args, strict=True))
    found: ast.expr = _Renaming({}, given).visit(copy.deepcopy(function.body))
    return found


def loops_all_out(body: list[ast.stmt], facts: Facts) -> list[ast.stmt]:
    """Loops that hold a `return` unrolled first, since only then is it at an end."""
    found: list[ast.stmt] = []
    for node in body:
        returns = isinstance(node, ast.For) and any(isinstance(part, ast.Return) for part in ast.walk(node))
        rounds = loops_out(node, facts) if returns and isinstance(node, ast.For) else None
        found += [node] if rounds is None else rounds
    return found


def _declares(function: Function) -> bool:
    """Whether it says `global` or `nonlocal`, or is wrapped by what may call it in another way."""
    wrapped = [part for part in function.decorator_list if ast.unparse(part).rpartition(".")[2] not in HARMLESS]
    return bool(wrapped) or any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(function))


HARMLESS = ("staticmethod", "contextmanager", "abstractmethod", "override")


def _calls(node: ast.stmt) -> list[ast.Call]:
    """The statement's own calls, inner ones first; those that run later or more than once are left out."""
    found: list[ast.Call] = []
    inner = {id(part) for block in blocks(node) for part in block}

    def walk(part: ast.AST) -> Iterator[None]:
        for child in ast.iter_child_nodes(part):
            if not isinstance(child, HIDDEN) and id(child) not in inner:
                yield from walk(child)
        if isinstance(part, ast.Call):
            found.append(part)

    list(walk(node))
    return found


def _replace(node: ast.stmt, call: ast.Call, result: ast.expr) -> None:
    for part in ast.walk(node):
        for name, value in ast.iter_fields(part):
            if value is call:
                setattr(part, name, result)
            elif isinstance(value, list) and any(one is call for one in value):
                value[:] = [result if one is call else one for one in value]


def _assignment(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)


class _Renaming(ast.NodeTransformer):
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
        inner = _Renaming(
            {name: new for name, new in self._new.items() if name not in own},
            {name: value for name, value in self._plain.items() if name not in own},
        )
        node.name = self._new.get(node.name, node.name)
        node.body = [inner.visit(part) for part in node.body]
        node.args = self.visit(node.args)
        return node
