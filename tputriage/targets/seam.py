"""The seam between the steps and whatever runs tests: a step sees a `Runner`, never a process.

Tests of the steps put a fake here (a closure that answers jobs); `worker.Worker` is the real one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Target:
    """Somewhere a test can run, as data: a row here or in the user's settings adds one."""

    name: str
    device: str  # what the suite and a repro are told: "tpu" | "cpu"
    python: str  # the interpreter; it needs pytest and torch, not tputriage
    env: Mapping[str, str] = field(default_factory=dict)  # on top of the caller's own
    plugin: str = ""  # path of a PJRT plugin to load as the TPU library; "" for hardware and CPU
    slots: int = 1  # how many children may run at once, on all workers together
    workers: int = 1  # processes that collect the suite and share the slots; with chips, one on each
    chips: tuple[int, ...] = ()  # numbers of the TPU chips, one for each worker; none where the device is no hardware


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do in a forked child of the worker: `kind` names a module in inside/kinds/."""

    kind: str
    payload: Mapping[str, Any]  # JSON values only
    limit_s: float = 120.0
    env: Mapping[str, str] = field(default_factory=dict)  # set in the child before its device comes up


class Ended(StrEnum):
    DONE = "done"  # the kind answered, whatever it found
    CRASH = "crash"  # the child died: by `signal`, or left without an answer
    TIMEOUT = "timeout"
    LOST = "lost"  # the worker itself is gone; `last_words` says what is known


@dataclass(frozen=True, slots=True)
class Answer:
    job: Job
    ended: Ended
    value: Mapping[str, Any]  # what the kind returned; empty unless DONE
    seconds: float
    signal: int | None = None
    last_words: str = ""  # end of the child's stderr


class Runner(Protocol):
    """Runs jobs on one target."""

    @property
    def target(self) -> Target: ...

    def ask(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        """Answers in order of completion, as many jobs at once as the target has slots.

        Takes from `jobs` only when a slot is free, so a generator can decide what comes next from the
        answers so far. Closing the iterator ends the children still running. Every job gets an answer.
        """
        ...
