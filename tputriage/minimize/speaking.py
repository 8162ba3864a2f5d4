"""A call's dotted name as it is spoken of in a sentence: `x[...] = y` rather than `torch.Tensor.__setitem__`."""

from __future__ import annotations

from tputriage.minimize.writing import BINARY, REFLECTED

METHOD = "torch.Tensor."
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
