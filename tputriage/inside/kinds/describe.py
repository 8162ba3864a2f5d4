"""What a collected test is made of, without running it: {"test_id"}.

{"switch", "file", "module_file", "class", "class_file", "class_made": {...} or None, "line", "function", "unittest",
"coroutine", "asynchronous", "setups", "setup_takes_method", "arguments", "params": {name: text},
"unwritten": {name: place}, "fixtures": [...], "modules": {file: {"name", "devices": {name: "text" | "device"}}}}
or {"reason"}. `devices` are the names of a
module that hold the device, as a string or as a torch.device. A value that cannot be written down has the place
{"index", "wrapped", "bare"} in the suite's own list of values, or None. `class_made` says what a class that no `class`
statement made is made of: {"bases", "attributes": {name: text}}. Fixtures: see fixtures.py.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import os
import re
import sys
import unittest
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from .. import fixtures
from ..spelling import Speller

if TYPE_CHECKING:
    from ..session import Session

# Of a module, of a class, of a test; what sets up and what tears down.
SETUPS = (
    "setUpModule", "setup_module", "setup_function", "setUpClass", "setup_class", "setUp", "setup_method",
    "tearDown", "teardown_method", "tearDownClass", "teardown_class", "teardown_function", "tearDownModule",
    "teardown_module",
)  # fmt: skip
STANDARD_FINDERS = ("BuiltinImporter", "FrozenImporter", "PathFinder", "AssertionRewritingHook")


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    item = session.items.get(payload["test_id"])
    if item is None:
        return {"reason": f"no test is called {payload['test_id']}"}
    if not isinstance(item, pytest.Function):
        return {"reason": "it is no function of a Python file, but an item that a plugin made"}
    expanded = _expanded(item)
    function = expanded[0] if expanded else inspect.unwrap(getattr(item, "function", None) or item.obj)
    speller = Speller(item.module.__dict__, session.device, {})
    given = expanded[1] if expanded else _params(item)
    spelled = {name: speller.spell(value, exact=True) for name, value in given.items()}
    is_unittest = bool(item.cls and issubclass(item.cls, unittest.TestCase))
    return {
        "file": fixtures.file_of(function),
        "module_file": fixtures.file_of(item.module),
        "class": item.cls.__qualname__.rpartition("<locals>.")[2] if item.cls else "",
        "class_file": fixtures.file_of(item.cls) if item.cls else "",
        "class_made": _class_made(item.cls, item.module, speller) if item.cls else None,
        "line": function.__code__.co_firstlineno if hasattr(function, "__code__") else 0,
        "function": function.__name__ if expanded else getattr(item, "originalname", None) or function.__name__,
        "setups": [name for name in SETUPS if hasattr(item.cls, name) or name in vars(item.module)],
        "setup_takes_method": _takes_method(item.cls),
        "unittest": is_unittest,
        "coroutine": inspect.iscoroutinefunction(function),
        "asynchronous": bool(is_unittest and issubclass(item.cls, unittest.IsolatedAsyncioTestCase)),
        "arguments": list(given) if expanded else [] if is_unittest else _arguments(item, function),
        "params": {name: text for name, text in spelled.items() if text is not None},
        "unwritten": {name: _place(item, name) for name, text in spelled.items() if text is None},
        "fixtures": fixtures.described(item, spelled, speller),
        "modules": _modules(session),
        "switch": session.switch,
    }


def _params(item: Any) -> Mapping[str, Any]:
    spec = getattr(item, "callspec", None)
    return dict(spec.params) if spec else {}


def _expanded(item: Any) -> tuple[Any, dict[str, Any]] | None:
    """Of a test that `parameterized.expand` made: the function and its arguments, which a closure holds."""
    made = getattr(item, "function", None) or item.obj
    made = getattr(made, "__func__", made)
    names = getattr(made, "__code__", None) and made.__code__.co_freevars
    held = dict(zip(names or (), (cell.cell_contents for cell in made.__closure__ or ()), strict=True)) if names else {}
    function: Any = held.get("func")
    param: Any = held.get("p")
    if not inspect.isfunction(function) or not hasattr(param, "args") or not hasattr(param, "kwargs"):
        return None
    bound = inspect.signature(inspect.unwrap(function)).bind(None, *param.args, **param.kwargs)
    return inspect.unwrap(function), dict(list(bound.arguments.items())[1:])


def _place(item: Any, name: str) -> dict[str, Any] | None:
    """Where in its list of values a parameter stands; `parameterized` puts it into the test's name."""
    if expanded := _expanded(item):
        number = re.match(rf"{re.escape(expanded[0].__name__)}_(\d+)", item.name)
        bare = None if len(expanded[1]) == 1 else False
        return {"index": int(number[1]), "wrapped": False, "bare": bare} if number else None
    marks = list(item.iter_markers("parametrize"))
    for mark in marks:
        given = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        values = mark.args[1] if len(mark.args) > 1 else mark.kwargs.get("argvalues", ())
        names = [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else list(given)
        if name in names:
            bare = isinstance(given, str) and len(names) == 1
            if isinstance(values, Sequence):
                return fixtures.place_of(item.callspec.params[name], values, names.index(name), bare=bare)
            # It is used up; of several marks pytest's index is one into their product.
            return {"index": item.callspec.indices[name], "wrapped": None, "bare": bare} if len(marks) == 1 else None
    return None


def _takes_method(kind: Any) -> bool:
    """Whether `setup_method` wants the test's method, which pytest gives to those that do."""
    setup = getattr(kind, "setup_method", None)
    return setup is not None and len(inspect.signature(setup).parameters) > 1


def _arguments(item: Any, function: Any) -> list[str]:
    """What the test has to be called with: pytest leaves arguments with a default, and those of mocks, alone."""
    info = getattr(item, "_fixtureinfo", None)
    return list(info.argnames) if info is not None else list(inspect.signature(function).parameters)


def _class_made(kind: Any, module: Any, speller: Speller) -> dict[str, Any] | None:
    """Of a class that `parameterized_class` or `type` made; None where its file has a statement for it."""
    try:
        lines, _ = inspect.getsourcelines(kind)
        if any(line.lstrip().startswith(f"class {kind.__name__}") for line in lines[:40]):
            return None
    except (OSError, TypeError):
        pass
    inherited = [vars(base) for base in kind.__mro__[1:]]
    own = {
        name: value
        for name, value in vars(kind).items()
        if not name.startswith("__") and not any(held.get(name) is value for held in inherited)
    }
    texts = {name: speller.spell(value, exact=True) for name, value in own.items() if not inspect.isfunction(value)}
    return {
        "bases": [base.__name__ for base in kind.__bases__],
        "attributes": {name: text for name, text in texts.items() if text is not None and name.isidentifier()},
    }


def _modules(session: Session) -> dict[str, dict[str, Any]]:
    """The suite's own modules that are loaded, by file."""
    found = {}
    libraries = _libraries(session)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name.split(".")[0] not in libraries and _is_own(str(file), session.root):
            found[os.path.realpath(file)] = {"name": name, "devices": _devices(module, session.device)}
    return found


def _libraries(session: Session) -> set[str]:
    """Packages that a script in another folder can import: installed ones, and those that `PYTHONPATH` leads to.

    The library under test may lie in the same folder as the suite. A package that holds tests is none, unless
    it is installed.
    """
    installed = set(importlib.metadata.packages_distributions())
    tested = {item.module.__name__.split(".")[0] for item in session.items.values() if getattr(item, "module", None)}
    tested |= {name.split(".")[0] for name in sys.modules if name.split(".")[-1] == "conftest"}
    finders = [finder for finder in sys.meta_path if _name(finder) not in STANDARD_FINDERS]
    places = {os.path.realpath(place) for place in session.path if place}
    loaded = {name.split(".")[0] for name in list(sys.modules)} - installed - tested
    return installed | {name for name in loaded if _is_on(places, name) or _is_found(finders, name)}


def _name(finder: Any) -> str:
    return finder.__name__ if isinstance(finder, type) else type(finder).__name__


def _is_on(places: set[str], name: str) -> bool:
    module = sys.modules.get(name)
    for file in (getattr(module, "__file__", None), *getattr(module, "__path__", ())):
        if file:
            path = os.path.realpath(file)
            folder = os.path.dirname(path)
            return (os.path.dirname(folder) if path.endswith("__init__.py") else folder) in places
    return False


def _is_found(finders: Sequence[Any], name: str) -> bool:
    """Whether the finder of an editable installation leads to it."""
    return any(_finds(finder, name) for finder in finders if "editable" in _name(finder).lower())


def _finds(finder: Any, name: str) -> bool:
    try:
        return finder.find_spec(name) is not None
    except Exception:  # a finder of somebody else's
        return False


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
