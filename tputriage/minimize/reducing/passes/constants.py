"""An argument becomes a plain constant, where any value will do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tputriage.minimize.names import ARGUMENTS
from tputriage.minimize.reducing.edits import Program, Site, callee
from tputriage.minimize.reducing.passes import Pass

MOST_ARGUMENTS = 30  # before a script is small there are better things to ask
PLAIN = (cst.Integer, cst.Float, cst.SimpleString)
CONSTANTS = ("None", "True", "False")
OFFERS = ("1", "[1]")


def constants(program: Program) -> Sequence[Sequence[Site]]:
    """A group an argument that is computed: the first constant that works. The device's own is left alone."""
    found = [(arg, f"{callee(call)} {place}") for call in program.of(cst.Call) for place, arg in enumerate(call.args)]
    found = [(arg, kind) for arg, kind in found if not arg.star]
    if len(found) > MOST_ARGUMENTS:
        return []
    devices = _devices(program)
    return [list(_offers(program, arg, kind, devices)) for arg, kind in found if not isinstance(arg.value, PLAIN)]


def _devices(program: Program) -> set[str]:
    """Names of the device, and texts that are no better as a number."""
    named = [node for node in program.of(cst.Assign) if ARGUMENTS in program.module.code_for_node(node.value)]
    return {program.module.code_for_node(target.target) for node in named for target in node.targets} | {*CONSTANTS}


def _offers(program: Program, arg: cst.Arg, kind: str, devices: set[str]) -> Iterator[Site]:
    text = program.module.code_for_node(arg.value)
    if ARGUMENTS not in text and text not in devices:
        shorter = (one for one in OFFERS if len(one) < len(text))
        yield from (Site.putting(arg.value, cst.parse_expression(one), f"{kind} to {one}") for one in shorter)


PASSES = [Pass("argument to a constant", 56, constants, one=True)]
