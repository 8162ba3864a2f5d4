"""A script's scaffolding replaced by what it computed: traced, proposed, asked, and traced anew after each success."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tputriage.minimize.interesting import Oracle
from tputriage.minimize.names import normal_form
from tputriage.minimize.reducing.sizes import size_of
from tputriage.minimize.scaffold import Trace, by_values, read_trace
from tputriage.minimize.straighten import proposals
from tputriage.targets.seam import Ended, Job, Runner

MOST_TRACES = 6
MOST_PROPOSALS = 24  # of one trace
Tracer = Callable[[str], Trace | None]


def unscaffolded(
    source: str, interesting: Oracle, trace: Tracer, on_better: Callable[[str], None] = lambda source: None
) -> str:
    """The best script that a few traced runs lead to; `source` where they lead nowhere."""
    seen = {normal_form(source)}
    for _ in range(MOST_TRACES):
        told = None if interesting.exhausted else trace(source)
        found = _first(source, told, interesting, seen) if told is not None and told.stack else None
        if found is None:
            break
        source = found
        on_better(source)
    return source


def _first(source: str, told: Trace, interesting: Oracle, seen: set[str | None]) -> str | None:
    for candidate in _fresh(source, told, seen):
        if interesting.exhausted:
            return None
        if interesting(candidate):
            return candidate
    return None


def _fresh(source: str, told: Trace, seen: set[str | None]) -> Iterator[str]:
    """Proposals not made before: values first, where they make the script smaller; then the straight ways."""
    least, made = size_of(source), 0
    for smaller, ways in ((True, by_values(source, told)), (False, proposals(source, told))):
        for candidate in ways:
            key = normal_form(candidate)
            size = size_of(candidate)
            if key in seen or size is None or least is None or (smaller and size >= least) or made >= MOST_PROPOSALS:
                continue
            seen.add(key)
            made += 1
            yield candidate


def tracer(device: Runner, *, limit_s: float, counted: Callable[[], None] = lambda: None) -> Tracer:
    """Traces scripts on the device; None where the run left no answer. `counted` is called once a run."""

    def trace(source: str) -> Trace | None:
        counted()
        answer = next(iter(device.ask([Job("trace", {"source": source}, limit_s)])))
        return read_trace(answer.value) if answer.ended is Ended.DONE else None

    return trace
