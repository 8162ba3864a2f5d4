"""A script's scaffolding replaced by what it computed: traced, proposed, asked, and traced anew after each success."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from tputriage.minimize.interesting import Oracle
from tputriage.minimize.names import normal_form
from tputriage.minimize.reducing.sizes import size_of
from tputriage.minimize.scaffold import Trace, by_values, read_trace
from tputriage.minimize.straighten import proposals
from tputriage.targets.seam import Ended, Job, Runner

MOST_TRACES = 6
MOST_PROPOSALS = 12  # of one kind and one trace
Tracer = Callable[[str], Trace | None]


def unscaffolded(
    source: str, interesting: Oracle, trace: Tracer, on_better: Callable[[str], None] = lambda source: None
) -> str:
    """The best script that a few traced runs lead to; `source` where they lead nowhere.

    Until values have stood in for the scaffolding a straight script may be the longer one; from then on not.
    """
    seen, valued = {normal_form(source)}, False
    for _ in range(MOST_TRACES):
        told = None if interesting.exhausted else trace(source)
        if told is None or not told.stack:
            break
        found = _first(by_values(source, told), source, interesting, seen, smaller=True)
        valued = valued or found is not None
        found = found or _first(proposals(source, told), source, interesting, seen, smaller=valued)
        if found is None:
            break
        source = found
        on_better(source)
    return source


def _first(
    ways: Iterable[str], source: str, interesting: Oracle, seen: set[str | None], *, smaller: bool
) -> str | None:
    for candidate in islice(_fresh(ways, source, seen, smaller), MOST_PROPOSALS):
        if interesting.exhausted:
            return None
        if interesting(candidate):
            return candidate
    return None


def _fresh(ways: Iterable[str], source: str, seen: set[str | None], smaller: bool) -> Iterator[str]:
    """Proposals not made before."""
    least = size_of(source)
    for candidate in ways:
        key, size = normal_form(candidate), size_of(candidate)
        if key in seen or size is None or least is None or (smaller and size >= least):
            continue
        seen.add(key)
        yield candidate


def tracer(device: Runner, *, limit_s: float, counted: Callable[[], None] = lambda: None) -> Tracer:
    """Traces scripts on the device; None where the run left no answer. `counted` is called once a run."""

    def trace(source: str) -> Trace | None:
        counted()
        answer = next(iter(device.ask([Job("trace", {"source": source}, limit_s)])))
        return read_trace(answer.value) if answer.ended is Ended.DONE else None

    return trace
