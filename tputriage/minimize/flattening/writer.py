"""The definitions of a script in an order in which each comes after what it needs, every name for one thing.

Two things of one name get two names in the script. What a module of the suite is as a value is the script itself,
in which all its names are.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tputriage.errors import TriageError
from tputriage.minimize.flattening.changing import called, changed_by, root_of, touched
from tputriage.minimize.flattening.rewriting import ITSELF, Rewriter
from tputriage.minimize.flattening.suite import (
    Defined,
    Imported,
    Meaning,
    Module,
    OwnModule,
    Suite,
    stars_of,
)
from tputriage.minimize.trees import DEFINITIONS, IMPORTS, blocks

MOST_NAMES = 1000
MOST_WRITTEN = 400  # statements: what needs more is no test, but a library that could be imported
TAKEN = frozenset({"device", "sys", "case", "finalizers", *dir(builtins)})
# Statements of a module that set up the session of pytest, or the module's own place in it.
MAKES_NAMES = ("globals()[", "vars()[", "globals().update(", "setattr(sys.modules[__name__]")
SESSION = ("pytest.", "sys.path", "logging.", "warnings.", "unittest.main", "unittest.TextTestRunner", "print(")


@dataclass
class Writer:
    suite: Suite
    imports: set[str] = field(default_factory=set)
    body: list[ast.stmt] = field(default_factory=list)
    future: bool = False
    _given: dict[tuple[str, str], str] = field(default_factory=dict)  # (file, name) -> name in the script
    _owner: dict[str, str] = field(default_factory=dict)  # name in the script -> what it stands for
    _written: Counter[str] = field(default_factory=Counter)  # statements, by the package they come from
    _done: set[int] = field(default_factory=set)  # statements that are written, or are being written

    def reserve(self, names: Iterable[str]) -> None:
        """Names that the last lines of the script bind themselves."""
        self._owner.update(dict.fromkeys(names, "the script"))

    def name_of(self, module: OwnModule, name: str, wish: str = "") -> str:
        """What the script calls what the name stands for in that module; brings it in with all that it needs."""
        key = (module.file, name)
        if key not in self._given:
            self._given[key] = self._named(module, name, self.suite.meaning(module, name), wish or name)
        return self._given[key]

    def _named(self, module: OwnModule, name: str, meaning: Meaning | None, wish: str) -> str:
        if name in module.devices:  # wherever it comes from: an import of it may say another device elsewhere
            return self._device(module.devices[name], wish)
        if isinstance(meaning, Imported):
            return self._import(meaning, wish)
        if isinstance(meaning, Module):
            return self._itself(wish)
        if not isinstance(meaning, Defined):
            self._unknown(module, name)
            return name
        if (meaning.module.file, meaning.name) != (module.file, name):
            # A class tells its name.
            kept = isinstance(meaning.nodes[0], ast.ClassDef)
            return self.name_of(meaning.module, meaning.name, meaning.name if kept else wish)
        new = self._claim(wish, f"{module.file}:{name}")
        self._given[module.file, name] = new
        self._write(module, meaning.nodes)
        return new

    def _claim(self, name: str, owner: str) -> str:
        wishes = [name, *(f"{name}_{number}" for number in range(2, MOST_NAMES))]
        free = next(wish for wish in wishes if self._owner.get(wish, owner) == owner and wish not in TAKEN)
        self._owner[free] = owner
        return free

    def _import(self, meaning: Imported, wish: str) -> str:
        root = meaning.module.split(".")[0]
        plain = not meaning.name and wish == root
        if meaning.module == "sys" and plain:  # every script has it
            return wish
        bound = self._claim(wish, f"import {root}" if plain else f"{meaning.module}:{meaning.name}")
        self.imports.add(f"import {root} as {bound}" if plain and bound != wish else meaning.text(bound))
        return bound

    def _itself(self, wish: str) -> str:
        bound = self._claim(wish, ITSELF)
        self._assign(bound, ITSELF)
        return bound

    def _device(self, kind: str, wish: str) -> str:
        if kind == "text" and wish == "device":
            return wish
        text = "device" if kind == "text" else "torch.device(device)"
        if kind != "text":
            self.imports.add("import torch")
        bound = self._claim(wish, text)
        self._assign(bound, text)
        return bound

    def _assign(self, name: str, text: str) -> None:
        node = ast.parse(f"{name} = {text}").body[0]
        if not any(ast.dump(node) == ast.dump(other) for other in self.body):
            self.body.append(node)

    def _unknown(self, module: OwnModule, name: str) -> None:
        """What is no builtin is made without a statement that names it, or comes from a package that is installed."""
        if name == "torch":
            self.imports.add("import torch")
        if not hasattr(builtins, name):
            foreign = [node.module for node in stars_of(module) if node.module and not node.level]
            self.imports.update(f"from {place} import *" for place in foreign if place not in self.suite.by_name)
            makers = [node for node in module.tree.body if any(way in ast.unparse(node) for way in MAKES_NAMES)]
            self._write(module, [node for node in makers if not isinstance(node, DEFINITIONS)])

    def _write(self, module: OwnModule, nodes: Iterable[ast.stmt]) -> None:
        for node in nodes:
            if id(node) not in self._done:
                self._done.add(id(node))
                self._count(module)
                later = self._needs(module, node)
                place = len(self.body)
                for other, name in later:
                    self.name_of(other, name)
                self.body[place:place] = self._made(module, node)

    def _count(self, module: OwnModule) -> None:
        self._written[module.name.split(".")[0]] += 1
        if self._written.total() > MOST_WRITTEN:
            package = self._written.most_common(1)[0][0]
            raise TriageError(
                f"it needs more than {MOST_WRITTEN} definitions of the suite's folder, most of them from {package}: "
                f"install {package} in the interpreter, or name its folder in PYTHONPATH, and it stays an import"
            )

    def rewritten(self, module: OwnModule, node: ast.stmt) -> list[ast.stmt]:
        """The statement for the script, what it needs brought in before."""
        for other, name in self._needs(module, node):
            self.name_of(other, name)
        return self._made(module, node)

    def _needs(self, module: OwnModule, node: ast.stmt) -> list[tuple[OwnModule, str]]:
        """Brings in what the statement needs when it runs; the names that it needs once its functions are called.

        Those may need the statement itself: modules import each other in circles.
        """
        self.future = self.future or module.future
        needed: list[tuple[OwnModule, str, bool]] = []

        def note(other: OwnModule, name: str) -> str:
            needed.append((other, name, reader.is_later))
            return name

        # Named first, written after: a chain of needs as deep as a suite must not be a chain of visitors.
        reader = Rewriter(self.suite, module, note)
        reader.visit(copy.deepcopy(node))
        for other, name, later in needed:
            if not later:
                self.name_of(other, name)
        return [(other, name) for other, name, later in needed if later]

    def _made(self, module: OwnModule, node: ast.stmt) -> list[ast.stmt]:
        made = Rewriter(self.suite, module, self.name_of).visit(copy.deepcopy(node))
        return made if isinstance(made, list) else [made]

    def effects(self, module: OwnModule) -> None:
        """Statements of the module that are there for what they do to torch, the environment and the like."""
        for node in module.tree.body:
            if id(node) not in self._done and self._acts(module, node):
                self._write(module, [node])

    def _acts(self, module: OwnModule, node: ast.stmt) -> bool:
        text = ast.unparse(node)
        if text.startswith(SESSION) or "__name__" in text.partition("\n")[0]:
            return False
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Call) and not self._is_own(module, root_of(node.value.func), node)
        if isinstance(node, (*DEFINITIONS, *IMPORTS)):
            return any(self._notes(module, name) for name in called(node))
        if any(not self._is_own(module, name, node) for name in touched(node)):
            return True
        return any(self._acts(module, part) for block in blocks(node) for part in block)

    def _notes(self, module: OwnModule, name: str) -> bool:
        """Whether it is of another module, and notes there what it is called with: a registry's decorator."""
        meaning = self.suite.meaning(module, name)
        if not isinstance(meaning, Defined) or meaning.module is module:
            return False
        return any(changed_by(node) for node in meaning.nodes if isinstance(node, DEFINITIONS))

    def _is_own(self, module: OwnModule, name: str, node: ast.stmt) -> bool:
        """Whether what it changes is the module's own: that comes along with the name, where it is needed."""
        changes = not isinstance(node, ast.Expr) or name in touched(node)
        meaning = self.suite.meaning(module, name) if changes else None
        return isinstance(meaning, Defined) and meaning.module is module
