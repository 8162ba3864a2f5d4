"""The fixtures of a collected test, in the order in which they are set up, each after those it asks for.

One is {"name", "value", "file", "line", "function", "arguments": {parameter: value}, "in_class", "outer",
"generator", "coroutine", "param": text or None, "place", "options": {name: text}}; one of pytest's own, or of a
plugin's, has the file "".
`value` tells a fixture from the one of the same name that it overrides. `place` is where in its list of values a
parameter stands that cannot be written down, and `options` are those that it asks the command line for.
What pytest makes of a setup function is {"name", "setup": the function's name}.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .spelling import Speller

# Fixtures that pytest makes of setUp, setup_method and their like.
MADE_BY_PYTEST = ("_xunit", "_unittest", "xunit_", "unittest_", "setup_", "setUpClass", "_Session")
SETUPS = ("setup_module", "setUpModule", "setup_class", "setUpClass", "setup_function", "setup_method")
NOTHING = object()


def described(item: Any, spelled: Mapping[str, str | None], speller: Speller) -> list[dict[str, Any]]:
    return list(_Described(item, spelled, speller).all())


def place_of(value: Any, values: Sequence[Any], position: int = 0, *, bare: bool = True) -> dict[str, Any] | None:
    """The index of the entry that holds just this value, whether it is a `pytest.param`, and whether no list."""
    for index, entry in enumerate(values):
        wrapped = type(entry).__name__ == "ParameterSet"
        parts = entry.values if wrapped else [entry] if bare else entry
        if position < len(parts) and parts[position] is value:
            return {"index": index, "wrapped": wrapped, "bare": bare}
    return None


def file_of(thing: Any) -> str:
    try:
        return os.path.realpath(inspect.getsourcefile(thing) or "")
    except TypeError:
        return ""


class _Described:
    def __init__(self, item: Any, spelled: Mapping[str, str | None], speller: Speller) -> None:
        info = getattr(item, "_fixtureinfo", None)
        self._item = item
        self._defs: dict[str, Sequence[Any]] = dict(info.name2fixturedefs) if info is not None else {}
        self._spelled = spelled
        self._speller = speller
        self._found: dict[str, dict[str, Any]] = {}

    def all(self) -> Iterator[dict[str, Any]]:
        for name in getattr(self._item, "fixturenames", ()):
            setup = next((word for word in SETUPS if name.startswith(MADE_BY_PYTEST) and word in name), "")
            if setup:
                self._found[name] = {"name": name, "setup": setup}
            self._add(name)
        self._by_word(inspect.unwrap(getattr(self._item, "function", None) or self._item.obj))
        yield from self._found.values()

    def _add(self, name: str, depth: int = 1) -> str:
        """The fixture's value; "" where there is none of that name. `depth` counts those it is overridden by."""
        known = self._defs.get(name, ())
        if depth > len(known) or name.startswith(MADE_BY_PYTEST):
            return ""
        value = name if depth == 1 else f"{name}_{depth}"
        if value not in self._found:
            definition = known[-depth]
            arguments = {other: self._add(other, depth + 1 if other == name else 1) for other in definition.argnames}
            fixture = self._fixture(name, value, definition, arguments)
            self._found.setdefault(value, fixture)
        return value

    def _fixture(self, name: str, value: str, definition: Any, arguments: Mapping[str, str]) -> dict[str, Any]:
        function = inspect.unwrap(getattr(definition.func, "__func__", definition.func))
        own = f"{os.sep}site-packages{os.sep}" in file_of(function) or not hasattr(function, "__code__")
        if not own:
            self._by_word(function)
        param = self._item.callspec.params.get(name, NOTHING) if hasattr(self._item, "callspec") else NOTHING
        return {
            "name": name,
            "value": value,
            "file": "" if own or f"{os.sep}_pytest{os.sep}" in file_of(function) else file_of(function),
            "line": function.__code__.co_firstlineno if hasattr(function, "__code__") else 0,
            "function": getattr(function, "__name__", name),
            "arguments": {other: arguments[other] or other for other in definition.argnames},
            "in_class": "." in getattr(function, "__qualname__", "").rpartition("<locals>.")[2],
            "outer": self._outer(function),
            "generator": inspect.isgeneratorfunction(function),
            "coroutine": inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function),
            "param": self._spelled.get(name),
            "place": place_of(param, definition.params) if param is not NOTHING and definition.params else None,
            "options": self._options(function),
        }

    def _outer(self, function: Any) -> str:
        """The class of a fixture that is a method of no base of the test's class, but of one around it."""
        owner = getattr(function, "__qualname__", "").rpartition("<locals>.")[2].rpartition(".")[0]
        kind = getattr(self._item, "cls", None)
        around = kind is not None and kind.__qualname__.startswith(f"{owner}.")
        return owner if owner and around and getattr(kind, function.__name__, None) is None else ""

    def _by_word(self, function: Any) -> None:
        """Fixtures that are asked for with `request.getfixturevalue`."""
        words = _words(function)
        if "getfixturevalue" not in words:
            return
        texts = {text for text in self._spelled.values() if text}
        manager = self._item.session._fixturemanager
        for name in sorted(words | {text.strip("'\"") for text in texts}):
            known = manager.getfixturedefs(name, self._item)
            if known and name not in self._defs:
                self._defs[name] = known
                self._add(name)

    def _options(self, function: Any) -> dict[str, str]:
        words = _words(function)
        if not words & {"getoption", "getini"}:
            return {}
        found = {}
        for word in sorted(words):
            value = self._item.config.getoption(word, NOTHING)
            text = None if value is NOTHING else self._speller.spell(value, exact=True)
            if text is not None:
                found[word] = text
        return found


def _words(function: Any) -> set[str]:
    """The names and strings in a function's code."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return {*code.co_names, *(part for part in code.co_consts if isinstance(part, str))} if code else set()
