"""What can be said of a candidate without running it: whether it parses, whether its names are bound, what it touches.

A third to three quarters of what a reducer proposes fails here, at no cost. Pure.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import symtable
import warnings
from collections.abc import Iterator
from functools import lru_cache

ARGUMENTS = "sys.argv"
ARGUMENT = f"{ARGUMENTS}[1]"  # what a script calls its device while it is reduced: no value may stand for it
GIVEN = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__builtins__", "__annotations__"}
# Where a tensor is: in a reduction of wrong numbers a difference in these passes for the bug.
PLACES = frozenset({"is_cpu", "is_cuda", "is_privateuseone", "data_ptr", "get_device"})
RANDOM = frozenset(
    {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial",
     "normal", "normal_", "uniform_", "random_", "dropout", "empty", "empty_like", "new_empty", "empty_strided"}
)  # fmt: skip


@lru_cache(maxsize=64)  # the best so far is compared with each candidate, which the oracle then asks about too
def normal_form(source: str) -> str | None:
    """A digest that formatting, comments and quotes do not change; None for what does not compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(tree, "candidate", "exec")
        text = ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def unbound_names(source: str) -> frozenset[str]:
    """Global names that are read somewhere and bound nowhere; empty where a star import may bind them."""
    if "import *" in source:
        return frozenset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = symtable.symtable(source, "candidate", "exec")
    bound, read = set(GIVEN), set()
    for scope in _scopes(table):
        for symbol in scope.get_symbols():
            binds = symbol.is_assigned() or symbol.is_imported()
            if binds and (scope is table or symbol.is_declared_global()):
                bound.add(symbol.get_name())
            if symbol.is_referenced() and (scope is table or symbol.is_global()):
                read.add(symbol.get_name())
    return frozenset(read - bound)


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def tells_the_device(source: str, device: str) -> str:
    """What in the script tells the device apart from the reference by itself, in words; "" where nothing does.

    Random numbers made on the device count: the streams of two devices differ, and that is no bug.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in PLACES:
            return f"it reads .{node.attr}"
        if isinstance(node, ast.Compare) and _compares_device(node, device):
            return "it compares the device's name"
    drawn = draws_on_the_device(source)
    return f"it makes random numbers on the device with {drawn}" if drawn else ""


def draws_on_the_device(source: str) -> str:
    """What makes random numbers on the device; "" where nothing does."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return next((name_of(node.func) for node in calls if name_of(node.func) in RANDOM and _is_on_device(node)), "")


def _compares_device(node: ast.Compare, device: str) -> bool:
    sides = [part for side in (node.left, *node.comparators) for part in getattr(side, "elts", (side,))]
    texts = {side.value for side in sides if isinstance(side, ast.Constant)}
    attributes = {name_of(side) for side in sides}
    return bool({device, "cpu"} & texts) or bool({"device", "argv"} & attributes)


def _is_on_device(node: ast.Call) -> bool:
    method = isinstance(node.func, ast.Attribute) and node.func.attr.endswith(("_", "dropout"))
    like = name_of(node.func).endswith("_like")
    return method or like or any(keyword.arg == "device" for keyword in node.keywords)


def name_of(node: ast.expr) -> str:
    """The last word of a name, dotted or not; "" for what is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
