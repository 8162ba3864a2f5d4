"""What was called while a script ran: its constructors' arguments, and which of its functions each call came to."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from .spelling import public_name

MOST_MADE = 20_000
CALLED = ("__call__", "forward")
CALLING_MODULES = "torch/nn/modules/module.py"  # between `model(x)` and its `forward`


Place = tuple[int, int, int, int]


class Makings:
    """Listens to every `__init__` of a class that the script can name; `made` is for a Speller."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.calls: dict[Place, int] = {}  # place of a call -> first line of the def; 0 where it has been several
        self.outside: set[int] = set()  # first lines of defs that a library called, or a place that called several
        self._called: set[int] = set()  # first lines of what runs when an object is called
        self._path = ""

    @contextmanager
    def listening(self) -> Iterator[None]:
        self._path = vars(sys.modules["__main__"])["__file__"]
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(None)

    def _entered(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if code.co_filename == self._path and code.co_name != "<module>":
            if code.co_name in CALLED:
                self._called.add(code.co_firstlineno)
            self._note_call(frame, code.co_firstlineno)
        if code.co_name != "__init__" or not code.co_argcount or len(self.made) >= MOST_MADE:
            return
        made = frame.f_locals.get(code.co_varnames[0])
        if made is None or not _is_named(type(made)):
            return
        maker = inspect.unwrap(type(made).__init__)
        if getattr(maker, "__code__", None) is code:
            # An id is free again once its object is gone; one kept here keeps its own.
            self.made[id(made)] = (made, _arguments(maker, frame.f_locals))

    def _note_call(self, frame: FrameType, first: int) -> None:
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename.endswith(CALLING_MODULES):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename == self._path:
            place = place_in(caller.f_code, caller.f_lasti, caller.f_lineno)
            known = self.calls.setdefault(place, first)
            if known != first:
                self.calls[place] = 0
                self.outside.update({known, first} & self._called)
        else:
            self.outside.add(first)


@lru_cache(maxsize=512)
def _positions(code: CodeType) -> list[Any]:
    return list(code.co_positions())


def place_in(code: CodeType, instruction: int, line: int) -> Place:
    """Where in the source an instruction stands."""
    first, last, column, end_column = _positions(code)[instruction // 2]
    return (first or line, column or 0, last or line, end_column or 0)


def _is_named(kind: type) -> bool:
    """Whether the script could write the class down; a library's own objects by the thousand are left alone."""
    return sys.modules["__main__"].__dict__.get(kind.__name__) is kind or bool(public_name(kind))


def _arguments(maker: Any, held: Mapping[str, Any]) -> dict[str, Any]:
    """What the constructor was given by name, without what it would have taken by default; by position under "*"."""
    code: CodeType = maker.__code__
    names, only = code.co_varnames[1 : code.co_argcount], code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    count = code.co_argcount + code.co_kwonlyargcount
    rest = code.co_varnames[count] if code.co_flags & inspect.CO_VARARGS else ""
    usual = dict(zip(reversed(("", *names)), reversed(maker.__defaults__ or ()), strict=False))
    usual.update(maker.__kwdefaults__ or {})
    given: dict[str, Any] = {}
    if held.get(rest):
        given["*"] = (*(held[name] for name in names), *held[rest])
        names = ()
    told = [name for name in (*names, *only) if name in held]
    given |= {name: held[name] for name in told if not _same(held[name], usual.get(name, held))}
    if code.co_flags & inspect.CO_VARKEYWORDS:
        given.update(held.get(code.co_varnames[count + bool(rest)], {}))
    return given


def _same(one: Any, other: Any) -> bool:
    plain = type(one) is type(other) and isinstance(one, (bool, int, float, str, tuple))
    return one is other or (plain and repr(one) == repr(other))
