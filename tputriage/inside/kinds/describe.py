"""What a collected test is made of, without running it: {"test_id"}.

{"file", "class", "class_file", "function", "unittest", "setups", "setup_takes_method", "arguments",
"params": {name: text}, "unwritten": [names], "fixtures": [...],
"modules": {file: {"name", "devices": {name: "text" | "device"}}}} or {"reason"}. A fixture, in the order of
setup, is {"name", "file", "line", "function", "arguments", "in_class", "generator", "param": text or None}; one
of pytest's own has the file "". `devices` are the names of a module that hold the device, as a string or as a
torch.device.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import os
import sys
import unittest
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..spelling import Speller

if TYPE_CHECKING:
    from ..session import Session

# Fixtures that pytest makes of setUp, setup_method and their like.
MADE_BY_PYTEST = ("_xunit", "_unittest", "xunit_", "unittest_", "setup_", "setUpClass", "_Session")

SETUPS = ("setUpClass", "setUp", "setup_class", "setup_method")


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    item = session.items.get(payload["test_id"])
    if item is None:
        return {"reason": f"no test is called {payload['test_id']}"}
    function = inspect.unwrap(getattr(item, "function", None) or item.obj)
    spec = getattr(item, "callspec", None)
    speller = Speller(item.module.__dict__, session.device, {})
    spelled = {name: speller.spell(value, exact=True) for name, value in (spec.params if spec else {}).items()}
    return {
        "file": _file(function),
        "class": item.cls.__name__ if item.cls else "",
        "class_file": _file(item.cls) if item.cls else "",
        "function": getattr(item, "originalname", None) or function.__name__,
        "setups": [name for name in SETUPS if item.cls and hasattr(item.cls, name)],
        "setup_takes_method": _takes_method(item.cls),
        "unittest": bool(item.cls and issubclass(item.cls, unittest.TestCase)),
        "arguments": _arguments(function, {*spelled, *getattr(item, "fixturenames", ())}),
        "params": {name: text for name, text in spelled.items() if text is not None},
        "unwritten": sorted(name for name, text in spelled.items() if text is None),
        "fixtures": _fixtures(item, spelled),
        "modules": _modules(session),
    }


def _takes_method(kind: Any) -> bool:
    """Whether `setup_method` wants the test's method, which pytest gives to those that do."""
    setup = getattr(kind, "setup_method", None)
    return setup is not None and len(inspect.signature(setup).parameters) > 1


def _arguments(function: Any, given: set[str]) -> list[str]:
    """What the test has to be called with: pytest leaves arguments with a default alone."""
    parameters = inspect.signature(function).parameters
    empty = inspect.Parameter.empty
    named = (one for one in parameters.values() if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD))
    return [one.name for one in named if one.name != "self" and (one.default is empty or one.name in given)]


def _fixtures(item: Any, spelled: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """In the order in which they are set up: each after those it asks for."""
    info = getattr(item, "_fixtureinfo", None)
    defs: Mapping[str, Any] = info.name2fixturedefs if info is not None else {}
    found: dict[str, dict[str, Any]] = {}

    def add(name: str) -> None:
        if name in found or name not in defs or name.startswith(MADE_BY_PYTEST):
            return
        definition = defs[name][-1]
        for other in definition.argnames:
            add(other)
        if name not in found:
            found[name] = _fixture(name, definition, spelled)

    for name in getattr(item, "fixturenames", ()):
        add(name)
    return list(found.values())


def _fixture(name: str, definition: Any, spelled: Mapping[str, str | None]) -> dict[str, Any]:
    function = inspect.unwrap(getattr(definition.func, "__func__", definition.func))
    own = f"{os.sep}_pytest{os.sep}" in _file(function) or not hasattr(function, "__code__")
    return {
        "name": name,
        "file": "" if own else _file(function),
        "line": function.__code__.co_firstlineno if hasattr(function, "__code__") else 0,
        "function": function.__name__ if hasattr(function, "__name__") else name,
        "arguments": list(definition.argnames),
        "in_class": "." in getattr(function, "__qualname__", "").rpartition("<locals>.")[2],
        "generator": inspect.isgeneratorfunction(function),
        "param": spelled.get(name),
    }


def _modules(session: Session) -> dict[str, dict[str, Any]]:
    """The suite's own modules that are loaded, by file."""
    found = {}
    installed = importlib.metadata.packages_distributions()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        # The library under test may lie in the same folder; a script imports what is installed.
        if file and name.split(".")[0] not in installed and _is_own(str(file), session.root):
            found[os.path.realpath(file)] = {"name": name, "devices": _devices(module, session.device)}
    return found


def _is_own(file: str, root: str) -> bool:
    path = os.path.realpath(file)
    installed = any(part in path for part in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"))
    return path.startswith(os.path.realpath(root) + os.sep) and not installed and path.endswith(".py")


def _devices(module: Any, device: str) -> dict[str, str]:
    torch = sys.modules.get("torch")
    found = {}
    for name, value in list(vars(module).items()):
        if type(value) is str and value == device and not name.startswith("__"):
            found[name] = "text"
        elif torch is not None and isinstance(value, torch.device) and value.type == device:
            found[name] = "device"
    return found


def _file(thing: Any) -> str:
    try:
        return os.path.realpath(inspect.getsourcefile(thing) or "")
    except TypeError:
        return ""
