"""Parentheses where an expression that was put in another's place would otherwise mean something else.

`m.f()` with `a if c else b` for `m` is `(a if c else b).f()`: libcst writes what it is given. The order of binding
is that of the Python language reference, "Operator precedence".
"""

from __future__ import annotations

from typing import TypeVar

import libcst as cst

# From what binds least to what binds most.
LAST, CHOICE, EITHER, BOTH, NOT, COMPARED, OR, XOR, AND, SHIFT, SUM, PRODUCT, UNARY, POWER, AWAIT, ATOM = range(16)

BINARY: dict[type[cst.CSTNode], int] = {
    cst.Power: POWER, cst.Multiply: PRODUCT, cst.MatrixMultiply: PRODUCT, cst.Divide: PRODUCT, cst.Modulo: PRODUCT,
    cst.FloorDivide: PRODUCT, cst.Add: SUM, cst.Subtract: SUM, cst.LeftShift: SHIFT, cst.RightShift: SHIFT,
    cst.BitAnd: AND, cst.BitXor: XOR, cst.BitOr: OR, cst.And: BOTH, cst.Or: EITHER, cst.Not: NOT,
}  # fmt: skip
LOOSE: dict[type[cst.CSTNode], int] = {
    cst.Await: AWAIT, cst.Comparison: COMPARED, cst.IfExp: CHOICE, cst.Lambda: CHOICE, cst.NamedExpr: LAST,
    cst.Yield: LAST, cst.Tuple: LAST,
    cst.Integer: AWAIT,  # `1.real` is no attribute
}  # fmt: skip
Operands = tuple[tuple[str, int], ...]  # (field, how much what stands there must bind)
OPERANDS: dict[type[cst.CSTNode], Operands] = {
    cst.Attribute: (("value", ATOM),),
    cst.Subscript: (("value", ATOM),),
    cst.Call: (("func", ATOM),),
    cst.Await: (("expression", ATOM),),
    cst.StarredElement: (("value", OR),),
    cst.Comparison: (("left", OR),),
    cst.ComparisonTarget: (("comparator", OR),),
    cst.IfExp: (("body", EITHER), ("test", EITHER), ("orelse", CHOICE)),
    cst.CompFor: (("iter", EITHER),),
    cst.DictElement: (("key", CHOICE), ("value", CHOICE)),
    cst.Lambda: (("body", CHOICE),),
    **{kind: (("value", CHOICE),) for kind in (cst.Arg, cst.Element)},
    **{kind: (("elt", CHOICE),) for kind in (cst.ListComp, cst.SetComp, cst.GeneratorExp)},
}

Node = TypeVar("Node", bound=cst.CSTNode)


def guarded(node: Node) -> Node:
    """The node with parentheses around those operands that bind less than it does."""
    changes = {
        field: value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        for field, least in _operands(node)
        if isinstance(value := getattr(node, field), cst.BaseExpression) and not value.lpar and _binds(value) < least
    }
    return node.with_changes(**changes) if changes else node


def _operands(node: cst.CSTNode) -> Operands:
    match node:
        case cst.BinaryOperation(operator=cst.Power()):
            return ("left", AWAIT), ("right", UNARY)
        case cst.BinaryOperation() | cst.BooleanOperation():
            own = _binds(node)
            return ("left", own), ("right", own + 1)
        case cst.UnaryOperation():
            return (("expression", _binds(node)),)
    return OPERANDS.get(type(node), ())


def _binds(value: cst.BaseExpression) -> int:
    if isinstance(value, (cst.BinaryOperation, cst.BooleanOperation)):
        return BINARY[type(value.operator)]
    if isinstance(value, cst.UnaryOperation):
        return BINARY.get(type(value.operator), UNARY)
    return LOOSE.get(type(value), ATOM)
