"""What can be said of a candidate without running it: a third to three quarters of a reducer's are not even valid."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterator

ALWAYS_BOUND = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__builtins__", "__class__"}
# What tells devices apart without any bug: where a tensor is, and the device's own random stream or memory.
PLACES = frozenset({"is_cpu", "is_cuda", "is_xla", "is_privateuseone"})
RANDOM = frozenset(
    {"rand", "randn", "randint", "randperm", "normal", "empty", "empty_strided", "bernoulli", "multinomial"}
    | {"rand_like", "randn_like", "randint_like", "empty_like", "new_empty", "normal_", "uniform_", "random_"}
    | {"bernoulli_", "exponential_", "dropout", "alpha_dropout"}
)  # fmt: skip


def normal_form(source: str) -> str | None:
    """The program without its layout and comments; None where it does not compile or uses a name nothing binds."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape or comparison is the candidate's own affair
            tree = ast.parse(source)
            compile(tree, "candidate", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None if unbound_names(tree) else ast.dump(tree)


def unbound_names(tree: ast.AST) -> set[str]:
    """Names that are read and bound nowhere in the program, in whatever scope; a cheap check, not a sound one."""
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return read - ALWAYS_BOUND - set(_bound(tree)) if not _imports_all(tree) else set()


def tells_the_device(source: str) -> bool:
    """Whether a program can differ between devices without a bug: it reads a place, or draws on the device."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in PLACES:
            return True
        if isinstance(node, ast.Compare) and any(_is_place(part) for part in (node.left, *node.comparators)):
            return True
        if isinstance(node, ast.Call) and _draws_on_device(node):
            return True
    return False


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.split(".")[0]
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name


def _imports_all(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(tree))


def _is_place(node: ast.expr) -> bool:
    """`x.device`, `x.device.type`, or the name `device` itself."""
    while isinstance(node, ast.Attribute):
        if node.attr == "device":
            return True
        node = node.value
    return isinstance(node, ast.Name) and node.id == "device"


def _draws_on_device(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in RANDOM:
        return False
    place = next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)
    on_cpu = place is None or (isinstance(place, ast.Constant) and place.value == "cpu")
    # In-place draws and `_like` take their place from a tensor, which is on the device as likely as not.
    return not on_cpu or name.endswith(("_", "_like")) or name in {"new_empty", "dropout", "alpha_dropout"}
