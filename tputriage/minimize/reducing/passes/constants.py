"""An argument becomes a plain constant, where any value will do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tputriage.minimize.reducing.edits import Program, Site
from tputriage.minimize.reducing.passes import Pass

MOST_ARGUMENTS = 30  # before a script is small there are better things to ask
PLAIN = (cst.Integer, cst.Float, cst.SimpleString, cst.Name)
OFFERS = ("1", "[1]")


def constants(program: Program) -> Sequence[Sequence[Site]]:
    """A group an argument that is computed: the first constant that works. The device's own is left alone."""
    found = [arg for call in program.of(cst.Call) for arg in call.args if not arg.star]
    if len(found) > MOST_ARGUMENTS:
        return []
    return [list(_offers(program, arg)) for arg in found if not isinstance(arg.value, PLAIN)]


def _offers(program: Program, arg: cst.Arg) -> Iterator[Site]:
    text = program.module.code_for_node(arg.value)
    if "sys.argv" not in text:
        yield from (Site.putting(arg.value, cst.parse_expression(one)) for one in OFFERS if len(one) < len(text))


PASSES = [Pass("argument to a constant", 56, constants, one=True)]
