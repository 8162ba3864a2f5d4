"""One test, or one script, with the calls of one name done on CPU: {"test_id"} or {"source"},
and "name"; "also" are names that are done there anyway.

{"outcome", "failures", "moved"}: how often the call was done on CPU; 0 says that the run proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..ops_elsewhere import all_elsewhere
from ..running import run_named

if TYPE_CHECKING:
    from ..session import Session


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    with all_elsewhere([*payload.get("also", ()), payload["name"]], session.device) as moved:
        said = run_named(session, payload)
    return said | {"moved": moved[-1].count}
