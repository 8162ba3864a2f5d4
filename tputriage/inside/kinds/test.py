"""One test of the suite: {"test_id", "before": [ids run first, in order]}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..running import run_test

if TYPE_CHECKING:
    from ..session import Session


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    """{"outcome", "failures", "duration_s", "reason"}, see `running.run_test`."""
    return run_test(session, payload["test_id"], before=payload.get("before", ()))
