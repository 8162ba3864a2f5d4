"""Numbers and strings become smaller ones; equal numbers go together, as they are often one size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tputriage.minimize.names import ARGUMENT
from tputriage.minimize.reducing.edits import Program, Replacement, Site
from tputriage.minimize.reducing.passes import Pass

SMALL = (1, 2)  # not 0: an empty tensor shows another bug as often as not


def ones(program: Program) -> Sequence[Sequence[Site]]:
    """All to 1 at once, else as many as go together."""
    found = [node for value, nodes in _integers(program).items() for node in nodes if value > 1]
    found.sort(key=program.starts)
    return [[_all_to([node], "1") for node in found]] if found else []


def tied_integers(program: Program) -> Sequence[Sequence[Site]]:
    """One group a value: the first smaller value that works for all its places. A later round goes on from there."""
    return [
        [_all_to(nodes, str(smaller)) for smaller in (1, *_smaller(value)) if smaller < value]
        for value, nodes in sorted(_integers(program).items(), reverse=True)
        if len(nodes) > 1
    ]


def integers(program: Program) -> Sequence[Sequence[Site]]:
    """Each place alone."""
    places = [(value, node) for value, nodes in _integers(program).items() for node in nodes]
    return [[_all_to([node], str(smaller)) for smaller in _smaller(value)] for value, node in places]


def halves(program: Program) -> Sequence[Sequence[Site]]:
    """All numbers at once, where sizes hang together by factors."""
    found = [(value, node) for value, nodes in _integers(program).items() for node in nodes if value > 3]
    if len(found) < 2:
        return []
    changes = tuple((node, _to(str(value // 2))) for value, node in found)
    return [[Site(changes)]]


def floats(program: Program) -> Sequence[Sequence[Site]]:
    return [[_all_to([node], "1.0")] for node in program.of(cst.Float) if len(node.value) > len("1.0")]


def strings(program: Program) -> Sequence[Sequence[Site]]:
    found = [node for node in program.of(cst.SimpleString) if node.value not in ('""', "''")]
    return [[Site.putting(node, cst.SimpleString('""')) for node in found]] if found else []


def _integers(program: Program) -> dict[int, list[cst.Integer]]:
    """Those that can be smaller; an index into `sys.argv` is none of them."""
    found: dict[int, list[cst.Integer]] = {}
    for node in program.of(cst.Integer):
        around = list(program.above(node))[:3]
        if node.evaluated_value > 0 and not any(program.module.code_for_node(one) == ARGUMENT for one in around):
            found.setdefault(node.evaluated_value, []).append(node)
    return found


def _smaller(value: int) -> Iterator[int]:
    """But 1, which was tried before."""
    yield from (small for small in SMALL[1:] if small < value)
    if value > 4:
        yield value // 2
    if value > 8:
        yield value - 1


def _all_to(nodes: Sequence[cst.CSTNode], text: str) -> Site:
    return Site(tuple((node, _to(text)) for node in nodes))


def _to(text: str) -> Replacement:
    return lambda _: cst.parse_expression(text)


PASSES = [
    Pass("integers to one", 60, ones),
    Pass("equal integers to a smaller one", 61, tied_integers, one=True),
    Pass("all integers halved", 62, halves, one=True),
    Pass("integers to smaller ones", 63, integers, one=True),
    Pass("floats to short ones", 64, floats, one=True),
    Pass("strings to empty ones", 65, strings),
]
