"""What a call binds: which argument goes to which parameter, and a body with its parameters replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from tputriage.minimize.reducing.edits import walk
from tputriage.minimize.reducing.precedence import guarded

SIMPLE = (cst.Name, cst.Integer, cst.Float, cst.SimpleString)


@dataclass(frozen=True, slots=True)
class Bound:
    """`names` can stand in the body as they are, `lines` bind the others before it."""

    names: dict[str, cst.BaseExpression]
    lines: list[cst.BaseStatement]


def is_plain_body(function: cst.FunctionDef) -> bool:
    """Whether its statements mean the same outside: no return but at its end, no yield, nothing that decorates it."""
    if function.decorators or function.asynchronous is not None or not isinstance(function.body, cst.IndentedBlock):
        return False
    if not function.body.body:
        return False
    special = [
        node for node in walk(function.body) if isinstance(node, (cst.Return, cst.Yield, cst.Global, cst.Nonlocal))
    ]
    last = function.body.body[-1]
    final = last.body[0] if isinstance(last, cst.SimpleStatementLine) and last.body else None
    return all(node is final and isinstance(node, cst.Return) for node in special)


def bound_arguments(function: cst.FunctionDef, call: cst.Call) -> Bound | None:
    """None where the call does not fit, or says it in a way that is not followed."""
    params = function.params
    if isinstance(params.star_arg, cst.Param) or params.star_kwarg is not None or params.posonly_params:
        return None
    names = [param.name.value for param in (*params.params, *params.kwonly_params)]
    values = {param.name.value: param.default for param in (*params.params, *params.kwonly_params) if param.default}
    places = list(names)
    if isinstance(call.func, cst.Attribute):
        if not places:
            return None
        values[places.pop(0)] = call.func.value
    starred = [arg for arg in call.args if arg.star]
    if starred:
        return _unpacked(call, places, values)
    for arg in call.args:
        name = arg.keyword.value if arg.keyword is not None else (places.pop(0) if places else "")
        if name not in names:
            return None
        values[name] = arg.value
    return _bound(function, values) if set(values) == set(names) else None


def _unpacked(call: cst.Call, places: list[str], values: dict[str, cst.BaseExpression]) -> Bound | None:
    """`f(*g())` as `a, b = g()`."""
    if len(call.args) != 1 or call.args[0].star != "*" or len(places) < 2:
        return None
    target = cst.Tuple([cst.Element(cst.Name(name)) for name in places], lpar=[], rpar=[])
    line = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], call.args[0].value)])
    return Bound({name: value for name, value in values.items() if name not in places}, [line])


def _bound(function: cst.FunctionDef, values: dict[str, cst.BaseExpression]) -> Bound:
    body = list(walk(function.body))
    written = {
        node.value
        for one in body
        if isinstance(one, cst.AssignTarget)
        for node in walk(one)
        if isinstance(node, cst.Name)
    }
    reads = [node.value for node in body if isinstance(node, cst.Name)]
    names: dict[str, cst.BaseExpression] = {}
    lines: list[cst.BaseStatement] = []
    for name, value in values.items():
        simple = isinstance(value, SIMPLE) or reads.count(name) <= 1
        if name not in written and simple:
            names[name] = value
        elif not (isinstance(value, cst.Name) and value.value == name):
            lines.append(cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], value)]))
    return Bound(names, lines)


def substituted(node: Any, names: dict[str, cst.BaseExpression]) -> Any:
    """The node with these names replaced where they are variables."""
    return node.visit(_Substituting(names)) if names else node


class _Substituting(cst.CSTTransformer):
    def __init__(self, names: dict[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._names = names

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        left = super().on_leave(original_node, updated_node)
        return guarded(left) if isinstance(left, cst.CSTNode) and left is not original_node else left

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802
        return self._names.get(original_node.value, updated_node)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:  # noqa: N802
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:  # noqa: N802
        return updated_node.with_changes(name=original_node.name)
