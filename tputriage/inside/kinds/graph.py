"""One test with the graphs kept that dynamo hands to the compiler: {"test_id", "seconds"}; see graphs.py.

{"outcome", "failures", "compiled": graphs handed over, "trouble": null or {"kind", "stage", "said", "exception",
"message", "output", "options", "nodes": [of the graph, of the smallest], "queries", "calls": [...]}}: of the first
graph that fails when it is compiled and not eagerly. `calls` are its public calls with what each made, in order.
`seconds` bound the search and the shrinking together.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..graphs import Graphs
from ..graphs_shrink import Shrunk, calls_in
from ..running import run_test

if TYPE_CHECKING:
    from ..session import Session


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    graphs = Graphs(session.device)
    with graphs.watching():
        said = run_test(session, payload["test_id"])
    return said | {"compiled": graphs.count, "trouble": _trouble(graphs, time.monotonic() + payload["seconds"])}


def _trouble(graphs: Graphs, deadline_s: float) -> dict[str, Any] | None:
    found = graphs.in_trouble(deadline_s)
    if found is None:
        return None
    kept, trouble = found
    shrunk = Shrunk(kept, trouble, deadline_s)
    shrunk.shrink()
    wanted = shrunk.wanted
    return {
        **{name: getattr(wanted, name) for name in ("kind", "stage", "said", "exception", "message", "output")},
        "options": kept.options,
        "nodes": [calls_in(kept.module), calls_in(shrunk.module)],
        "queries": shrunk.queries,
        "calls": shrunk.told(),
    }
