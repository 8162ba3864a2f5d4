"""A script's scaffolding replaced by what it computed: traced, proposed, asked, and traced anew after each success."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from tputriage.console import log
from tputriage.minimize.names import normal_form, unbound_names
from tputriage.minimize.reducing.facts import Facts, Tracer
from tputriage.minimize.reducing.scaffold import by_values
from tputriage.minimize.reducing.sizes import size_of
from tputriage.minimize.reducing.straighten import lines, proposals

MOST_TRACES = 10
MOST_PROPOSALS = 10  # of one kind and one trace
Ask = Callable[[str], bool]  # whether the candidate is interesting; no more once the budget is spent


def unscaffolded(source: str, ask: Ask, trace: Tracer) -> str:
    """The best script that a few traced runs lead to; `source` where they lead nowhere.

    A straight line may be the longer script, since what it leads to is not.
    """
    seen, by_value = {normal_form(source)}, True
    for _ in range(MOST_TRACES):
        told = trace(source)
        if told is None or not told.frames:
            break
        found = _better(source, told, ask, seen, by_value)
        if found is None:
            break
        # Where no value would do, none will until all else is done.
        by_value = by_value and found[1]
        source = found[0]
    return source


def _better(source: str, told: Facts, ask: Ask, seen: set[str | None], by_value: bool) -> tuple[str, bool] | None:
    """(a better script, whether values stand in it for what computed them)."""
    ways = [(lines(source, told), False, False), (proposals(source, told), True, False)]
    values = (by_values(source, told), True, True)
    for way, smaller, valued in (values, *ways) if by_value else (*ways, values):
        found = _first(way, source, ask, seen, smaller=smaller)
        if found is not None:
            return found, valued
    return None


def _first(ways: Iterable[str], source: str, ask: Ask, seen: set[str | None], *, smaller: bool) -> str | None:
    return next(filter(ask, islice(_fresh(ways, source, seen, smaller), MOST_PROPOSALS)), None)


def _fresh(ways: Iterable[str], source: str, seen: set[str | None], smaller: bool) -> Iterator[str]:
    """Proposals not made before, that can be run at all."""
    least = size_of(source)
    for candidate in _rewritable(ways):
        key, size = normal_form(candidate), size_of(candidate)
        if key in seen or size is None or least is None or (smaller and size >= least):
            continue
        seen.add(key)
        if not unbound_names(candidate):
            yield candidate


def _rewritable(ways: Iterable[str]) -> Iterator[str]:
    """Up to where a tree cannot be rewritten: too deep, as a sum of some hundred parts is, or not to be spelled.

    A proposal is a guess, and people write programs that nobody thought of: one that cannot be made costs itself.
    """
    try:
        yield from ways
    except Exception as exc:  # noqa: BLE001
        log("reducer", "no further straight line: %r", exc)
