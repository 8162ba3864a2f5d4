"""One script, watched: {"source"}. Which statements ran, what each expression gave, where it failed, what was held.

The script's tree is made to tell of itself, and runs as any other, in its own lines. Places are [line, column,
end line, end column] in the source as given, columns in UTF-8 bytes as `ast` has them.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, Any

from ..making import Makings, place_in
from ..running import run_script
from ..spelling import Speller

if TYPE_CHECKING:
    from ..session import Session

Place = tuple[int, int, int, int]
RAN, SEEN = "__tputriage_ran__", "__tputriage_seen__"
WATCHED = (
    ast.Call, ast.Attribute, ast.Name, ast.Subscript, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp,
    ast.ListComp, ast.DictComp, ast.JoinedStr, ast.Tuple, ast.List, ast.Dict,
)  # fmt: skip
CLOSELY = 40  # times that a place's value is looked at when it comes up; later ones when the script is over
MOST_FRAMES = 50


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    """{"outcome", "failures", "ran": [place], "values": [[place, text, steady]], "frames": [...],
    "calls": [[place, line of the def]], "outside": [line of a def that was called from elsewhere than the script]}

    `frames` are those of the script in the traceback, outermost first: {"function", "first": line of its def,
    "at": place of what failed, "held": [names], "values": {name: text}, "exact": {name: text}}.
    """
    watch = Watch(session.device)
    vars(builtins).update({RAN: watch.ran, SEEN: watch.seen})
    said = run_script(
        payload["source"],
        argv=[session.device],
        without=session.switch,
        around=watch.makings.listening,
        caught=watch.failed,
        compiled=watch.compiled,
    )
    return said | watch.told()


class Teller(ast.NodeTransformer):
    """Rewrites a script's tree so that it says which statements run and what its expressions give."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.silent: set[Place] = set()  # statements nothing can be said before

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [one for statement in block for one in self._announced(statement)])
        return node

    def visit(self, node: ast.AST) -> Any:
        place = place_of(node)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.argv":  # no value stands for the device's name
            return node
        # Inside an f-string places are wrong before Python 3.12; as a whole it has a value like any other.
        new = node if isinstance(node, ast.JoinedStr) else super().visit(node)
        if place is not None and isinstance(node, WATCHED) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            told = ast.Call(ast.Name(SEEN, ast.Load()), [ast.Constant(self._number(place)), new], [])
            return ast.copy_location(told, node)
        return new

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.value = self.visit(node.value) if node.value is not None else None
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        returns, node.returns = node.returns, None
        decorators, node.decorator_list = node.decorator_list, []
        self.generic_visit(node)
        node.returns, node.decorator_list = returns, decorators
        return node

    def visit_match_case(self, node: ast.match_case) -> Any:
        node.body = [one for statement in node.body for one in self._announced(self.visit(statement))]
        return node

    def visit_Delete(self, node: ast.Delete) -> Any:
        return node

    def _number(self, place: Place) -> int:
        self.places.append(place)
        return len(self.places) - 1

    def _announced(self, statement: ast.stmt) -> list[ast.stmt]:
        place = place_of(statement)
        if place is None:
            return [statement]
        if _must_be_first(statement):
            self.silent.add(place)
            return [statement]
        said = ast.Call(ast.Name(RAN, ast.Load()), [ast.Constant(self._number(place))], [])
        return [ast.copy_location(ast.Expr(said), statement), statement]


def place_of(node: ast.AST) -> Place | None:
    if not isinstance(node, (ast.stmt, ast.expr)):
        return None
    return (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)


def _must_be_first(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@dataclass
class Watch:
    """What a script told of itself while it ran."""

    device: str
    makings: Makings = field(default_factory=Makings)
    places: list[Place] = field(default_factory=list)
    silent: set[Place] = field(default_factory=set)
    reached: set[int] = field(default_factory=set)  # statements
    texts: dict[int, str | None] = field(default_factory=dict)
    unsteady: set[int] = field(default_factory=set)
    counts: dict[int, int] = field(default_factory=dict)
    last: dict[int, Any] = field(default_factory=dict)
    frames: list[dict[str, Any]] = field(default_factory=list)

    def compiled(self, source: str, path: str) -> CodeType:
        teller = Teller()
        tree = ast.fix_missing_locations(teller.visit(ast.parse(source, path)))
        self.places, self.silent = teller.places, teller.silent
        return compile(tree, path, "exec")

    def ran(self, number: int) -> None:
        self.reached.add(number)

    def seen(self, number: int, value: Any) -> Any:
        count = self.counts[number] = self.counts.get(number, 0) + 1
        if count > CLOSELY:
            self.last[number] = value
        else:
            self._note(number, self._speller().spell(value))
        return value

    def failed(self, exc: BaseException) -> None:
        """The script's frames of a failure, with what their names held."""
        sys.settrace(None)
        trace, path = exc.__traceback__, vars(sys.modules["__main__"])["__file__"]
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == path and len(self.frames) < MOST_FRAMES:
                self.frames.append(self._frame(trace.tb_frame, trace.tb_lasti, trace.tb_lineno))
            trace = trace.tb_next

    def _frame(self, frame: Any, instruction: int, line: int) -> dict[str, Any]:
        speller = self._speller()
        held = {name: value for name, value in frame.f_locals.items() if not name.startswith("__")}
        values = {name: text for name, value in held.items() if (text := speller.spell(value)) is not None}
        exact = {name: text for name, value in held.items() if (text := speller.spell(value, exact=True)) is not None}
        return {
            "function": frame.f_code.co_name,
            "first": frame.f_code.co_firstlineno,
            "at": place_in(frame.f_code, instruction, line),
            "held": list(held),
            "values": values,
            "exact": exact,
        }

    def told(self) -> dict[str, Any]:
        for number, value in self.last.items():
            self._note(number, self._speller().spell(value))
        return {
            "ran": [*(self.places[number] for number in self.reached), *self.silent],
            "values": [
                [self.places[number], text, number not in self.unsteady]
                for number, text in self.texts.items()
                if text is not None
            ],
            "frames": self.frames,
            "calls": [[place, first] for place, first in self.makings.calls.items() if first],
            "outside": sorted(self.makings.outside),
        }

    def _note(self, number: int, text: str | None) -> None:
        if number in self.texts and self.texts[number] != text:
            self.unsteady.add(number)
        self.texts[number] = text

    def _speller(self) -> Speller:
        return Speller(vars(sys.modules["__main__"]), self.device, self.makings.made)
