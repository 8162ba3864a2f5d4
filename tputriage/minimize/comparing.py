"""Whether a script does nothing with its device but look at it: compare it, look something up by it.

`x.device == device` may be what fails. Once the reducer has left `x` on the host, it fails on every device that is
not the host and passes on the host: no bug is in it. Pure; names are followed without regard to scopes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tputriage.minimize.trees import deep, is_argument

# What only looks at a value. Of a subscript: at what stands in its brackets.
LOOKS = (ast.Compare, ast.Subscript, ast.Match, ast.If, ast.IfExp, ast.While, ast.Assert, ast.BoolOp, ast.UnaryOp)
LONGEST_CHAIN = 8  # the argument, a name of it, a parameter that is given that name, ...


def only_compares_the_device(source: str) -> bool:
    """The device is looked at, and neither a tensor nor anything else is made on it."""
    with deep():
        return _only_looks(ast.parse(source))


def _only_looks(tree: ast.Module) -> bool:
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    holders = _holders(tree)
    given = [parents[id(node)] for node in ast.walk(tree) if _is_device(node, holders) and id(node) in parents]
    uses = [parents[id(node)] if isinstance(node, ast.keyword) else node for node in given]
    ends = [node for node in uses if not _hands_on(node, tree, holders)]
    return bool(ends) and all(isinstance(node, LOOKS) for node in ends)


def _holders(tree: ast.Module) -> set[str]:
    """Names of the script that hold the device."""
    held: set[str] = set()
    for _ in range(LONGEST_CHAIN):
        found = {name for node in ast.walk(tree) for name in _given(node, tree, held)}
        if found <= held:
            break
        held |= found
    return held


def _given(node: ast.AST, tree: ast.Module, held: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Assign) and _is_device(node.value, held):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    if isinstance(node, ast.Call) and (own := _own(node, tree)):
        names = [part.arg for part in own.args.args]
        yield from (name for name, value in zip(names, node.args, strict=False) if _is_device(value, held))
        yield from (part.arg for part in node.keywords if part.arg and _is_device(part.value, held))


def _own(node: ast.Call, tree: ast.Module) -> ast.FunctionDef | None:
    found = (part for part in tree.body if isinstance(part, ast.FunctionDef))
    return next((part for part in found if isinstance(node.func, ast.Name) and part.name == node.func.id), None)


def _is_device(node: ast.AST, held: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in held and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.IfExp):
        return _is_device(node.body, held)
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="device"), args=args):
            return bool(args) and _is_device(args[0], held)
    return is_argument(node) or _is_part(node, held)


def _is_part(node: ast.AST, held: set[str]) -> bool:
    """`device.type`, `device.split(":")[0]`, `device.startswith("cpu")`: still no more than its name."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and _is_device(node.func, held)
    return isinstance(node, (ast.Attribute, ast.Subscript)) and _is_device(node.value, held)


def _hands_on(node: ast.AST, tree: ast.Module, held: set[str]) -> bool:
    """The device only gets another name there, or another form."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets)
    return _is_device(node, held) or (isinstance(node, ast.Call) and _own(node, tree) is not None)
