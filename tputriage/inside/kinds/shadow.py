"""One test, or one script, with every call compared with CPU: {"test_id"} or {"source"}; ops_shadow.py: what counts.

{"outcome", "failures", "departures": [{"kind", "detail", "output", "call"}], "open": [names], "random": [names],
"compared", "largest": [name, difference]}, departures in the order they came up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..ops_shadow import Shadow
from ..running import run_named

if TYPE_CHECKING:
    from ..session import Session


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    shadow = Shadow(session.device)
    with shadow.listening():
        said = run_named(session, payload)
    return said | {
        "departures": shadow.departures,
        "open": sorted(set(shadow.open)),
        "random": sorted(set(shadow.random)),
        "compared": shadow.compared,
        "largest": list(shadow.largest),
    }
