"""What one watched run of a script saw, by places in its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tputriage.targets.seam import Ended, Job, Runner

Tracer = Callable[[str], "Facts | None"]  # what a run of a script saw, where it could be watched
Place = tuple[int, int, int, int]  # line from 1, column from 0, end line, end column


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """One of the script's own frames in the traceback."""

    function: str
    first: int  # line where its code starts; 1 for the module
    at: Place  # what failed in it
    held: frozenset[str]
    values: Mapping[str, str]  # source text that makes a name's value again
    exact: Mapping[str, str]  # the same with a tensor's real numbers


@dataclass(frozen=True)
class Facts:
    """Of a run on the device; `frames` are outermost first."""

    ran: frozenset[Place]  # statements
    frames: tuple[FrameFacts, ...]
    values: Mapping[Place, str] = field(default_factory=dict)  # what an expression gave last, as source text
    unsteady: frozenset[Place] = frozenset()  # expressions that gave several values
    calls: Mapping[Place, int] = field(default_factory=dict)  # a call -> first line of the script's def it came to
    outside: frozenset[int] = frozenset()  # first lines of the script's defs that a library called

    @cached_property
    def lines(self) -> frozenset[int]:
        """Where a statement that ran begins."""
        return frozenset(place[0] for place in self.ran)

    @cached_property
    def steady(self) -> Mapping[Place, str]:
        return {place: text for place, text in self.values.items() if place not in self.unsteady}


def facts_of(value: Mapping[str, Any]) -> Facts:
    """From the answer of the job kind `watch`."""
    return Facts(
        ran=frozenset(map(_place, value["ran"])),
        frames=tuple(map(_frame, value["frames"])),
        values={_place(place): text for place, text, _ in value["values"]},
        unsteady=frozenset(_place(place) for place, _, steady in value["values"] if not steady),
        calls={_place(place): int(first) for place, first in value["calls"]},
        outside=frozenset(map(int, value["outside"])),
    )


def _frame(told: Mapping[str, Any]) -> FrameFacts:
    held = frozenset(told["held"])
    return FrameFacts(told["function"], told["first"], _place(told["at"]), held, told["values"], told["exact"])


def tracer(device: Runner, *, limit_s: float, counted: Callable[[], None]) -> Tracer:
    """Traces scripts on a device; None where the run left no answer. `counted` is called once a run."""

    def trace(source: str) -> Facts | None:
        counted()
        for answer in device.ask([Job("watch", {"source": source}, limit_s)]):
            if answer.ended is Ended.DONE and answer.value["failures"]:
                return facts_of(answer.value)
        return None

    return trace


def _place(found: Any) -> Place:
    line, column, end_line, end_column = found
    return (int(line), int(column), int(end_line), int(end_column))
