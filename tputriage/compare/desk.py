"""Two workers kept busy at the same time: questions go in, runs come out in the order they end.

The steps decide in one thread; each worker is served by a thread of its own, which only carries questions to
it and answers back. A worker's `ask` takes the next question when a slot is free, and ends when there is none,
so it is asked again as soon as there is more.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from queue import SimpleQueue

from tputriage.errors import TriageError
from tputriage.model import Run
from tputriage.targets.runs import run_of, test_job
from tputriage.targets.seam import Answer, Job, Runner

Ticket = tuple[int, int]  # which inquiry asks, and which of its questions this is


class Side(StrEnum):
    DEVICE = "device"  # the target under suspicion
    REFERENCE = "reference"  # what it is compared with
    ALSO = "also"  # one more target for one more column: the emulator beside a chip


@dataclass(frozen=True, slots=True)
class Question:
    """One run that is wanted."""

    side: Side
    test_id: str
    limit_s: float
    knobs: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()  # tests to run first in the same process

    def job(self) -> Job:
        return test_job(self.test_id, limit_s=self.limit_s, knobs=self.knobs, before=self.before)


@dataclass(slots=True)
class _Counter:
    """What waits for one worker, and what it has taken."""

    runner: Runner
    waiting: deque[tuple[Ticket, Job]] = field(default_factory=deque)
    taken: list[tuple[Ticket, Job]] = field(default_factory=list)


class Desk:
    """A context manager; leaving it takes the questions back that no worker has begun."""

    def __init__(self, runners: Mapping[Side, Runner]) -> None:
        self._counters = {side: _Counter(runner) for side, runner in runners.items()}
        self._changed = threading.Condition()
        self._closed = False
        self._open = 0
        self._failed: Exception | None = None
        self._events: SimpleQueue[tuple[Ticket, Run] | None] = SimpleQueue()  # None: a thread has left

    def __enter__(self) -> Desk:
        for counter in self._counters.values():
            # Daemons: where a child runs on after an interrupt, nobody waits for its time limit.
            threading.Thread(target=self._stand, args=(counter,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        with self._changed:
            self._closed = True
            for counter in self._counters.values():
                counter.waiting.clear()
            self._changed.notify_all()

    @property
    def sides(self) -> frozenset[Side]:
        return frozenset(self._counters)

    @property
    def open(self) -> int:
        """How many questions have no answer yet."""
        return self._open

    def put(self, inquiry: int, questions: Sequence[Question]) -> None:
        """Ask; the answer to question n comes back from `get` with the ticket (inquiry, n)."""
        with self._changed:
            for number, question in enumerate(questions):
                self._counters[question.side].waiting.append(((inquiry, number), question.job()))
            self._open += len(questions)
            self._changed.notify_all()

    def get(self) -> tuple[Ticket, Run]:
        """The next run that ended; raises what a worker raised where it could not serve."""
        event = self._events.get()
        if event is None:
            raise self._failed or RuntimeError("a thread that serves a worker has ended")
        self._open -= 1
        return event

    def _stand(self, counter: _Counter) -> None:
        try:
            self._serve(counter)
        except (TriageError, OSError, ValueError) as exc:  # what a worker raises, closed under our hands or not
            self._failed = exc
        finally:
            self._events.put(None)

    def _serve(self, counter: _Counter) -> None:
        while self._wait(counter):
            answers = counter.runner.ask(self._take(counter))
            for answer in answers:
                self._events.put((self._ticket(counter, answer), run_of(answer, counter.runner.target)))
                if self._closed:
                    break
            if isinstance(answers, Generator):
                answers.close()

    def _wait(self, counter: _Counter) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or bool(counter.waiting))
            return not self._closed

    def _take(self, counter: _Counter) -> Iterator[Job]:
        while True:
            with self._changed:
                if self._closed or not counter.waiting:
                    return
                entry = counter.waiting.popleft()
                counter.taken.append(entry)
            yield entry[1]

    def _ticket(self, counter: _Counter, answer: Answer) -> Ticket:
        with self._changed:
            # By identity first: equal jobs of two buckets are interchangeable, but each must get one answer.
            same = [entry for entry in counter.taken if entry[1] is answer.job]
            entry = (same or [entry for entry in counter.taken if entry[1] == answer.job])[0]
            counter.taken.remove(entry)
            return entry[0]
