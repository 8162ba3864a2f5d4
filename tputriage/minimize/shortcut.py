"""The op road once more, on what the test has become: a small script shows a call that a whole test hides.

A test can make too many calls to listen to, more departures than are looked at, or arguments that cannot be
written down; what the reducer has left of it may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tputriage.minimize.draft import Road
from tputriage.minimize.errand import Errand
from tputriage.minimize.op_road import take_op_road
from tputriage.minimize.reducing import tokens_of
from tputriage.minimize.saying import run_script, said_by
from tputriage.model import Level

LARGE = 0.5  # of the tokens there were at the last try: so much less is another script


def call_road(errand: Errand, *, explain: bool = True) -> Road:
    """The op road, with what its script itself says on the device: its sizes are not those of the test."""
    road = take_op_road(errand, explain=explain)
    if road.draft is None:
        return road
    failure = run_script(road.draft.source, errand.device, errand.limit_s).failure
    draft = replace(road.draft, actual=said_by(failure)) if failure else road.draft
    return replace(road, draft=draft, runs=road.runs + 1)


@dataclass
class Shortcut:
    """The reducer's oracle; once a single call shows the failure, there is nothing left for the reducer to do."""

    errand: Errand
    start: str  # on this the op road was in vain
    road: Road = field(default_factory=lambda: Road(None, ""))
    runs: int = 0  # that the oracle did not make
    tried: int = 0  # tokens of the script at the last try

    def __post_init__(self) -> None:
        self.tried = tokens_of(self.start)

    @property
    def exhausted(self) -> bool:
        return self.road.draft is not None or self.errand.oracle.exhausted

    @property
    def workers(self) -> int:
        return self.errand.oracle.workers

    def __call__(self, source: str, /) -> bool:
        return self.first([source]) is not None

    def first(self, sources: Sequence[str], /) -> int | None:
        found = self.errand.oracle.first(sources)
        if found is not None and tokens_of(sources[found]) <= LARGE * self.tried:
            self.leads_from(sources[found])
        return found

    def holds(self, source: str, /) -> bool:
        """A road that was found stands in the script's place."""
        return self.road.draft is not None or self.errand.oracle.holds(source)

    def insist(self) -> None:
        self.errand.oracle.insist()

    def leads_from(self, source: str) -> bool:
        """Whether a single call of the script shows the failure; asks once for each size."""
        if not self.exhausted and tokens_of(source) < self.tried:
            self.tried = tokens_of(source)
            road = call_road(replace(self.errand, script=source))
            self.runs += road.runs
            self.road = road if _is_shorter(road, source) else self.road
        return self.road.draft is not None


def _is_shorter(road: Road, source: str) -> bool:
    """A single call is what to show; a call with what made its inputs only where that is less than what there was."""
    draft = road.draft
    return draft is not None and (draft.level is not Level.TRACE or tokens_of(draft.source) < tokens_of(source))
