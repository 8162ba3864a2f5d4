"""From one watched run: the whole script as one straight line, its calls inlined and its loops unrolled.

Where the scaffolding's values cannot stand in for it, since the failure lies in how they were computed, each step of
the computation at least stands alone then, and can go alone. Sloppy where that costs little: the oracle decides.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tputriage.minimize.reducing.calling import arguments, asks_again
from tputriage.minimize.reducing.contexts import collected, context, generated
from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.reducing.lists import Lists
from tputriage.minimize.reducing.objects import Classes, Kept, is_base_constructor, stored, wished_name, with_empty
from tputriage.minimize.reducing.renaming import (
    Folded,
    Named,
    Renaming,
    asking,
    assignment,
    first_name,
    is_manager,
    is_property,
    is_wrapped,
    lambda_called,
    last_name,
    put_result,
    super_named,
)
from tputriage.minimize.reducing.tails import assigned_tail, yields
from tputriage.minimize.reducing.unrolling import LOOPS, Rounds, loops_all_out, loops_out, settle
from tputriage.minimize.reducing.unrun import prune
from tputriage.minimize.trees import (
    DEFINITIONS,
    Function,
    binds,
    blocks,
    free_name,
    functions,
    imported,
    inner_reads,
    position,
    reads,
    swept,
)

DEEPEST = 12
MOST_STATEMENTS = 800
MOST_CLOSINGS = 8
SIMPLE = (ast.Name, ast.Constant)


def linear(source: str, facts: Facts, *, objects: bool = False, choose: bool = True) -> str | None:
    """None where nothing could be inlined or unrolled, or where too much came of it.

    With `objects` what a class of the script makes is written out too, where all that it does can be. Without
    `choose` an `if` stays one: what the device answers there may be what fails.
    """
    kept = Kept()
    for _ in range(MOST_CLOSINGS if objects else 1):
        text, again = _linear(source, facts, kept if objects else None, choose)
        if not again:
            return text
    return None


def _linear(source: str, facts: Facts, kept: Kept | None, choose: bool) -> tuple[str | None, bool]:
    """(the line, whether more has to be kept than was known)."""
    tree = ast.parse(source)
    prune(tree.body, facts, choose=choose)
    before = ast.dump(tree)
    classes = Classes(tree, facts, kept) if kept is not None else None
    line = _Line(tree, facts, classes)
    body = line.block(tree.body, ())
    if line.made > MOST_STATEMENTS:
        return None, False
    tree.body = body
    settle(tree)
    tree = Folded().visit(Named().visit(tree))
    if classes is None:
        text = ast.unparse(ast.fix_missing_locations(tree))
        return None if ast.dump(ast.parse(text)) == before else text, False
    with_empty(tree)
    text = swept(ast.unparse(ast.fix_missing_locations(tree)), bold=False)
    return text if classes.opened else None, classes.left_over(text)


@dataclass
class _Line:
    """One script on its way to a straight line."""

    tree: ast.Module
    facts: Facts
    classes: Classes | None
    defs: Mapping[int, Function] = field(init=False)
    owners: dict[int, str] = field(init=False)  # id of a method -> name of its class
    taken: set[str] = field(init=False)
    lambdas: dict[str, ast.Lambda] = field(init=False)  # by the name that holds them
    imported: set[str] = field(init=False)
    rounds: Rounds = field(init=False)
    lists: Lists = field(init=False)
    made: int = 0
    loops: int = 0  # around the statement at hand

    def __post_init__(self) -> None:
        classes = [node for node in self.tree.body if isinstance(node, ast.ClassDef)]
        reachable = {id(part) for body in (self.tree.body, *(one.body for one in classes)) for part in body}
        self.defs = {line: one for line, one in functions(self.tree).items() if id(one) in reachable}
        self.owners = {id(part): owner.name for owner in classes for part in owner.body}
        plain = [node for node in self.tree.body if not isinstance(node, DEFINITIONS)]
        self.taken = reads(*plain) | binds(*self.tree.body)
        self.lambdas = {}
        self.rounds, self.lists = Rounds(self.facts, {node.name for node in classes}), Lists(self.tree)
        self.imported = imported(self.tree)

    def block(self, body: Sequence[ast.stmt], stack: tuple[Function, ...]) -> list[ast.stmt]:
        return [line for statement in body for line in self.statement(statement, stack)]

    def statement(self, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt]:
        self.made += 1
        if isinstance(node, DEFINITIONS) or self.made > MOST_STATEMENTS:
            return [node]
        written_out = self.written_out(node, stack)
        if written_out is not None:
            return written_out
        self.loops += isinstance(node, LOOPS)
        inner = list(blocks(node))
        if inner:
            self.lists.forget(node)
        for part in inner:
            held = dict(self.lists.held)
            part[:] = self.block(part, stack)
            self.lists.held = held  # of a block that may not have run, or not to its end
        self.loops -= isinstance(node, LOOPS)
        if isinstance(node, ast.While):
            return [node]
        return self.calls_out(node, stack)

    def written_out(self, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt] | None:
        """A loop's rounds, a context manager's lines around those it holds; None for any other statement."""
        if isinstance(node, ast.For):
            loop = copy.copy(node)
            loop.iter = self.lists.of(node.iter, node.body)
            rounds = loops_out(loop, self.facts)
            return generated(self, node, stack) if rounds is None else self.block(rounds, stack)
        if isinstance(node, ast.With):
            return context(self, node, stack)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as held):
                self.lambdas[name] = held
        return None

    def calls_out(self, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt]:
        """The statement after the bodies of what it calls."""
        before = self.expanded(node, stack)
        self.lists.note(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, SIMPLE):
            return before
        return [*before, node]

    def expanded(self, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt]:
        """The bodies of what the statement calls; in it stand their results."""
        before: list[ast.stmt] = []
        self.rounds.visit(node)
        for call in asking(node, self.facts):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in self.lambdas:
                put_result(node, call, lambda_called(self.lambdas[call.func.id], call))
                continue
            lines = self.opened(call, node, stack) if isinstance(call, ast.Call) else None
            function = self.called(call) if lines is None else None
            if function is not None and function not in stack and len(stack) < DEEPEST:
                lines = self.inlined(function, call, node, (*stack, function))
            before += lines or []
        return before

    def called(self, asked: ast.Call | ast.Attribute) -> Function | None:
        """The script's function that a call came to; none where a library's was called, that called it in turn."""
        function = self.defs.get(self.facts.calls.get(position(asked), 0)) or self.generator_of(asked)
        if (
            function is None
            or _is_special(function, asked)
            or is_property(function) != isinstance(asked, ast.Attribute)
        ):
            return None
        func = asked.func if isinstance(asked, ast.Call) else asked
        name, root = last_name(func), first_name(func)
        foreign = root in self.imported or (isinstance(func, ast.Name) and hasattr(builtins, name))
        return None if foreign and name != function.name else function

    def generator_of(self, asked: ast.Call | ast.Attribute) -> Function | None:
        """The script's one generator of that name: entered where its values are asked for."""
        name = last_name(asked.func) if isinstance(asked, ast.Call) else ""
        named = [one for one in self.defs.values() if one.name == name and yields(one) and not is_manager(one)]
        return named[0] if len(named) == 1 else None

    def opened(self, call: ast.Call, node: ast.stmt, stack: tuple[Function, ...]) -> list[ast.stmt] | None:
        """An empty object and what the constructor gives it; in the statement stands its name."""
        kind = self.classes.made_by(call) if self.classes is not None else None
        if self.classes is None or kind is None or len(stack) >= DEEPEST:
            return None
        name = self.name_of(kind, node, call)
        self.taken.add(name)
        lines = [*self.classes.blank(kind, name), *self.own_methods(kind, name)]
        init = self.classes.constructor(kind)
        if init is not None:
            self.owners[id(init)] = kind.name
            func = ast.Attribute(ast.Name(name, ast.Load()), "__init__", ast.Load())
            given = ast.copy_location(ast.Call(func, call.args, call.keywords), call)
            bound = self.bound(init, given)
            tail = None if bound is None else assigned_tail(bound[1], "")
            if bound is None or tail is None:
                self.classes.kept.closed.add(kind.name)
                return None
            lines += self.block([*bound[0], *tail[0]], (*stack, init))
        put_result(node, call, ast.Name(name, ast.Load()))
        self.classes.kinds[name] = kind
        return [line for line in lines if not is_base_constructor(line)]

    def own_methods(self, kind: ast.ClassDef, name: str) -> list[ast.stmt]:
        """Functions in place of the methods that something else than a call of the script asks for."""
        lines: list[ast.stmt] = []
        for method in self.classes.asked_for(kind) if self.classes is not None else ():
            made, receiver = copy.deepcopy(method), method.args.args[0].arg if method.args.args else ""
            made.args.args = made.args.args[1:]
            made.name = self.free(method.name)
            self.taken.add(made.name)
            made.body = [Renaming({receiver: name}, {}).visit(node) for node in made.body]
            lines += [made, stored(name, method.name, ast.Name(made.name, ast.Load()))]
        return lines

    def name_of(self, kind: ast.ClassDef, node: ast.stmt, call: ast.Call) -> str:
        """The name that the statement gives the object, else one made of the class's."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if node.value is call and name not in reads(call):
                return name
        return self.free(wished_name(kind))

    def inlined(
        self, function: Function, asked: ast.Call | ast.Attribute, node: ast.stmt, stack: tuple[Function, ...]
    ) -> list[ast.stmt] | None:
        """The function's lines; the call in the statement becomes the name, or the expression, of their result."""
        call = asked if isinstance(asked, ast.Call) else ast.Call(asked, [], [])
        found = collected(self, function, call) if yields(function) else self.returned(function, call)
        if found is None or asks_again(found[1], function.name):
            return None
        held = ast.Expr(found[1])
        own = binds(*found[0]) - self.taken  # of a generator that is collected: those inside it have others
        self.taken |= own
        before = [*self.block(found[0], stack), *self.expanded(held, stack)]
        self.taken -= own
        put_result(node, asked, held.value)
        return before

    def returned(self, function: Function, call: ast.Call) -> tuple[list[ast.stmt], ast.expr] | None:
        """(the function's lines, its result)."""
        bound = self.bound(function, call)
        if bound is None:
            return None
        name = self.free("result")
        found = assigned_tail(loops_all_out(bound[1], self.facts), name)
        if found is None:
            return None
        self.taken.add(name)
        return [*bound[0], *found[0]], found[1]

    def bound(self, function: Function, call: ast.Call) -> tuple[list[ast.stmt], list[ast.stmt]] | None:
        """(assignments of its parameters, its body), its names made free ones; None where the call is not followed."""
        if isinstance(function, ast.AsyncFunctionDef) or is_wrapped(function):
            return None
        given = arguments(function, call, self.owners.get(id(function), ""), self.facts)
        if given is None:
            return None
        body = [super_named(copy.deepcopy(node), function, self.owners.get(id(function), "")) for node in function.body]
        stored = binds(*body)
        if self.loops and any(inner_reads(body, name) for name in stored | given.keys()):
            return None  # each round's function has names of its own
        plain = {
            name: value
            for name, value in given.items()
            if isinstance(value, SIMPLE) and name not in stored and not inner_reads(body, name)
        }
        new = {name: self.free(name) for name in sorted(stored | (given.keys() - plain.keys()))}
        self.taken.update(new.values())
        renaming = Renaming(new, plain)
        lines = [assignment(new[name], value) for name, value in given.items() if name not in plain]
        return lines, [renaming.visit(node) for node in body]

    def free(self, name: str) -> str:
        return free_name(name, taken=self.taken)


def _is_special(function: Function, asked: ast.Call | ast.Attribute) -> bool:
    """Whether Python calls it for more than its body: a constructor's call gives the object."""
    name = last_name(asked.func) if isinstance(asked, ast.Call) else ""
    return function.name.startswith("__") and function.name not in ("__call__", name)
