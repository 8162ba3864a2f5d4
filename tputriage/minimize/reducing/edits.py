"""The one engine that rewrites a script: it walks the libcst tree and applies the changes that a pass names.

A pass never touches the tree. It names sites; a site is some nodes and what becomes of each. Sites are applied
to the tree they were found in, many at once, nested ones from the inside out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider, Scope, ScopeProvider

from tputriage.minimize.reducing.facts import Facts, Place
from tputriage.minimize.reducing.precedence import guarded
from tputriage.minimize.trees import deep

New = cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[Any]
Replacement = Callable[[Any], New]  # is given the node as the changes inside it left it
Found = TypeVar("Found", bound=cst.CSTNode)

# Layout holds no code; walking past it makes walking several times quicker.
LAYOUT = (cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Newline)


@dataclass(frozen=True, slots=True)
class Site:
    """One change that a pass offers; where one of its `kind` came to nothing, others are not asked about for now."""

    changes: tuple[tuple[cst.CSTNode, Replacement], ...]
    kind: str = ""

    @classmethod
    def removing(cls, *nodes: cst.CSTNode, kind: str = "") -> Site:
        return cls(tuple((node, gone) for node in nodes), kind)

    @classmethod
    def putting(cls, node: cst.CSTNode, new: New, kind: str = "") -> Site:
        """`new` in the node's place, whatever else changes inside the node."""
        return cls(((node, lambda _: new),), kind)


def gone(_: object) -> cst.RemovalSentinel:
    """What becomes of a node that goes."""
    return cst.RemoveFromParent()


class RefusedError(Exception):
    """libcst does not take this change: the tree would be no program."""


@dataclass
class Program:
    """A script and its tree, read once; what a pass looks at."""

    source: str
    facts: Facts | None = None  # of this very source, where it was traced

    @cached_property
    def module(self) -> cst.Module:
        return cst.parse_module(self.source)

    @cached_property
    def parents(self) -> dict[int, cst.CSTNode]:
        found: dict[int, cst.CSTNode] = {}
        for node in self.nodes:
            found.update((id(child), node) for child in children(node))
        return found

    @cached_property
    def nodes(self) -> list[cst.CSTNode]:
        """All that is not layout, a parent before its children, in the order of the text."""
        return list(walk(self.module))

    @cached_property
    def places(self) -> dict[int, Place]:
        """Where each node stands, by its id: (line from 1, column from 0, end line, end column)."""
        wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
        with deep():
            told = wrapper.resolve(PositionProvider)
        return {
            id(node): (one.start.line, one.start.column, one.end.line, one.end.column) for node, one in told.items()
        }

    @cached_property
    def scopes(self) -> list[Scope]:
        """Each once: the module's, and those of functions, classes and comprehensions."""
        found = MetadataWrapper(self.module, unsafe_skip_copy=True).resolve(ScopeProvider).values()
        return list(dict.fromkeys(scope for scope in found if scope is not None))

    @cached_property
    def imported(self) -> set[str]:
        """Names that its imports bind, wherever they stand."""
        aliases = self.of(cst.ImportAlias)
        return {(one.evaluated_alias or one.evaluated_name).split(".")[0] for one in aliases}

    @cached_property
    def _kinds(self) -> dict[Any, list[Any]]:
        return {}

    def place(self, node: cst.CSTNode) -> Place | None:
        """As Python's own parser has it: a statement's line is its first small statement."""
        if isinstance(node, cst.SimpleStatementLine) and node.body:
            return self.places.get(id(node.body[0]))
        return self.places.get(id(node))

    def starts(self, node: cst.CSTNode) -> tuple[int, int]:
        found = self.place(node)
        return (found[0], found[1]) if found else (0, 0)

    def of(self, kind: type[Found] | tuple[type[Found], ...]) -> list[Found]:
        """The nodes of a kind, in the order of the text; looked for once, since passes ask at every site."""
        found = self._kinds.get(kind)
        if found is None:
            found = self._kinds[kind] = [node for node in self.nodes if isinstance(node, kind)]
        return list(found)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self.parents.get(id(node))

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The node's ancestors, nearest first."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The statement, line or compound, that a node lies in."""
        around = (node, *self.above(node))
        return next((one for one in around if isinstance(one, cst.BaseStatement)), None)

    def with_changes(self, sites: Iterable[Site]) -> str | None:
        """The script's text after these changes, or None where they make no program."""
        try:
            with deep():
                return _Rebuilding(self, sites).code()
        except (RefusedError, RecursionError):
            return None


@lru_cache(maxsize=512)
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    skipped = ("whitespace", "leading_lines", "lines_after", "lpar", "rpar", "header", "footer", "equal", "comma")
    names = (item.name for item in dataclasses.fields(kind))
    return tuple(name for name in names if not name.startswith(skipped))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for name in _fields(type(node)):
        value = getattr(node, name)
        for child in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(child, cst.CSTNode) and not isinstance(child, LAYOUT):
                yield child


def callee(call: cst.Call) -> str:
    """The last word of what is called."""
    match call.func:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return type(call.func).__name__


def root_of(node: cst.CSTNode) -> str:
    """The name that a path as `a.b.c` begins with; "" for what is none: an element, or what was made."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(list(children(top))))


@dataclass
class _Rebuilding:
    program: Program
    sites: Iterable[Site]
    _changes: dict[int, list[Replacement]] = field(default_factory=dict)
    _touched: set[int] = field(default_factory=set)

    def code(self) -> str:
        for site in self.sites:
            for node, replacement in site.changes:
                self._changes.setdefault(id(node), []).append(replacement)
                self._touch(node)
        try:
            found = self._new(self.program.module)
            if isinstance(found, cst.Module):
                return str(found.code)
        except (cst.CSTValidationError, cst.ParserSyntaxError, TypeError, AttributeError, IndexError) as exc:
            # The one place where libcst's refusals are met: it has no type of its own for a forbidden removal. And
            # where a second change of a node finds that the first has left another one there.
            raise RefusedError(str(exc)) from exc
        raise RefusedError("the whole script is gone")

    def _touch(self, node: cst.CSTNode) -> None:
        for one in chain([node], self.program.above(node)):
            if id(one) in self._touched:
                return  # and all that is above it
            self._touched.add(id(one))

    def _new(self, node: cst.CSTNode) -> New:
        if id(node) not in self._touched:
            return node
        changed = {
            name: new
            for name in _fields(type(node))
            if (new := self._new_value(getattr(node, name))) is not getattr(node, name)
        }
        found: New = guarded(node.with_changes(**changed)) if changed else node
        if isinstance(found, cst.SimpleStatementLine) and not found.body:
            found = cst.RemoveFromParent()
        for replacement in self._changes.get(id(node), ()):
            if isinstance(found, cst.CSTNode):
                found = replacement(found)
        return found

    def _new_value(self, value: Any) -> Any:
        if isinstance(value, cst.CSTNode):
            new = self._new(value)
            if isinstance(new, cst.FlattenSentinel):
                raise RefusedError(f"{type(value).__name__} cannot be several")
            return new if isinstance(new, cst.CSTNode) else None  # an optional field; a needed one fails as code
        if isinstance(value, (tuple, list)) and any(id(item) in self._touched for item in value):
            return tuple(part for item in value for part in _parts(self._new(item)))
        return value


def _parts(new: New) -> Sequence[Any]:
    if isinstance(new, cst.RemovalSentinel):
        return ()
    return tuple(new.nodes) if isinstance(new, cst.FlattenSentinel) else (new,)
