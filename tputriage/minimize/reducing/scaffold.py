"""From one traced run: the chain of scaffolding around a failure replaced by the values that it computed.

Deleting alone stops at a test's configuration, tester class and driver, since each truly needs the one before.
What was held when the failure came is known, so the failing statement can be asked alone, with its names bound to
those values; then its whole function; then the callers. Each proposal is a whole script; the oracle decides.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tputriage.minimize.names import ARGUMENTS
from tputriage.minimize.reducing.facts import Facts, FrameFacts
from tputriage.minimize.reducing.within import changed, in_contexts, only_contexts, opened, touched
from tputriage.minimize.trees import (
    DEFINITIONS,
    HIDDEN,
    IMPORTS,
    Function,
    Position,
    binds,
    blocks,
    functions,
    parameters,
    path_to,
    position,
    reads,
    swept,
    with_torch,
)

PLAIN = (ast.Name, ast.Tuple, ast.List)


@dataclass(frozen=True, slots=True)
class Place:
    """A level with the trees it is about."""

    level: FrameFacts
    body: list[ast.stmt]  # of the function, or of the module
    path: list[ast.stmt]  # to the failing statement
    function: Function | None

    @property
    def before(self) -> list[ast.stmt]:
        return self.body[: self.body.index(self.path[0])]


def places(tree: ast.Module, facts: Facts) -> list[Place]:
    """The levels whose function is a def of the script, outermost first."""
    defs, found = functions(tree), []
    for level in facts.frames:
        function = defs.get(level.first) if level.function != "<module>" else None
        body = tree.body if level.function == "<module>" else function.body if function else []
        path = path_to(body, level.at)
        if path and not isinstance(path[-1], ast.ClassDef):
            found.append(Place(level, body, path, function))
    return found


def by_values(source: str, facts: Facts) -> Iterator[str]:
    """The failing statement alone with values for its names, then with what made them; from the inside out."""
    tree = ast.parse(source)
    levels = [_exposed(place) for place in places(tree, facts)]
    prelude = _prelude(source, tree, levels)
    for place in reversed(levels):
        for held in _spellings(place.level):
            for body in (*_alone(place, held, facts.steady), *_whole(place, held)):
                yield swept(_assembled(prelude, body))


def _exposed(place: Place) -> Place:
    """The failing statement without the name that its result would have had: it never gets one."""
    last = place.path[-1]
    plain = bare(last)
    if plain is last:
        return place
    for owner in [*place.path[:-1]]:
        for block in blocks(owner):
            block[:] = [plain if node is last else node for node in block]
    place.body[:] = [plain if node is last else node for node in place.body]
    return Place(place.level, place.body, [*place.path[:-1], plain], place.function)


def _spellings(level: FrameFacts) -> list[Mapping[str, str]]:
    """Numbers of no meaning first; where they matter, the real ones."""
    return [level.values] if level.values == level.exact else [level.values, level.exact]


def sliced(source: str, facts: Facts) -> Iterator[str]:
    """The failing statement with the statements that lead to it, where it stands in the module."""
    tree = ast.parse(source)
    for found in places(tree, facts)[:1]:
        place = _exposed(replace(found, level=replace(found.level, values={})))  # no name has a value to stand for it
        defined = [node for node in place.before if isinstance(node, (*IMPORTS, *DEFINITIONS))]
        acts = [node for node in place.before if isinstance(node, ast.Expr) and not reads(node) - binds(*defined)]
        for calls in (False, True):
            made, _ = _makers(place, _needed(place.path[0], place.level), {}, calls=calls)
            for kept in (made, [*made, *acts]):
                ids = {id(node) for node in (*defined, *kept)}
                yield swept(_assembled([node for node in place.before if id(node) in ids], [place.path[0]]))


def _prelude(source: str, tree: ast.Module, levels: Sequence[Place]) -> list[ast.stmt]:
    """Imports, definitions and assignments of the module that were made before the failure, as they were written."""
    written = ast.parse(source).body[: tree.body.index(levels[0].path[0]) if levels else 0]
    kept = (*IMPORTS, *DEFINITIONS, ast.Assign, ast.AnnAssign, ast.Try, ast.If)
    return [node for node in written if isinstance(node, kept)]


def _assembled(prelude: Sequence[ast.stmt], body: Sequence[ast.stmt]) -> str:
    text = "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in (*prelude, *body))
    return with_torch(f"{text}\n", prelude)


def _alone(place: Place, held: Mapping[str, str], values: Mapping[Position, str]) -> Iterator[list[ast.stmt]]:
    """The failing statement with the values it reads, and the statements that make what cannot be written down."""
    statement = bare(place.path[-1])
    plain: ast.stmt = Valued(values, (ast.Attribute,)).visit(copy.deepcopy(statement))
    same = ast.dump(plain) == ast.dump(statement)
    forms = [*_failing_part(place), *([statement] if same else [plain, statement])]
    inside, own = [in_contexts(place.path, form) for form in forms], opened(place.path)
    for part in dict.fromkeys([*inside, *forms] if reads(statement) & own else [*forms, *inside]):
        needed = _needed(part, place.level) - (own if isinstance(part, ast.With) else set())
        missing = needed - held.keys()
        if not missing:
            yield [*_assignments(needed, held), part]
        else:
            made, rest = _makers(place, missing, held)
            yield [*_assignments((needed | rest) - missing, held), *made, part]


def _failing_part(place: Place) -> list[ast.stmt]:
    """The expression of the statement that failed, where it is a part that can stand alone."""
    inner = [part for part in ast.walk(place.path[-1]) if isinstance(part, HIDDEN)]
    hidden = {id(part) for one in inner for part in ast.walk(one) if part is not one}
    parts = (part for part in ast.walk(place.path[-1]) if isinstance(part, (ast.Call, ast.BinOp, ast.Subscript)))
    return [ast.Expr(part) for part in parts if position(part) == place.level.at and id(part) not in hidden]


def _makers(
    place: Place, missing: set[str], held: Mapping[str, str], *, calls: bool = True
) -> tuple[list[ast.stmt], set[str]]:
    """(earlier statements that bind or touch the missing names, further names these need that can be written)."""
    made: list[ast.stmt] = []
    needed: set[str] = set()
    for node in reversed(place.before):
        if (binds(node) | changed(node) | (touched(node) if calls else set())) & missing:
            made.insert(0, node)
            new = _needed(node, place.level)
            missing = missing | (new - held.keys())
            needed |= new & held.keys()
    return made, needed


def _whole(place: Place, held: Mapping[str, str]) -> Iterator[list[ast.stmt]]:
    """The function's body up to the failure, its parameters bound to values."""
    if place.function is None:
        return
    names = parameters(place.function)
    if all(name in held for name in names & reads(*place.before, place.path[0])):
        bound = names & reads(*place.before, place.path[0])
        last = bare(place.path[-1])
        tail = in_contexts(place.path, last, whole=True) if only_contexts(place.path) else place.path[0]
        yield [*_assignments(bound, held), *place.before, tail]


def bare(statement: ast.stmt) -> ast.stmt:
    """The statement with what it returns or assigns to plain names only computed."""
    if isinstance(statement, ast.Return):
        return ast.Expr(statement.value) if statement.value else ast.Pass()
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if not isinstance(statement, ast.AugAssign) and all(isinstance(part, PLAIN) for part in targets):
            return ast.Expr(statement.value)
    return statement


def _needed(statement: ast.AST, level: FrameFacts) -> set[str]:
    return {name for name in reads(statement) & level.held if level.values.get(name) != name}


def _assignments(names: set[str], held: Mapping[str, str]) -> list[ast.stmt]:
    return [ast.parse(f"{name} = {held[name]}").body[0] for name in sorted(names) if held.get(name) not in (None, name)]


class Valued(ast.NodeTransformer):
    """Puts the one value that an expression had in its place."""

    def __init__(self, values: Mapping[Position, str], kinds: tuple[type[ast.expr], ...]) -> None:
        self._values = values
        self._kinds = kinds

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, self._kinds) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            text = self._values.get(position(node))
            if text is not None and not ast.unparse(node).startswith(ARGUMENTS):
                return ast.parse(text, mode="eval").body
        return super().visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A bare call is made for what it does, not for its value; its parts have values all the same."""
        super().generic_visit(node.value if isinstance(node.value, ast.Call) else node)
        return node
