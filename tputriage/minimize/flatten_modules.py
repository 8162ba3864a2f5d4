"""The suite's own modules, read as trees: what a name in one of them stands for, followed through imports. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tputriage.minimize.trees import IMPORTS, binds


@dataclass(frozen=True, slots=True)
class Imported:
    """A name that comes from a package that is installed; `text` is its import."""

    text: str


@dataclass(frozen=True, slots=True)
class Defined:
    """A name that a module of the suite binds; `node` is the statement that does."""

    module: OwnModule
    name: str
    node: ast.stmt


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
    bound: Mapping[str, ast.stmt]

    @property
    def package(self) -> str:
        return self.name if Path(self.file).name == "__init__.py" else self.name.rpartition(".")[0]


@dataclass
class Suite:
    """All modules of the suite that were loaded when the test was collected."""

    by_name: dict[str, OwnModule] = field(default_factory=dict)
    by_file: dict[str, OwnModule] = field(default_factory=dict)

    def meaning(self, module: OwnModule, name: str) -> Meaning | None:
        """What the name stands for there; None for a builtin."""
        node = module.bound.get(name)
        if node is None:
            return self._starred(module, name)
        if isinstance(node, ast.ImportFrom):
            return self._from(module, node, name)
        if isinstance(node, ast.Import):
            return self._import(node, name)
        return Defined(module, name, node)

    def _starred(self, module: OwnModule, name: str) -> Meaning | None:
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                other = self.by_name.get(absolute(module, node))
                if other is not None and name in other.bound:
                    return self.meaning(other, name)
        return None

    def _from(self, module: OwnModule, node: ast.ImportFrom, name: str) -> Meaning | None:
        alias = next(alias for alias in node.names if (alias.asname or alias.name) == name)
        place = absolute(module, node)
        submodule = self.by_name.get(f"{place}.{alias.name}")
        if place in self.by_name:
            found = self.meaning(self.by_name[place], alias.name)
            return found or (Module(submodule) if submodule else None)
        if submodule is not None:
            return Module(submodule)
        return Imported(f"from {place} import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))

    def _import(self, node: ast.Import, name: str) -> Meaning:
        alias = next(alias for alias in node.names if (alias.asname or alias.name).split(".")[0] == name)
        target = alias.name if alias.asname else alias.name.split(".")[0]
        if target in self.by_name:
            return Module(self.by_name[target])
        return Imported(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))


def absolute(module: OwnModule, node: ast.ImportFrom) -> str:
    """The full name of the module that a `from` names."""
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def read_suite(told: Mapping[str, Any]) -> Suite:
    """The modules that the job kind `describe` names; one that cannot be read is left out."""
    suite = Suite()
    for file, about in told.items():
        try:
            tree = ast.parse(Path(file).read_text("utf-8"))
        except (OSError, SyntaxError, ValueError):
            continue
        module = OwnModule(about["name"], file, tree, about["devices"], _bound(tree))
        suite.by_name[module.name] = suite.by_file[file] = module
    return suite


def _bound(tree: ast.Module) -> dict[str, ast.stmt]:
    """Name -> the top-level statement that binds it; of an `if` or `try` that imports, the import alone."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        found.update(dict.fromkeys(binds(node), node))
        if isinstance(node, (ast.If, ast.Try)):
            imports = (part for part in ast.walk(node) if isinstance(part, IMPORTS))
            found.update((name, part) for part in imports for name in binds(part))
    return found
