"""The last lines of a flattened test: fixtures in their order, setup, and the call of the test itself. Pure."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Mapping, Sequence
from typing import Any

from tputriage.errors import TriageError
from tputriage.minimize.flattening.params import fixture_parameter, parameter
from tputriage.minimize.flattening.plain import IGNORED, PLAIN, asked_of, request
from tputriage.minimize.flattening.rewriting import ITSELF
from tputriage.minimize.flattening.suite import Defined, OwnModule
from tputriage.minimize.flattening.writer import Writer
from tputriage.minimize.trees import functions

BEFORE_FIXTURES = ("setUpModule", "setup_module", "setUpClass", "setup_class", "setup_function", "setup_method")
TORN_DOWN = (
    "tearDown", "teardown_method", "teardown_function", "finalizers", "tearDownClass", "teardown_class",
    "tearDownModule", "teardown_module",
)  # fmt: skip


class _Argument(ast.NodeTransformer):
    """The device's name, wherever it stands, by the script's argument."""

    def __init__(self, device: str) -> None:
        self._device = device

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Name("device", ast.Load()) if node.value == self._device else node


class Driver:
    """Writes the lines; raises TriageError, saying what stands in the way, for what a plain script has nothing for.

    `whole` also tears down what was set up.
    """

    def __init__(self, told: Mapping[str, Any], writer: Writer, device: str, *, whole: bool = False) -> None:
        self._told = told
        self._writer = writer
        self._device = device
        self._whole = whole
        self._values: dict[str, str] = {}  # argument -> expression
        self._around = ""  # the `with` that the call of the test stands in
        self._kind = ""
        self._case = ""  # what the test is called on, with a dot
        self.lines: list[str] = []
        values = [_plain(fixture["value"]) for fixture in told["fixtures"] if self._is_made(fixture)]
        writer.reserve([*values, *(f"{value}_steps" for value in values), "request"])

    def drive(self) -> None:
        told = self._told
        fixtures = told["fixtures"]
        if self._whole:
            self._line("finalizers = contextlib.ExitStack()", "import contextlib")
        in_order = {fixture["setup"] for fixture in fixtures if "setup" in fixture}
        self._class()
        self._setups([name for name in BEFORE_FIXTURES if name not in in_order])
        self._params()
        for fixture in fixtures:
            if "setup" in fixture:
                self._setups([fixture["setup"]])
            else:
                self._fixture(fixture)
        if told["asynchronous"]:  # its setup, test, teardown and cleanups run on one loop
            self._line("case.debug()")
            return
        self._setups(["setUp"])
        self._call()
        if self._whole:
            self._setups(TORN_DOWN)

    def _is_made(self, fixture: Mapping[str, Any]) -> bool:
        """Whether a line of the script binds it; pytest has a fixture of each parameter too."""
        return "value" in fixture and bool(fixture["file"] or fixture["name"] in PLAIN)

    def _line(self, text: str, *imports: str) -> None:
        self.lines.append(text)
        self._writer.imports.update(imports)

    def _module(self, file: str, name: str) -> OwnModule:
        module = self._writer.suite.by_file.get(file)
        if module is None:
            raise TriageError(f"{name} is defined outside the suite's own modules")
        return module

    def _named(self, name: str, file: str) -> str:
        """What the script calls a name of the test's module, or else of the file that it comes from."""
        main = self._module(self._told["module_file"], name)
        found = self._writer.suite.meaning(main, name)
        return self._writer.name_of(main if isinstance(found, Defined) else self._module(file, name), name)

    def _class(self) -> None:
        told = self._told
        if not told["class"]:
            return
        made = told["class_made"]
        outer, *inner = told["class"].split(".")
        self._kind = self._made_class(made) if made else ".".join([self._named(outer, told["class_file"]), *inner])
        name = told["function"]
        self._line(f'case = {self._kind}("{name}")' if told["unittest"] else f"case = {self._kind}()")
        self._case = "case."

    def _made_class(self, made: Mapping[str, Any]) -> str:
        bases = ", ".join(self._named(base, self._told["class_file"]) for base in made["bases"] if base != "object")
        lines = [f"    {name} = {self._expression(text)}" for name, text in made["attributes"].items()]
        text = "\n".join([f"class {self._told['class']}({bases}):", *lines, "    pass"])
        self._writer.body += ast.parse(text).body
        self._writer.reserve([self._told["class"]])
        return str(self._told["class"])

    def _setups(self, names: Sequence[str]) -> None:
        for name in names:
            if name == "finalizers":
                self._line("finalizers.close()")
            elif name in self._told["setups"]:
                self._setup(name)

    def _setup(self, name: str) -> None:
        told = self._told
        if name.endswith(("_module", "Module", "_function")):
            if name.endswith("_function") and told["class"]:
                return
            given = ITSELF if name.endswith("odule") else self._named(told["function"], told["file"])
            callee = self._named(name, told["module_file"])
            self._line(f"{callee}({given if self._takes(name) else ''})")
        elif told["class"]:
            takes = name in ("setup_method", "teardown_method") and told["setup_takes_method"]
            owner = self._kind if name.endswith(("Class", "_class")) else "case"
            self._line(f"{owner}.{name}({'case.' + told['function'] if takes else ''})")
            if name in ("tearDown", "tearDownClass") and told["unittest"]:
                self._cleanups("case._cleanups" if owner == "case" else f"{owner}._class_cleanups")

    def _cleanups(self, held: str) -> None:
        """unittest's own `doCleanups` keeps what a cleanup raises for the result of a run."""
        self._line(f"while {held}:")
        self._line(f"    function, args, kwargs = {held}.pop()")
        self._line("    function(*args, **kwargs)")

    def _takes(self, name: str) -> bool:
        nodes = self._module(self._told["module_file"], name).bound.get(name, ())
        return any(isinstance(node, ast.FunctionDef) and node.args.args for node in nodes)

    def _expression(self, text: str | ast.expr, module: OwnModule | None = None) -> str:
        """The expression by the names of the script, the device as its argument."""
        node = ast.parse(text, mode="eval").body if isinstance(text, str) else text
        place = module or self._module(self._told["module_file"], "the test")
        (made,) = self._writer.rewritten(place, ast.Expr(node))
        return ast.unparse(_Argument(self._device).visit(made))

    def _params(self) -> None:
        told = self._told
        self._values = {name: self._expression(text) for name, text in told["params"].items()}
        for name in told["unwritten"]:
            found = parameter(self._giving(), told, name)
            if found is not None:
                self._values[name] = self._expression(*found)

    def _giving(self) -> list[OwnModule]:
        """The modules whose marks may give the test its parameters."""
        told, known = self._told, self._writer.suite.by_file
        files = dict.fromkeys([told["file"], told["class_file"], told["module_file"]])
        return [known[file] for file in files if file in known]

    def _fixture(self, fixture: Mapping[str, Any]) -> None:
        name, value = fixture["name"], _plain(fixture["value"])
        if name in IGNORED or name == "request" or (name in self._values and not fixture["file"]):
            return
        if not fixture["file"]:
            self._plain(name)
            return
        if fixture["coroutine"]:
            raise TriageError(f"the fixture {name} is asynchronous, and the plugin that runs it is no part of a script")
        given = [(key, other) for key, other in fixture["arguments"].items() if key not in ("self", "cls")]
        arguments = ", ".join(f"{key}={self._argument(key, other, fixture)}" for key, other in given)
        called = f"{self._callee(fixture)}({arguments})"
        if fixture["generator"]:
            self._line(f"{value}_steps = {called}")
            called = f"next({value}_steps)"
        self._line(f"{value} = {called}")
        if fixture["generator"] and self._whole:
            self._line(f"finalizers.callback(next, {value}_steps, None)")
        self._values[fixture["value"]] = value

    def _callee(self, fixture: Mapping[str, Any]) -> str:
        function = fixture["function"]
        if fixture.get("in_class"):
            outer = fixture["outer"]  # a class around the test's own, of which pytest makes one for it
            return f"{self._outer(outer, fixture)}().{function}" if outer else f"case.{function}"
        module = self._module(fixture["file"], function)
        if function not in module.bound:
            raise TriageError(f"the fixture {fixture['name']} is made by another function")
        return self._writer.name_of(module, function, f"make_{fixture['name']}")

    def _outer(self, outer: str, fixture: Mapping[str, Any]) -> str:
        first, *inner = outer.split(".")
        return ".".join([self._named(first, fixture["file"]), *inner])

    def _argument(self, key: str, value: str, fixture: Mapping[str, Any]) -> str:
        if key == "request":
            module = self._module(fixture["file"], fixture["function"])
            function = functions(module.tree).get(fixture["line"])
            return self._request(asked_of(function), self._param(fixture, module), fixture["options"])
        if value not in self._values:
            raise TriageError(f"the fixture {fixture['name']} needs {key}, which a script cannot have")
        return self._values[value]

    def _param(self, fixture: Mapping[str, Any], module: OwnModule) -> str:
        if fixture["param"] is not None:
            return self._expression(fixture["param"])
        found = fixture_parameter(module, fixture) or parameter(self._giving(), self._told, fixture["name"])
        return self._expression(*found) if found is not None else "None"

    def _request(self, asked: frozenset[str] | None, param: str, options: Mapping[str, str]) -> str:
        told = self._told
        known = {
            "param": param,
            "instance": "case" if self._kind else "None",
            "cls": self._kind or "None",
            "function": f"{self._case}{told['function']}" if self._kind else "None",
            "options": "{" + ", ".join(f"{key!r}: {self._expression(text)}" for key, text in options.items()) + "}",
            "name": repr(told["function"]),
            "addfinalizer": "finalizers.callback" if self._whole else "callable",
        }
        text, imports = request(known, asked)
        self._writer.imports.update(imports)
        return text

    def _plain(self, name: str) -> None:
        if name in PLAIN:
            plain = PLAIN[name]
            for line in plain.lines:
                self._line(line.format(name=name), *plain.imports)
            self._around = plain.around.format(name=name) or self._around
            self._values[name] = name

    def _call(self) -> None:
        told = self._told
        if "request" in told["arguments"]:
            self._line(f"request = {self._request(None, 'None', {})}")
            self._values["request"] = "request"
        missing = [name for name in told["arguments"] if name not in self._values]
        if missing:
            unwritten = missing[0] in told["unwritten"]
            why = "cannot be written down" if unwritten else "is a fixture that a script cannot have"
            raise TriageError(f"the test's argument {missing[0]} {why}")
        arguments = ", ".join(f"{name}={self._values[name]}" for name in told["arguments"])
        callee = f"case.{told['function']}" if self._kind else self._named(told["function"], told["file"])
        called = f"{callee}({arguments})"
        if told["coroutine"]:
            called, self._writer.imports = f"asyncio.run({called})", self._writer.imports | {"import asyncio"}
        if self._around:
            self._line(f"with {self._around}:")
        self._line(f"{'    ' if self._around else ''}{called}")


def _plain(name: str) -> str:
    """A fixture may be called by a word of Python's own."""
    return f"{name}_" if keyword.iskeyword(name) else name
