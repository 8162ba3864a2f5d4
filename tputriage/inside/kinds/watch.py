"""One script, watched: {"source"}. Which statements ran, what each expression gave, where it failed and what was known.

The script is rewritten so that it tells of itself, and runs as any other. Places are (line, column, end line,
end column) in the source as given, columns in bytes as `ast` has them.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..recipes import Namer
from ..running import run_script

if TYPE_CHECKING:
    from ..session import Session

Place = tuple[int, int, int, int]
RAN, SEEN = "__tputriage_ran__", "__tputriage_seen__"
WATCHED = (
    ast.Call, ast.Attribute, ast.Name, ast.Subscript, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp,
    ast.ListComp, ast.DictComp, ast.JoinedStr, ast.Tuple, ast.List, ast.Dict,
)  # fmt: skip
CLOSELY = 40  # times that a place's value is looked at when it comes up; later ones when the script is over


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    """{"outcome", "failures", "ran": [place], "values": [[place, text, steady]], "frames": [...]}

    `frames` are those of the script in the traceback, outermost first: {"function", "statement": place,
    "names": {local name: text}}.
    """
    teller = Teller()
    told = teller.visit(ast.parse(payload["source"]))
    watch = Watch(teller.places, session.device)
    vars(builtins).update({RAN: watch.ran, SEEN: watch.seen})
    source = ast.unparse(ast.fix_missing_locations(told))
    said = run_script(source, argv=[session.device], without=session.switch, caught=watch.failed)
    return said | watch.told()


class Teller(ast.NodeTransformer):
    """Rewrites a script so that it says which statements run and what its expressions give."""

    def __init__(self) -> None:
        self.places: list[Place] = []

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [one for statement in block for one in self._announced(statement)])
        return node

    def visit(self, node: ast.AST) -> Any:
        place = place_of(node)
        if isinstance(node, ast.JoinedStr):  # the places inside are wrong before Python 3.12
            return node
        new = super().visit(node)
        if place is not None and isinstance(node, WATCHED) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return ast.Call(ast.Name(SEEN, ast.Load()), [ast.Constant(self._number(place)), new], [])
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
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Delete(self, node: ast.Delete) -> Any:
        return node

    def _number(self, place: Place) -> int:
        self.places.append(place)
        return len(self.places) - 1

    def _announced(self, statement: ast.stmt) -> list[ast.stmt]:
        place = place_of(statement)
        if place is None or _must_be_first(statement):
            return [statement]
        said = ast.Call(ast.Name(RAN, ast.Load()), [ast.Constant(self._number(place))], [])
        return [ast.Expr(said), statement]


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

    places: list[Place]
    device: str
    reached: set[int] = field(default_factory=set)  # statements
    current: dict[int, int] = field(default_factory=dict)  # by frame: the statement it is at
    texts: dict[int, str | None] = field(default_factory=dict)
    unsteady: set[int] = field(default_factory=set)
    counts: dict[int, int] = field(default_factory=dict)
    last: dict[int, Any] = field(default_factory=dict)
    frames: list[dict[str, Any]] = field(default_factory=list)

    def ran(self, number: int) -> None:
        self.reached.add(number)
        self.current[id(sys._getframe(1))] = number

    def seen(self, number: int, value: Any) -> Any:
        count = self.counts[number] = self.counts.get(number, 0) + 1
        if count > CLOSELY:
            self.last[number] = value
        else:
            self._note(number, self._namer().text(value))
        return value

    def failed(self, exc: BaseException) -> None:
        trace = exc.__traceback__
        while trace is not None:
            frame = trace.tb_frame
            if id(frame) in self.current and frame.f_globals.get("__name__") == "__main__":
                self.frames.append(self._frame(frame))
            trace = trace.tb_next

    def _frame(self, frame: Any) -> dict[str, Any]:
        namer = self._namer()
        names = {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
        texts = {name: namer.text(value, build=True) for name, value in names.items()}
        return {
            "function": frame.f_code.co_name,
            "statement": self.places[self.current[id(frame)]],
            "names": {name: text for name, text in texts.items() if text is not None},
        }

    def told(self) -> dict[str, Any]:
        for number, value in self.last.items():
            self._note(number, self._namer().text(value))
        return {
            "ran": [self.places[number] for number in self.reached],
            "values": [
                [self.places[number], text, number not in self.unsteady]
                for number, text in self.texts.items()
                if text is not None
            ],
            "frames": self.frames,
        }

    def _note(self, number: int, text: str | None) -> None:
        if number in self.texts and self.texts[number] != text:
            self.unsteady.add(number)
        self.texts[number] = text

    def _namer(self) -> Namer:
        return Namer(vars(sys.modules["__main__"]), self.device)
