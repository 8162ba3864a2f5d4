"""The passes of the reducer, one a file; a file dropped in here is a pass. See `Pass` for what it names."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tputriage.minimize.reducing.edits import Program, Site


class Pass(NamedTuple):
    """One way to make a script smaller: what it matches and what it puts there. It runs nothing and never loops.

    `groups` gives the sites, those of a group in the order of the text; groups are tried one after the other.
    """

    name: str
    order: int
    groups: Callable[[Program], Sequence[Sequence[Site]]]
    whole: bool = True  # whether a group is tried all at once before its parts
    one: bool = False  # whether the sites of a group exclude each other: the first that works is enough
    traced: bool = False  # whether it reads `Program.facts`, which cost a run; it is left out where there are none


def all_passes() -> list[Pass]:
    """In the order in which they are first tried."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names if not name.startswith("_")]
    found = [made for module in modules for made in module.PASSES]
    return sorted(found, key=lambda made: (made.order, made.name))
