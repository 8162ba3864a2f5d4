"""One instrumented run of a script: {"source", "argv"}. Which lines ran, how the failure was reached, what was held.

{"outcome", "failures", "ran": [lines], "stack": [frames of the script, outermost first], "values": [...],
"calls": [...]}. A frame is {"function", "first": line of its def, "at": position of the statement's failing
part, "values": {name: text}, "exact": {name: text}}; positions are [line, column, end line, end column], columns
in UTF-8 bytes as in `ast`. `values` are expressions that had one value, [*position, text]; `calls` are the calls of the
script's own functions, [*position, line of the def].
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from ..running import run_script
from ..spelling import Speller, look_up, public_name

if TYPE_CHECKING:
    from ..session import Session

Position = tuple[int, int, int, int]
MOST_MADE = 20_000
MOST_LOOKS = 4_000
MOST_DEFINITIONS_RUNS = 50  # how often one function's expressions are looked at


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    tracer = Tracer(payload["source"], session.device)
    argv = payload.get("argv", [session.device])
    said = run_script(payload["source"], argv=argv, without=session.switch, around=tracer.tracing, caught=tracer.caught)
    return said | tracer.told()


class Tracer:
    """Listens to one run of a script."""

    def __init__(self, source: str, device: str) -> None:
        self._device = device
        self._chains = _attribute_chains(source)
        self._path = ""
        self._ran: set[int] = set()
        self._made: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._values: dict[Position, str | None] = {}
        self._calls: dict[Position, int | None] = {}
        self._places: dict[CodeType, list[Any]] = {}
        self._raising: set[int] = set()
        self._looks = 0
        self._runs: dict[CodeType, int] = {}
        self._stack: list[dict[str, Any]] = []

    @contextmanager
    def tracing(self) -> Iterator[None]:
        self._path = sys.modules["__main__"].__dict__["__file__"]
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(None)

    def told(self) -> dict[str, Any]:
        return {
            "ran": sorted(self._ran),
            "stack": self._stack,
            "values": [[*place, text] for place, text in self._values.items() if text is not None],
            "calls": [[*place, line] for place, line in self._calls.items() if line is not None],
        }

    def _entered(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_name == "__init__":
            self._note_made(frame)
        if frame.f_code.co_filename != self._path:
            return None
        place = self._caller_place(frame)
        if place is not None:
            line = frame.f_code.co_firstlineno
            self._calls[place] = line if self._calls.get(place, line) == line else None
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self._ran.add(frame.f_lineno)
            self._raising.discard(id(frame))
        elif event == "exception":
            self._raising.add(id(frame))
        elif event == "return" and id(frame) not in self._raising:
            self._note_return(frame, arg)
        return self._stepped

    def _note_made(self, frame: FrameType) -> None:
        code = frame.f_code
        if not code.co_argcount or len(self._made) >= MOST_MADE:
            return
        held = frame.f_locals
        made = held.get(code.co_varnames[0])
        if made is None or id(made) in self._made or not self._is_named(type(made)):
            return
        maker = inspect.unwrap(type(made).__init__)
        if getattr(maker, "__code__", None) is code:
            self._made[id(made)] = (made, _arguments(maker, held))

    def _is_named(self, kind: type) -> bool:
        """Whether the script could write the class down; a library's own objects by the thousand are left alone."""
        return sys.modules["__main__"].__dict__.get(kind.__name__) is kind or bool(public_name(kind))

    def _note_return(self, frame: FrameType, value: Any) -> None:
        place = self._caller_place(frame)
        code = frame.f_code
        self._runs[code] = self._runs.get(code, 0) + 1
        if self._runs[code] > MOST_DEFINITIONS_RUNS or code.co_name.startswith("<"):
            self._values[place or (0, 0, 0, 0)] = None
            return
        speller = self._speller(frame)
        if place is not None:
            self._note_value(place, speller.spell(value))
        self._look_at(frame, speller)

    def _look_at(self, frame: FrameType, speller: Speller) -> None:
        """Attributes that the function reads, as they are when it ends."""
        names = {**frame.f_globals, **frame.f_locals}
        for chain, place in self._chains.get(frame.f_code.co_firstlineno, ()):
            if self._looks < MOST_LOOKS:
                self._looks += 1
                try:
                    self._note_value(place, speller.spell(look_up(chain, names)))
                except LookupError:
                    continue

    def _note_value(self, place: Position, text: str | None) -> None:
        self._values[place] = text if self._values.get(place, text) == text else None

    def _speller(self, frame: FrameType) -> Speller:
        return Speller(frame.f_globals, self._device, self._made)

    def _caller_place(self, frame: FrameType) -> Position | None:
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename != self._path:
            return None
        return self._place(caller.f_code, caller.f_lasti)

    def _place(self, code: CodeType, instruction: int) -> Position | None:
        if code not in self._places:
            self._places[code] = list(code.co_positions())
        line, end_line, column, end_column = self._places[code][instruction // 2]
        if line is None or end_line is None or column is None or end_column is None:
            return None
        return line, column, end_line, end_column

    def caught(self, exc: BaseException) -> None:
        """The script's frames of a failure, with what their names held."""
        sys.settrace(None)
        trace = exc.__traceback__
        while trace is not None:
            frame = trace.tb_frame
            if frame.f_code.co_filename == self._path:
                self._stack.append(self._told_frame(frame, trace.tb_lasti, trace.tb_lineno))
            trace = trace.tb_next

    def _told_frame(self, frame: FrameType, instruction: int, line: int) -> dict[str, Any]:
        speller = self._speller(frame)
        held = {name: value for name, value in frame.f_locals.items() if not name.startswith("__")}
        self._look_at(frame, speller)
        plain = {name: speller.spell(value) for name, value in held.items()}
        exact = {name: speller.spell(value, exact=True) for name, value in held.items()}
        return {
            "function": frame.f_code.co_name,
            "first": frame.f_code.co_firstlineno,
            "at": self._place(frame.f_code, instruction) or (line, 0, line, 0),
            "held": list(held),
            "values": {name: text for name, text in plain.items() if text is not None},
            "exact": {name: text for name, text in exact.items() if text is not None},
        }


def _arguments(maker: Any, held: Mapping[str, Any]) -> dict[str, Any]:
    """What the constructor was given by name, without what it would have taken by default."""
    code: CodeType = maker.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[1:count]
    usual = dict(zip(reversed(code.co_varnames[: code.co_argcount]), reversed(maker.__defaults__ or ()), strict=False))
    usual.update(maker.__kwdefaults__ or {})
    given = {name: held[name] for name in names if name in held and not _same(held[name], usual.get(name, held))}
    if code.co_flags & inspect.CO_VARKEYWORDS:
        rest = code.co_varnames[count + bool(code.co_flags & inspect.CO_VARARGS)]
        given.update(held.get(rest, {}))
    if code.co_flags & inspect.CO_VARARGS and held.get(code.co_varnames[count]):
        given["*"] = object()  # cannot be written as keywords
    return given


def _same(one: Any, other: Any) -> bool:
    plain = type(one) is type(other) and isinstance(one, (bool, int, float, str, tuple))
    return one is other or (plain and repr(one) == repr(other))


def _attribute_chains(source: str) -> dict[int, list[tuple[str, Position]]]:
    """First line of a function (of its decorators, as code objects have it) -> (`a.b.c`, position) that it reads."""
    found: dict[int, list[tuple[str, Position]]] = {1: []}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[first] = [entry for part in node.body for entry in _chains_in(part)]
    return found


def _chains_in(part: ast.AST) -> Iterator[tuple[str, Position]]:
    for node in ast.walk(part):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            base: ast.expr = node
            while isinstance(base, ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                yield ast.unparse(node), (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
