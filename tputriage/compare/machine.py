"""What makes a whole target unusable: each row is a stop with one message, instead of a failure for each test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from tputriage.compare.evidence import quote
from tputriage.errors import TargetError
from tputriage.model import Outcome, Run
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


class Watch:
    """Looks at every run, and stops everything once a target is gone for all tests.

    A test may bring such a message about by itself, as one that starts a second process on the chip does: a
    target that has served other runs is believed gone when several runs in a row say so.
    """

    IN_A_ROW = 3

    def __init__(self) -> None:
        self._served: set[str] = set()
        self._refused: Counter[str] = Counter()

    def look(self, run: Run) -> None:
        """Raises TargetError with the one message."""
        advice = why_to_stop(run)
        if not advice:
            self._refused[run.target] = 0
            if run.outcome is not Outcome.UNAVAILABLE:
                self._served.add(run.target)
            return
        self._refused[run.target] += 1
        if run.target not in self._served or self._refused[run.target] >= self.IN_A_ROW:
            raise TargetError(advice)
