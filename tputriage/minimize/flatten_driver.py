"""The last lines of a flattened test: fixtures in their order, setup, and the call of the test itself. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tputriage.errors import TriageError

# pytest's own fixtures by what a plain script has for them: (expression, imports).
PLAIN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "tmp_path": ("pathlib.Path(tempfile.mkdtemp())", ("import pathlib", "import tempfile")),
    "tmpdir": ("pathlib.Path(tempfile.mkdtemp())", ("import pathlib", "import tempfile")),
    "monkeypatch": ("pytest.MonkeyPatch()", ("import pytest",)),
}
IGNORED = frozenset({"pytestconfig", "record_property", "record_testsuite_property"})
REQUEST = (
    "types.SimpleNamespace(param={param}, instance={case}, cls={kind},"
    " addfinalizer=print, getfixturevalue=globals().get)"
)


@dataclass(frozen=True, slots=True)
class Driver:
    lines: tuple[str, ...]
    imports: tuple[str, ...]
    needs: tuple[tuple[str, str], ...]  # (file, name) of what the lines call
    renamed: Mapping[str, str]  # fixture functions, so that their values can have their names


def driver_of(told: Mapping[str, Any]) -> Driver:
    """Raises TriageError, saying what stands in the way, for what a plain script has nothing for."""
    writer = _Lines(told)
    writer.start()
    for fixture in told["fixtures"]:
        writer.fixture(fixture)
    writer.call()
    return Driver(tuple(writer.lines), tuple(writer.imports), tuple(writer.needs), writer.renamed)


class _Lines:
    def __init__(self, told: Mapping[str, Any]) -> None:
        self._told = told
        self._values: dict[str, str] = dict(told["params"])  # argument -> expression
        self.lines: list[str] = []
        self.imports: list[str] = []
        self.needs: list[tuple[str, str]] = []
        self.renamed: dict[str, str] = {}

    def start(self) -> None:
        told = self._told
        if not told["class"]:
            self.needs.append((told["file"], told["function"]))
            return
        kind = told["class"]
        self.needs.append((told["class_file"], kind))
        self.lines.append(f'case = {kind}("{told["function"]}")' if told["unittest"] else f"case = {kind}()")
        before, each = ("setUpClass", "setUp") if told["unittest"] else ("setup_class", "setup_method")
        self._setup(f"{kind}.{before}", f"case.{each}")

    def _setup(self, *calls: str) -> None:
        for call in calls:
            name = call.rpartition(".")[2]
            takes = name == "setup_method" and self._told["setup_takes_method"]
            given = f"case.{self._told['function']}" if takes else ""
            if name in self._told["setups"]:
                self.lines.append(f"{call}({given})")

    def fixture(self, fixture: Mapping[str, Any]) -> None:
        name = fixture["name"]
        if name in self._values or name in IGNORED or name == "request":
            return
        if not fixture["file"]:
            self._plain(name)
            return
        arguments = ", ".join(f"{key}={self._argument(key, fixture)}" for key in fixture["arguments"] if key != "self")
        called = f"{self._callee(fixture)}({arguments})"
        if fixture["generator"]:
            self.lines.append(f"{name}_steps = {called}")
            called = f"next({name}_steps)"
        self.lines.append(f"{name} = {called}")
        self._values[name] = name

    def _callee(self, fixture: Mapping[str, Any]) -> str:
        function = fixture["function"]
        if fixture.get("in_class"):
            return f"case.{function}"
        self.needs.append((fixture["file"], function))
        self.renamed[function] = f"make_{fixture['name']}"
        return self.renamed[function]

    def _argument(self, key: str, fixture: Mapping[str, Any]) -> str:
        if key == "request":
            self.imports.append("import types")
            case = "case" if self._told["class"] else "None"
            return REQUEST.format(param=fixture["param"], case=case, kind=self._told["class"] or "None")
        if key not in self._values:
            raise TriageError(f"the fixture {fixture['name']} needs {key}, which a script cannot have")
        return self._values[key]

    def _plain(self, name: str) -> None:
        if name in PLAIN:
            text, imports = PLAIN[name]
            self.lines.append(f"{name} = {text}")
            self.imports += imports
            self._values[name] = name

    def call(self) -> None:
        told = self._told
        missing = [name for name in told["arguments"] if name not in self._values]
        if missing:
            unwritten = missing[0] in told["unwritten"]
            why = "cannot be written down" if unwritten else "is a fixture that a script cannot have"
            raise TriageError(f"the test's argument {missing[0]} {why}")
        arguments = ", ".join(f"{name}={self._values[name]}" for name in told["arguments"])
        self.lines.append(f"{'case.' if told['class'] else ''}{told['function']}({arguments})")
