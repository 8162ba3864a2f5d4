"""One test, or one script, with every torch call listened to: {"test_id"} or {"source"}, and "watched": [numbers].

"operators": false leaves the aten operators out, since some functions do something else under a dispatch mode;
"blocking": true makes the device finish each call, so that an error comes up where it is made; "journal" is a
file that holds the call under way, for a test that takes the process with it; "elsewhere" are names of calls that
are done on CPU, so that the test comes to the failure behind the first one.

{"outcome", "failures", "raised", "seen", "calls", "history"}: `raised` are the errors that calls raised in
the order they came up, each with the innermost aten operator and the outermost public call it passed through,
the modules around it, innermost first, and in backward the forward call it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..ops_elsewhere import all_elsewhere
from ..ops_journal import Journal
from ..ops_record import Recorder
from ..running import run_named

if TYPE_CHECKING:
    from ..session import Session

MOST_TOLD = 400  # calls of the history that are sent


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    recorder = Recorder(
        payload.get("watched", ()),
        operators=payload.get("operators", True),
        blocking=payload.get("blocking", False),
        journal=Journal(payload["journal"]) if payload.get("journal") else None,
    )
    with recorder.listening(), all_elsewhere(payload.get("elsewhere", ()), session.device):
        said = run_named(session, payload)
    return said | {
        "raised": recorder.raised,
        "seen": {str(number): call for number, call in recorder.seen.items()},
        "calls": recorder.count,
        "history": list(recorder.history)[-MOST_TOLD:] if payload.get("history") else [],
    }
