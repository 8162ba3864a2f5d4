"""From a node id to one standalone script: the test, its fixtures, helpers, constants and bases, in one file.

The suite's own modules are followed through their imports; what is installed stays an import. The device is the
script's argument: names that hold it in the suite are bound to it, no text is replaced. Decorators that only skip,
mark or parametrize are left out. Nothing is run here but the question what the test is made of.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tputriage.errors import TriageError
from tputriage.minimize.flatten_driver import Driver, driver_of
from tputriage.minimize.flatten_modules import Defined, Imported, Module, OwnModule, Suite, read_suite
from tputriage.minimize.trees import DEFINITIONS, reads, swept, texts
from tputriage.minimize.writing import DEVICE_LINE
from tputriage.targets.seam import Ended, Job, Runner

DESCRIBE_LIMIT_S = 60.0
MOST_PRUNINGS = 30
ONLY_MARKS = re.compile(
    r"pytest\.|unittest\.(skip|expected)|parameterized\b|mark\."
    r"|([\w.]+\.)?(require|skip|slow|nightly|is_flaky|flaky|run_slow|tooslow)\w*"
)
BUILT_ON = frozenset({"object", "unittest.TestCase", "TestCase", "abc.ABC", "ABC", "Generic"})


class FlattenError(TriageError):
    """A test that cannot be written as one script; the text says what stood in the way."""


def flatten(test_id: str, device: Runner) -> str:
    """The script; raises FlattenError where there can be none."""
    return assemble(describe(test_id, device), device.target.device)


def describe(test_id: str, device: Runner) -> Mapping[str, Any]:
    """What the test is made of, see inside/kinds/describe.py."""
    answer = next(iter(device.ask([Job("describe", {"test_id": test_id}, DESCRIBE_LIMIT_S)])))
    if answer.ended is not Ended.DONE or answer.value.get("reason"):
        reason = answer.value.get("reason") or answer.last_words.strip().rpartition("\n")[2] or answer.ended
        raise FlattenError(f"the test could not be described: {reason}")
    return answer.value


def assemble(told: Mapping[str, Any], device: str) -> str:
    """The script of a described test."""
    suite = read_suite(told["modules"])
    driver = driver_of(told)
    writer = _Writer(suite)
    for file, name in driver.needs:
        if file not in suite.by_file:
            raise FlattenError(f"{name} is defined outside the suite's own modules")
        writer.need(suite.by_file[file], name)
    body = [_renamed(node, driver.renamed) for node in writer.body]
    text = _script(writer, body, driver, device)
    return _pruned(text, told["function"])


def _script(writer: _Writer, body: Sequence[ast.stmt], driver: Driver, device: str) -> str:
    imports = sorted(writer.imports | set(driver.imports), key=lambda text: (text.startswith("from"), text))
    future = ["from __future__ import annotations"] if writer.future else []
    parts = [*future, "import sys", *imports, DEVICE_LINE.format(device=device).strip()]
    parts += [ast.unparse(ast.fix_missing_locations(node)) for node in body]
    return "\n".join([*parts, *driver.lines]) + "\n"


@dataclass
class _Writer:
    """Definitions in an order in which each comes after what it needs."""

    suite: Suite
    imports: set[str] = field(default_factory=set)
    body: list[ast.stmt] = field(default_factory=list)
    future: bool = False
    _seen: set[tuple[str, str]] = field(default_factory=set)
    _nodes: set[int] = field(default_factory=set)
    _bound: set[str] = field(default_factory=set)  # assignments of the device made so far
    _owner: dict[str, str] = field(default_factory=dict)  # name in the script -> where it comes from

    def need(self, module: OwnModule, name: str) -> None:
        """Brings in what the name stands for in that module, with all that this needs."""
        if (module.file, name) in self._seen:
            return
        self._seen.add((module.file, name))
        meaning = self.suite.meaning(module, name)
        if isinstance(meaning, Imported):
            self.imports.add(meaning.text)
            self._own(name, meaning.text)
        elif isinstance(meaning, Defined):
            self._define(meaning)
            if meaning.name != name:
                self.body.append(ast.parse(f"{name} = {meaning.name}").body[0])

    def _own(self, name: str, where: str) -> None:
        if self._owner.setdefault(name, where) != where:
            raise FlattenError(f"two different things are called {name}: one of {self._owner[name]}, one of {where}")

    def _define(self, found: Defined) -> None:
        if id(found.node) in self._nodes:
            return
        self._own(found.name, found.module.file)
        if found.name in found.module.devices:
            self._device(found)
            return
        self._nodes.add(id(found.node))
        self._seen.add((found.module.file, found.name))
        node = _Cleaner(self.suite, found.module).visit(copy.deepcopy(found.node))
        for name in sorted(reads(found.node)):
            self.need(found.module, name)
        for other, name in _through_modules(self.suite, found.module, found.node):
            self.need(other, name)
        self.future = self.future or ("annotations" in found.module.bound and _is_future(found.module))
        self.body.append(node)

    def _device(self, found: Defined) -> None:
        whole = found.module.devices[found.name] == "device"
        if whole:
            self.imports.add("import torch")
        text = "torch.device(device)" if whole else "device"
        assigned = f"{found.name} = {text}"
        if found.name != "device" and assigned not in self._bound:
            self._bound.add(assigned)
            self.body.append(ast.parse(assigned).body[0])


def _is_future(module: OwnModule) -> bool:
    node = module.bound["annotations"]
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _through_modules(suite: Suite, module: OwnModule, node: ast.AST) -> list[tuple[OwnModule, str]]:
    """`helpers.build` where `helpers` is a module of the suite."""
    found = []
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            meaning = suite.meaning(module, part.value.id)
            if isinstance(meaning, Module):
                found.append((meaning.module, part.attr))
    return found


class _Cleaner(ast.NodeTransformer):
    """Without marks; names reached through a module of the suite become plain."""

    def __init__(self, suite: Suite, module: OwnModule) -> None:
        self._suite = suite
        self._module = module

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [part for part in node.decorator_list if not ONLY_MARKS.match(ast.unparse(part))]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [part for part in node.decorator_list if not ONLY_MARKS.match(ast.unparse(part))]
        node.body = [part for part in node.body if not _is_mark(part)] or [ast.Pass()]
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        through = isinstance(node.value, ast.Name) and self._suite.meaning(self._module, node.value.id)
        if isinstance(through, Module):
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        return self.generic_visit(node)


def _is_mark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"


def _renamed(node: ast.stmt, new: Mapping[str, str]) -> ast.stmt:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in new:
        node.name = new[node.name]
    return node


def _pruned(text: str, function: str) -> str:
    """Without members of the suite's classes that nothing mentions, and what only they needed."""
    for _ in range(MOST_PRUNINGS):
        tree = ast.parse(text)
        for node in [part for part in tree.body if isinstance(part, ast.ClassDef)]:
            _prune_class(node, tree, function)
        after = swept(ast.unparse(ast.fix_missing_locations(tree)), bold=False)
        if after == text:
            break
        text = after
    return text


def _prune_class(node: ast.ClassDef, tree: ast.Module, function: str) -> None:
    own = {part.name for part in tree.body if isinstance(part, ast.ClassDef)}
    foreign = any(ast.unparse(base).split("[")[0] not in BUILT_ON | own for base in node.bases)
    mentioned = _mentioned(tree)
    kept = []
    for part in node.body:
        name = part.name if isinstance(part, DEFINITIONS) else ""
        test = name.startswith("test") and name != function
        hook = name.startswith("__") or (foreign and not test)
        if not name or name in mentioned or hook:
            kept.append(part)
    node.body[:] = kept or [ast.Pass()]


def _mentioned(tree: ast.Module) -> set[str]:
    """Attributes, names and strings, a method's own mentions of its name left out."""
    found: set[str] = set()
    for node in _members(tree):
        inside = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)} | reads(node)
        inside |= texts(node)
        found |= inside - ({node.name} if isinstance(node, DEFINITIONS) and not _calls_super(node) else set())
    return found


def _members(tree: ast.Module) -> list[ast.AST]:
    found: list[ast.AST] = []
    for node in tree.body:
        found.extend([*node.body, *node.bases, *node.decorator_list] if isinstance(node, ast.ClassDef) else [node])
    return found


def _calls_super(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "super" for part in ast.walk(node))
