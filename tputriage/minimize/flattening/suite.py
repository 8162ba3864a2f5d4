"""The suite's own modules, read as trees: what a name in one of them stands for, followed through imports. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tputriage.minimize.flattening.changing import changes
from tputriage.minimize.trees import DEFINITIONS, IMPORTS, binds

MOST_STARS = 20  # modules that import everything from each other


@dataclass(frozen=True, slots=True)
class Imported:
    """A name that comes from a package that is installed: `import module`, or `from module import name`."""

    module: str
    name: str = ""

    def text(self, bound: str) -> str:
        """The import that gives it the name `bound`."""
        if self.name:
            return f"from {self.module} import {self.name}" + (f" as {bound}" if bound != self.name else "")
        plain = bound == self.module.split(".")[0]
        return f"import {self.module}" + ("" if plain else f" as {bound}")


@dataclass(frozen=True, slots=True)
class Defined:
    """A name that a module of the suite binds; `nodes` are the statements that do, and those that change it."""

    module: OwnModule
    name: str
    nodes: tuple[ast.stmt, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """A name that is a module of the suite: `helpers` in `helpers.build()`."""

    module: OwnModule


Meaning: TypeAlias = Imported | Defined | Module


@dataclass(frozen=True, eq=False)
class OwnModule:
    name: str
    file: str
    tree: ast.Module
    devices: Mapping[str, str]
    bound: Mapping[str, tuple[ast.stmt, ...]]
    changed: Mapping[str, tuple[ast.stmt, ...]]  # name -> the top-level statements that change its value

    @property
    def package(self) -> str:
        return self.name if Path(self.file).name == "__init__.py" else self.name.rpartition(".")[0]

    @property
    def future(self) -> bool:
        """Whether its annotations are text."""
        nodes = (node for node in self.tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__")
        return any(alias.name == "annotations" for node in nodes for alias in node.names)


@dataclass
class Suite:
    """All modules of the suite that were loaded when the test was collected."""

    by_name: dict[str, OwnModule] = field(default_factory=dict)
    by_file: dict[str, OwnModule] = field(default_factory=dict)

    def module(self, name: str) -> OwnModule | None:
        """The module of that name; one that only a function imports is read from beside the others."""
        package = name.rpartition(".")[0]
        beside = next((other for other in self.by_name.values() if other.package == package), None) if package else None
        if name not in self.by_name and beside is not None:
            place = Path(beside.file).parent / name.rpartition(".")[2]
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                if file.is_file():
                    self.add(str(file), {"name": name, "devices": {}})
        return self.by_name.get(name)

    def add(self, file: str, about: Mapping[str, Any]) -> None:
        try:
            tree = ast.parse(Path(file).read_bytes())  # which says its own encoding
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return
        module = OwnModule(about["name"], file, tree, about["devices"], _bound(tree), changes(tree))
        self.by_name[module.name] = self.by_file[file] = module

    def meaning(self, module: OwnModule, name: str, stars: int = MOST_STARS) -> Meaning | None:
        """What the name stands for there; None for a builtin."""
        nodes = module.bound.get(name)
        if nodes is None:
            return self._starred(module, name, stars)
        last = nodes[-1]
        if isinstance(last, ast.If) and (found := _imports_of(last, name)):
            last = next((part for part in found if self._was_made(module, part)), found[0])
        if isinstance(last, ast.Import | ast.ImportFrom):
            return self.imported(module, last, name)
        return Defined(module, name, (*nodes, *module.changed.get(name, ())))

    def _was_made(self, module: OwnModule, node: ast.Import | ast.ImportFrom) -> bool:
        """Its module is one of the suite that is loaded."""
        return isinstance(node, ast.ImportFrom) and self.module(absolute(module, node)) is not None

    def imported(self, module: OwnModule, node: ast.Import | ast.ImportFrom, name: str) -> Meaning | None:
        """What an import there binds the name to."""
        return self._from(module, node, name) if isinstance(node, ast.ImportFrom) else self._import(node, name)

    def resolve(self, module: OwnModule, node: ast.expr) -> tuple[OwnModule, str] | None:
        """(module, name) that `helpers.build` or `tests.helpers.build` stands for; None for other attributes."""
        if not isinstance(node, ast.Attribute):
            return None
        owner = self._module_of(module, node.value)
        return (owner, node.attr) if owner and self._submodule(owner, node.attr) is None else None

    def _module_of(self, module: OwnModule, node: ast.expr) -> OwnModule | None:
        if isinstance(node, ast.Name):
            meaning = self.meaning(module, node.id)
            return meaning.module if isinstance(meaning, Module) else None
        outer = self._module_of(module, node.value) if isinstance(node, ast.Attribute) else None
        return self._submodule(outer, node.attr) if outer and isinstance(node, ast.Attribute) else None

    def _submodule(self, module: OwnModule, name: str) -> OwnModule | None:
        return None if name in module.bound else self.module(f"{module.name}.{name}")

    def _starred(self, module: OwnModule, name: str, stars: int) -> Meaning | None:
        for node in stars_of(module) if stars else ():
            other = self.module(absolute(module, node))
            if other is not None and (found := self.meaning(other, name, stars - 1)) is not None:
                return found
        return None

    def _from(self, module: OwnModule, node: ast.ImportFrom, name: str) -> Meaning | None:
        alias = next(alias for alias in node.names if (alias.asname or alias.name) == name)
        place = absolute(module, node)
        owner = self.module(place)
        found = self.meaning(owner, alias.name) if owner is not None and owner is not module else None
        submodule = None if found else self.module(f"{place}.{alias.name}")
        if owner is not None and owner is not module:
            return found or (Module(submodule) if submodule else None)
        if submodule is not None:
            return Module(submodule)
        return Imported(place, alias.name)

    def _import(self, node: ast.Import, name: str) -> Meaning:
        alias = next(alias for alias in node.names if (alias.asname or alias.name).split(".")[0] == name)
        target = alias.name if alias.asname else alias.name.split(".")[0]
        if (own := self.module(target)) is not None:
            return Module(own)
        inside = next((other for full, other in self.by_name.items() if full.startswith(f"{target}.")), None)
        if inside is not None and not alias.asname:  # a folder without an __init__.py
            return Module(OwnModule(target, "", ast.Module([], []), {}, {}, {}))
        return Imported(alias.name)


def absolute(module: OwnModule, node: ast.ImportFrom) -> str:
    """The full name of the module that a `from` names."""
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def stars_of(module: OwnModule) -> list[ast.ImportFrom]:
    return [node for node in module.tree.body if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]


def read_suite(told: Mapping[str, Any]) -> Suite:
    """The modules that the job kind `describe` names; one that cannot be read is left out."""
    suite = Suite()
    for file, about in told.items():
        suite.add(file, about)
    return suite


def _bound(tree: ast.Module) -> dict[str, tuple[ast.stmt, ...]]:
    """Name -> the top-level statements that bind it; a definition or an import stands for all before it."""
    found: dict[str, tuple[ast.stmt, ...]] = {}
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        whole = isinstance(node, (*DEFINITIONS, *IMPORTS))
        for name in binds(node):
            found[name] = (node,) if whole else (*found.get(name, ()), node)
    return found


def _imports_of(node: ast.If, name: str) -> list[ast.Import | ast.ImportFrom]:
    """The imports in an `if`: what it asks for is there, or the test would not have come so far."""
    imports = (part for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom))
    return [part for part in imports if name in binds(part)]
