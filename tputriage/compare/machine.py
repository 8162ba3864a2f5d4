"""What makes a whole target unusable: each row is a stop with one message, instead of a failure for each test."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tputriage.compare.evidence import quote
from tputriage.model import Run
from tputriage.signatures import family_of

# {family of signatures/families.py: what to do about it}
STOPS: Mapping[str, str] = MappingProxyType(
    {
        "chip-held": "wait for that process to end, or end it yourself, and run the same command again",
        "client-start": "the device does not come up; `tputriage doctor` says what is missing",
        "installation": "install versions that fit together; `tputriage doctor` names them",
        "disk-full": "free some space and run the same command again",
    }
)


def why_to_stop(run: Run) -> str:
    """The one message for a target that no test can use; "" where this run says nothing of the kind."""
    if run.failure is None or run.outcome.is_pass:
        return ""
    advice = STOPS.get(family_of(run.failure).name)
    return f"{run.target} cannot be used: {quote(run)}: {advice}" if advice else ""
