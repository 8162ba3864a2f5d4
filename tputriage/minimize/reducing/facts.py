"""What one watched run of a script saw, by places in its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tputriage.targets.seam import Ended, Job, Runner

Place = tuple[int, int, int, int]  # line from 1, column from 0, end line, end column


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """One of the script's own frames in the traceback."""

    function: str
    statement: Place
    names: Mapping[str, str]  # source text that makes the value again


@dataclass(frozen=True, slots=True)
class Facts:
    """Of a run on the device; `frames` are outermost first."""

    ran: frozenset[Place]  # statements
    values: Mapping[Place, str]  # what an expression gave last, as source text
    unsteady: frozenset[Place]  # expressions that gave several values
    frames: tuple[FrameFacts, ...]


def facts_of(value: Mapping[str, Any]) -> Facts:
    """From the answer of the job kind `watch`."""
    values = {_place(place): text for place, text, _ in value["values"]}
    return Facts(
        ran=frozenset(map(_place, value["ran"])),
        values=values,
        unsteady=frozenset(_place(place) for place, _, steady in value["values"] if not steady),
        frames=tuple(FrameFacts(one["function"], _place(one["statement"]), one["names"]) for one in value["frames"]),
    )


def tracer(device: Runner, *, limit_s: float, counted: Callable[[], None]) -> Callable[[str], Facts | None]:
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
