"""Classes of the script as what their objects hold: `x = A(1)` is an empty object and the lines of its `__init__`.

Whatever else a class does is either written out where it is called, or the class stays: a library that calls one of
its methods, a name of it that is left, keep it closed.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.reducing.renaming import assignment, first_name, last_name
from tputriage.minimize.trees import Function, first_line, imported, position

PLAIN_ROOTS = frozenset({"object", "ABC", "Generic", "Protocol", "Dataset"})  # what they do is not missed
KEPT_ROOTS = frozenset({"Module", "TestCase"})  # an object of their own takes any attribute
EMPTY = "SimpleNamespace"
WRITTEN_OUT = frozenset({"__init__", "__post_init__", "__call__", "__enter__", "__exit__"})


@dataclass
class Kept:
    """What of the script's classes has to stay, as far as it was found out."""

    closed: set[str] = field(default_factory=set)  # classes whose objects stay
    methods: set[tuple[str, str]] = field(default_factory=set)  # class and method that is asked for as a value


@dataclass
class Classes:
    """Of a script's top level."""

    tree: ast.Module
    facts: Facts
    kept: Kept
    opened: set[str] = field(default_factory=set)
    kinds: dict[str, ast.ClassDef] = field(default_factory=dict)  # by the name of an object made

    def __post_init__(self) -> None:
        self.named = {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}
        read = [node for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)]
        self.outside = self.facts.outside | self._through_others()
        self.read = {node.attr for node in read if isinstance(node.ctx, ast.Load)}

    def _through_others(self) -> set[int]:
        """First lines of defs that a call of a builtin or a library came to: `sorted(xs, key=f)`."""
        libraries = imported(self.tree)
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call) and hasattr(node, "lineno")]
        foreign = [
            node for node in calls if (name := first_name(node.func)) in libraries or (name and hasattr(builtins, name))
        ]
        return {self.facts.calls[position(node)] for node in foreign if position(node) in self.facts.calls}

    def made_by(self, call: ast.Call) -> ast.ClassDef | None:
        """The class that the call makes an object of, where the object can stand without it."""
        kind = self.named.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if kind is None or kind.name in self.kept.closed or kind.keywords or not self._is_open(kind):
            return None
        self.opened.add(kind.name)
        return kind

    def kind_of(self, node: ast.expr) -> ast.ClassDef | None:
        return self.kinds.get(node.id) if isinstance(node, ast.Name) else None

    def _is_open(self, kind: ast.ClassDef) -> bool:
        lineage = self.lineage(kind)
        methods = [one for part in lineage for one in _methods(part)]
        called = [one for one in methods if self._must_stay(one)]
        decorated = any(last_name(part) != "dataclass" for one in lineage for part in one.decorator_list)
        roots = {last_name(base) for one in lineage for base in one.bases} - self.named.keys()
        return not called and not decorated and roots <= PLAIN_ROOTS | KEPT_ROOTS

    def _must_stay(self, method: Function) -> bool:
        """Whether Python or a library calls it in a way that an attribute does not serve."""
        special = method.name.startswith("__") and method.name not in WRITTEN_OUT
        outside = first_line(method) in self.outside and method.name.startswith("__")
        ran = any(getattr(node, "lineno", 0) in self.facts.lines for node in method.body)
        return (special and ran) or (outside and method.name != "__post_init__")

    def lineage(self, kind: ast.ClassDef) -> list[ast.ClassDef]:
        """The class and the script's classes above it, nearest first."""
        found = [kind]
        for base in kind.bases:
            above = self.named.get(last_name(base))
            if above is not None and above is not kind:
                found = [one for one in found if one.name not in {part.name for part in self.lineage(above)}]
                found += self.lineage(above)
        return found

    def method(self, kind: ast.ClassDef, name: str) -> Function | None:
        return next((one for part in self.lineage(kind) for one in _methods(part) if one.name == name), None)

    def constructor(self, kind: ast.ClassDef) -> Function | None:
        if any(last_name(part) == "dataclass" for one in self.lineage(kind) for part in one.decorator_list):
            return self._of_fields(kind)
        return self.method(kind, "__init__")

    def _of_fields(self, kind: ast.ClassDef) -> Function:
        """What `@dataclass` writes, with what its `__post_init__` adds."""
        fields: dict[str, ast.expr | None] = {}
        for one in reversed(self.lineage(kind)):
            fields |= {name: value for name, value in _declared(one)}
        made = ast.parse("def __init__(self): pass").body[0]
        assert isinstance(made, ast.FunctionDef)
        plain, usual = ([name for name, value in fields.items() if bool(value) is wanted] for wanted in (False, True))
        made.args.args += [ast.arg(name) for name in (*plain, *usual)]
        made.args.defaults = [value for name in usual if (value := fields[name]) is not None]
        made.body = [stored("self", name, ast.Name(name, ast.Load())) for name in (*plain, *usual)]
        after = self.method(kind, "__post_init__")
        made.body += copy.deepcopy(after.body) if after is not None else []
        return made

    def blank(self, kind: ast.ClassDef, name: str) -> list[ast.stmt]:
        """An empty object of that name, with the class's own attributes that something reads."""
        roots = [base for one in self.lineage(kind) for base in one.bases if last_name(base) in KEPT_ROOTS]
        root = copy.deepcopy(roots[0]) if roots else ast.Name(EMPTY, ast.Load())
        made: list[ast.stmt] = [assignment(name, ast.Call(root, [], []))]
        shared = {key: value for one in reversed(self.lineage(kind)) for key, value in _shared(one)}
        return [*made, *(stored(name, key, value) for key, value in shared.items() if key in self.read)]

    def asked_for(self, kind: ast.ClassDef) -> list[Function]:
        """Methods that something else than a call of the script needs: a hook, a library."""
        found = {one.name: one for part in reversed(self.lineage(kind)) for one in _methods(part)}
        return [
            one
            for name, one in found.items()
            if not name.startswith("__")
            and (
                (kind.name, name) in self.kept.methods
                or first_line(one) in self.facts.outside
                or (name == "forward" and self.facts.lines & set(range(one.lineno, (one.end_lineno or 0) + 1)))
            )
        ]

    def left_over(self, text: str) -> bool:
        """Whether the script written out still asks something of the opened classes; more of them is kept then."""
        tree = ast.parse(text)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        asked = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        methods = {
            name: {one.name for part in self.lineage(self.named[name]) for one in _methods(part)} - {"__init__"}
            for name in self.opened
        }
        closed = {name for name in self.opened if name in names}
        more = {(name, method) for name in self.opened for method in methods[name] & asked} - self.kept.methods
        readable = {(name, method) for name, method in more if self._is_value(self.named[name], method)}
        closed |= {name for name, _ in more - readable}
        self.kept.closed |= closed
        self.kept.methods |= readable
        return bool(closed or readable)

    def _is_value(self, kind: ast.ClassDef, name: str) -> bool:
        """Whether a method can be the object's own: no property, no class's method, and nothing of its own kind's."""
        method = self.method(kind, name)
        return method is not None and not method.decorator_list and "super(" not in ast.unparse(method)


def is_base_constructor(node: ast.stmt) -> bool:
    """`super().__init__()` and `nn.Module.__init__(self)`, which an empty object has behind it."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__"))):
            return True
    return False


def wished_name(kind: ast.ClassDef) -> str:
    """The class's name, as a variable has it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind.name).lower()


def with_empty(tree: ast.Module) -> None:
    """Imports what an empty object is made of, where one is made."""
    used = any(isinstance(node, ast.Name) and node.id == EMPTY for node in ast.walk(tree))
    if used and not any(isinstance(node, ast.ImportFrom) and node.module == "types" for node in tree.body):
        future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        place = tree.body.index(future[-1]) + 1 if future else 0
        tree.body.insert(place, ast.ImportFrom("types", [ast.alias(EMPTY)], 0))


def _methods(kind: ast.ClassDef) -> Iterator[Function]:
    yield from (node for node in kind.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _declared(kind: ast.ClassDef) -> Iterator[tuple[str, ast.expr | None]]:
    for node in kind.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if "ClassVar" not in ast.unparse(node.annotation):
                yield name, _usual(value)


def _usual(value: ast.expr | None) -> ast.expr | None:
    """A field's default: what `field()` says, made anew where it has a factory."""
    if not isinstance(value, ast.Call) or last_name(value.func) != "field":
        return copy.deepcopy(value)
    for keyword in value.keywords:
        if keyword.arg == "default":
            return copy.deepcopy(keyword.value)
        if keyword.arg == "default_factory":
            factory = copy.deepcopy(keyword.value)
            return factory.body if isinstance(factory, ast.Lambda) else ast.Call(factory, [], [])
    return None


def _shared(kind: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for node in kind.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, copy.deepcopy(value)


def stored(name: str, attribute: str, value: ast.expr) -> ast.stmt:
    """`name.attribute = value`"""
    target = ast.Attribute(ast.Name(name, ast.Load()), attribute, ast.Store())
    return ast.Assign([target], value, lineno=0)
