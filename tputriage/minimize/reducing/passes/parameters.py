"""Drops a parameter together with the arguments that calls give it; a lambda's call becomes its body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tputriage.minimize.reducing.binding import substituted
from tputriage.minimize.reducing.edits import Program, Site
from tputriage.minimize.reducing.passes import Pass


def parameters(program: Program) -> Sequence[Sequence[Site]]:
    """A group a function. Names that the body still reads are unbound then, which costs no run."""
    found = []
    for function in program.of(cst.FunctionDef):
        params = [*function.params.posonly_params, *function.params.params, *function.params.kwonly_params]
        owner = next((one for one in program.above(function) if isinstance(one, cst.ClassDef)), None)
        own = 0 if owner is None else 1  # `self` is no argument
        found.append([_with_arguments(program, function, owner, param, at) for at, param in enumerate(params[own:])])
    return [group for group in found if group]


def _with_arguments(
    program: Program, function: cst.FunctionDef, owner: cst.ClassDef | None, param: cst.Param, at: int
) -> Site:
    makes = owner is not None and function.name.value == "__init__"
    name = owner.name.value if makes and owner is not None else function.name.value
    args = [arg for call in program.of(cst.Call) if _named(call) == name for arg in _given(call, param, at)]
    return Site.removing(param, *args)


def _named(call: cst.Call) -> str:
    match call.func:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""


def _given(call: cst.Call, param: cst.Param, at: int) -> Iterator[cst.Arg]:
    for place, arg in enumerate(call.args):
        if arg.star:
            return
        if (arg.keyword is not None and arg.keyword.value == param.name.value) or (arg.keyword is None and place == at):
            yield arg


def lambdas(program: Program) -> Sequence[Sequence[Site]]:
    """`(lambda a: a + 1)(2)` is `2 + 1`."""
    return [[site for call in program.of(cst.Call) if (site := _called(call)) is not None]]


def _called(call: cst.Call) -> Site | None:
    if not isinstance(call.func, cst.Lambda):
        return None
    names = [param.name.value for param in call.func.params.params]
    if len(names) != len(call.args) or any(arg.star or arg.keyword is not None for arg in call.args):
        return None
    given = {name: arg.value for name, arg in zip(names, call.args, strict=True)}
    return Site.putting(call, substituted(call.func.body, given))


PASSES = [
    Pass("call of a lambda to its body", 17, lambdas),
    Pass("drop parameters with their arguments", 43, parameters),
]
