"""A call's dotted name as it is spoken of in a sentence: `x[...] = y` rather than `torch.Tensor.__setitem__`."""

from __future__ import annotations

METHOD = "torch.Tensor."
BINARY = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%",
    "__matmul__": "@", "__pow__": "**", "__and__": "&", "__or__": "|", "__xor__": "^", "__lshift__": "<<",
    "__rshift__": ">>", "__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">",
    "__ge__": ">=", "__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/=",
}  # fmt: skip
# `x + 1` reaches a function mode as `Tensor.add`: written as it mostly was.
BINARY |= {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "eq": "==", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "add_": "+=", "sub_": "-=", "mul_": "*=", "div_": "/=",
}  # fmt: skip
REFLECTED = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rtruediv__": "/", "__rpow__": "**"}
ITEMS = {"__getitem__": "x[...]", "__setitem__": "x[...] = y", "__neg__": "-x", "__invert__": "~x", "__abs__": "abs(x)"}


def spoken(name: str) -> str:
    """The name where it reads well, else the expression that calls it."""
    plain = name.removesuffix(".default")
    method = plain.removeprefix(METHOD)
    if method == plain or not method.endswith("__"):
        return plain
    if method in ITEMS:
        return ITEMS[method]
    if method in BINARY:
        return f"x {BINARY[method]} y"
    if method in REFLECTED:
        return f"y {REFLECTED[method]} x"
    attribute, _, access = method.rpartition(".")
    return {"__get__": f"x.{attribute}", "__set__": f"x.{attribute} = y"}.get(access, plain)
