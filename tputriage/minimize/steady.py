"""A reduction to a script that shows the failure each time: asked once, a race is won now and then.

Measured: a script that starts processes of its own failed as wanted once in three fresh runs. A reducer that asks
once goes on from there, and what it ends at is verified nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

MOST_ROUNDS = 2

Reduce = Callable[[str, Callable[[str], None]], str]  # (script, told of each better one) -> the best


class Insisting(Protocol):
    """An oracle that can be asked for more than one success."""

    def holds(self, source: str, /) -> bool:
        """Whether it fails as wanted each time."""
        ...

    def insist(self) -> None:
        """From now on a success counts only where it comes again."""
        ...


def reduced_steadily(start: str, oracle: Insisting, reduce: Reduce) -> str:
    """What `reduce` makes of the script; where that is a race, of the last one on its way that was none."""
    for _ in range(MOST_ROUNDS):
        way = [start]
        best = reduce(start, way.append)
        if oracle.holds(best):
            return best
        start = _last_steady(way, oracle)
        oracle.insist()
    return start


def _last_steady(way: Sequence[str], oracle: Insisting) -> str:
    """By bisection; the first one where none is: it is what there was."""
    steady, race = 0, len(way) - 1
    while race - steady > 1:
        middle = (steady + race) // 2
        if oracle.holds(way[middle]):
            steady = middle
        else:
            race = middle
    return way[steady]
