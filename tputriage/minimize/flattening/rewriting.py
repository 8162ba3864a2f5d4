"""A statement of one of the suite's modules rewritten for the script: its global names by those they have there.

Scopes are respected: a parameter or a local variable of the same name stays what it is. Names that are reached
through a module of the suite become plain, imports from such modules inside functions go, and so do decorators
that only mark or skip. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tputriage.minimize.flattening.changing import root_of
from tputriage.minimize.flattening.suite import Imported, Module, OwnModule, Suite, absolute
from tputriage.minimize.trees import Function, binds, parameters

ONLY_MARKS = re.compile(
    r"pytest\.|unittest\.(skip|expected)|mark\."
    r"|([\w.]+\.)?(require_|requires_|skip|slow|nightly|is_flaky|flaky|run_slow|tooslow|parameterized)\w*"
)
MARKING = ("pytest", "parameterized", "flaky", "hypothesis", "pytest_asyncio")
PATCHING = ("patch", "setattr", "delattr")  # which may be told a name by its path
ITSELF = "sys.modules[__name__]"  # what stands for a module of the suite as a value
NameOf = Callable[[OwnModule, str], str]


class Rewriter(ast.NodeTransformer):
    """`name_of` says what the script calls a global name of a module of the suite."""

    def __init__(self, suite: Suite, module: OwnModule, name_of: NameOf) -> None:
        self._suite = suite
        self._module = module
        self._name_of = name_of
        self._scopes: list[set[str]] = []  # of the functions around, outermost first
        self._class: set[str] = set()  # names of the class body directly around
        self._globals: set[str] = set()
        self._aliases: dict[str, OwnModule] = {}  # modules that a function imports for itself
        self._in_class = 0  # how many classes are around
        self.is_later = False  # whether what is visited runs later than the statement itself

    def _is_local(self, name: str) -> bool:
        if name in self._globals:
            return False
        return name in self._class or any(name in scope for scope in self._scopes)

    def _new(self, name: str) -> str:
        return name if self._is_local(name) else self._name_of(self._module, name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self._new(node.id), node.ctx), node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.Global([self._new(name) for name in node.names])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._new(node.name) if node.name else None
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        found = self._through(node)
        if found is None:
            return self.generic_visit(node)
        name = self._name_of(*found)
        if not self._is_local(name) and not (self._scopes and not isinstance(node.ctx, ast.Load)):
            return ast.copy_location(ast.Name(name, node.ctx), node)
        itself = ast.parse(ITSELF, mode="eval").body  # a name of its own would be the function's
        return ast.copy_location(ast.Attribute(itself, name, node.ctx), node)

    def _through(self, node: ast.Attribute) -> tuple[OwnModule, str] | None:
        root = root_of(node)
        if not self._is_local(root):
            return self._suite.resolve(self._module, node)
        direct = isinstance(node.value, ast.Name) and root in self._aliases
        return (self._aliases[root], node.attr) if direct else None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`setattr(helpers, "size", 1)`, `patch("tests.helpers.size")` and their like: what the script calls so."""
        if ast.unparse(node.func).endswith(PATCHING) and node.args and isinstance(node.args[0], ast.Constant):
            node.args[0] = self._path(node.args[0])
        if len(node.args) > 1 and isinstance(node.args[0], ast.Name) and isinstance(node.args[1], ast.Constant):
            name, word = node.args[0].id, node.args[1].value
            meaning = None if self._is_local(name) else self._suite.meaning(self._module, name)
            if isinstance(meaning, Module) and isinstance(word, str):
                node.args[1] = ast.Constant(self._name_of(meaning.module, word))
        return self.generic_visit(node)

    def _path(self, node: ast.Constant) -> ast.expr:
        """The path to a name of a module of the suite, as a string, by the script's own name."""
        parts = node.value.split(".") if isinstance(node.value, str) else []
        for count in range(len(parts) - 1, 0, -1):
            own = self._suite.by_name.get(".".join(parts[:count]))
            if own is not None:
                path = ".".join(["", self._name_of(own, parts[count]), *parts[count + 1 :]])
                return ast.parse(f"__name__ + {path!r}", mode="eval").body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: Function) -> ast.AST:
        node.decorator_list = [self.visit(part) for part in node.decorator_list if not self._only_marks(part)]
        self._defaults(node.args)
        node.returns = self._annotation(node.returns)
        node.name = self._new(node.name)
        names = parameters(node) | binds(*node.body)
        declared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
        with self._later(node), self._scope(names - declared - self._own_imports(node.body), declared):
            node.body = self._block(node.body)
        return node

    @contextmanager
    def _later(self, node: Function | None = None) -> Iterator[None]:
        """What a decorator is given may be called at once, outside a class."""
        outer = self.is_later
        self.is_later = outer or node is None or not node.decorator_list or bool(self._in_class)
        yield
        self.is_later = outer

    def _annotation(self, node: ast.expr | None) -> ast.expr | None:
        if node is None or not self._module.future:
            return self.visit(node) if node else None
        with self._later():
            return self.visit(node)  # type: ignore[no-any-return]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.target = self.visit(node.target)
        node.annotation = self._annotation(node.annotation) or node.annotation
        node.value = self.visit(node.value) if node.value else None
        return node

    def _defaults(self, given: ast.arguments) -> None:
        given.defaults = [self.visit(part) for part in given.defaults]
        given.kw_defaults = [self.visit(part) if part else None for part in given.kw_defaults]
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        for part in every:
            if part is not None:
                part.annotation = self._annotation(part.annotation)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._defaults(node.args)
        with self._scope(parameters(node)):
            node.body = self.visit(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [self.visit(part) for part in node.decorator_list if not self._only_marks(part)]
        node.bases = [self.visit(part) for part in node.bases]
        node.keywords = [self.visit(part) for part in node.keywords]
        node.name = self._new(node.name)
        outer, self._class = self._class, binds(*node.body) - self._own_imports(node.body)
        self._in_class += 1
        node.body = self._block([part for part in node.body if not _is_mark(part)])
        self._in_class -= 1
        self._class = outer
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node, node.generators)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node, node.generators)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node, node.generators)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node, node.generators)

    def _comprehension(self, node: ast.expr, generators: Sequence[ast.comprehension]) -> ast.AST:
        names = {part.id for one in generators for part in ast.walk(one.target) if isinstance(part, ast.Name)}
        # The first iterable is looked up in the scope around, which sees the names of a class body.
        first = self.visit(generators[0].iter)
        with self._scope(names):
            self.generic_visit(node)
        generators[0].iter = first
        return node

    @contextmanager
    def _scope(self, names: set[str], declared: set[str] = frozenset()) -> Iterator[None]:  # type: ignore[assignment]
        outer, self._class = self._class, set()
        outer_globals, self._globals = self._globals, self._globals - names | declared
        self._scopes.append(names)
        yield
        self._scopes.pop()
        self._class, self._globals = outer, outer_globals

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        return self._import(node)

    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.stmt]:
        return self._import(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        """An import from the suite's own modules: its names are the script's."""
        own = self._own_names(node)
        if not own:
            return node
        kept = [alias for alias in node.names if (alias.asname or alias.name).split(".")[0] not in own]
        lines = [f"{name} = {new}" for name in sorted(own) if (new := self._imported(node, name)) != name]
        rest: list[ast.stmt] = [type(node)(**{**vars(node), "names": kept})] if kept else []
        return [*rest, *ast.parse("\n".join(lines)).body] or [ast.Pass()]

    def _imported(self, node: ast.Import | ast.ImportFrom, name: str) -> str:
        meaning = self._suite.imported(self._module, node, name)
        if isinstance(meaning, Module):
            self._aliases[name] = meaning.module
            return ITSELF
        assert isinstance(node, ast.ImportFrom)
        alias = next(alias for alias in node.names if (alias.asname or alias.name) == name)
        other = self._suite.module(absolute(self._module, node))
        return self._name_of(other, alias.name) if other else name

    def _own_names(self, node: ast.AST) -> set[str]:
        if not isinstance(node, ast.Import | ast.ImportFrom) or any(alias.name == "*" for alias in node.names):
            return set()
        meanings = {name: self._suite.imported(self._module, node, name) for name in binds(node)}
        return {name for name, meaning in meanings.items() if meaning and not isinstance(meaning, Imported)}

    def _own_imports(self, body: Sequence[ast.stmt]) -> set[str]:
        """Names that imports from the suite's own modules would bind to just what the script calls so."""
        parts = [part for node in body for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom)]
        names = {(name, id(part)): part for part in parts for name in self._own_names(part)}
        with self._later():  # needed where the import stands
            return {name for (name, _), part in names.items() if self._imported(part, name) == name}

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made = [self.visit(node) for node in body]
        return [part for one in made for part in (one if isinstance(one, list) else [one])] or [ast.Pass()]

    def _only_marks(self, decorator: ast.expr) -> bool:
        """By the decorator's name, or by where that comes from."""
        if ONLY_MARKS.match(ast.unparse(decorator)):
            return True
        plain = decorator.func if isinstance(decorator, ast.Call) else decorator
        meaning = self._suite.meaning(self._module, root_of(plain))
        return isinstance(meaning, Imported) and meaning.module.split(".")[0] in MARKING


def _is_mark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
