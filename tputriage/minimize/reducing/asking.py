"""Asks the oracle, with a watch, and on its free workers what will be asked next if the answer is no.

The way taken is that of asking one by one: an answer that came early waits until its question comes. Only after a
no are others asked along, one more for each no in a row and no more than there are workers: behind a yes come other
questions, and what was run for those behind a no is lost then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, Protocol, runtime_checkable

SLOWER = 3.0  # a question may take this many times as long as the quickest that was answered with yes, and
SLACK_S = 2.0  # this much longer, since machines are busy
REMEMBERED_S = 0.02  # an answer that comes sooner was remembered, and says nothing of how long a run takes

Oracle = Callable[[str], bool]


@runtime_checkable
class Several(Protocol):
    """An oracle that can be asked several questions at once."""

    def __call__(self, source: str, /) -> bool: ...

    @property
    def workers(self) -> int:
        """How many."""
        ...

    def first(self, sources: Sequence[str], /) -> int | None:
        """Index of the first interesting one; those behind it may not have been asked at all."""
        ...


class Answer(NamedTuple):
    found: bool
    took_s: float
    alone: bool = True  # else the time is that of several questions, which is at least its own


@dataclass
class Asking:
    """The oracle, and how quickly it answers."""

    interesting: Oracle | Several
    clock: Callable[[], float]
    pace_s: float = math.inf  # of the quickest question that was asked alone and answered with yes
    noes: int = 0  # in a row
    early: dict[str, Answer] = field(default_factory=dict)

    @property
    def exhausted(self) -> bool:
        return bool(getattr(self.interesting, "exhausted", False))

    def is_found(self, candidate: str, ahead: Iterable[str] = ()) -> bool:
        """Whether it is interesting; `ahead` are those that will be asked about if it is not, in order."""
        return self._answer(candidate, ahead).found

    def is_found_quickly(self, candidate: str, ahead: Iterable[str] = ()) -> tuple[bool, bool]:
        """(whether it is interesting, whether it runs about as quickly as those before).

        A slow one is asked once more, since it may be the machine that was slow. What was asked along with others
        may have waited for them: it is only then asked for the first time, and its time makes no pace.
        """
        answer = self._answer(candidate, ahead)
        if answer.found and not answer.alone and self._is_slow(answer):
            answer = self._answer(candidate)
        if not answer.found or not self._is_slow(answer):
            return answer.found, True
        again = self._answer(candidate)
        return True, again.found and not self._is_slow(again)

    def _is_slow(self, answer: Answer) -> bool:
        return answer.took_s > SLOWER * self.pace_s + SLACK_S

    def _answer(self, candidate: str, ahead: Iterable[str] = ()) -> Answer:
        if candidate not in self.early:
            self._ask_together([candidate, *islice(ahead, self._more)])
        answer = self.early.pop(candidate, None) or self._asked_alone(candidate)
        self.noes = 0 if answer.found else self.noes + 1
        return answer

    @property
    def _more(self) -> int:
        """How many may be asked along with the next question."""
        return min(self.noes, self.interesting.workers - 1) if isinstance(self.interesting, Several) else 0

    def _ask_together(self, candidates: Sequence[str]) -> None:
        """What comes of it is in `early`: nothing of a question that may not have been asked."""
        if len(candidates) < 2 or not isinstance(self.interesting, Several):
            return
        started = self.clock()
        place = self.interesting.first(candidates)
        took_s = self.clock() - started
        if place is not None:
            self.early[candidates[place]] = Answer(True, took_s, alone=False)
        elif self.exhausted:
            place = 1  # the caller's own question, to which the answer is no from now on
        self.early.update((source, Answer(False, took_s, alone=False)) for source in candidates[:place])

    def _asked_alone(self, candidate: str) -> Answer:
        started = self.clock()
        found = self.interesting(candidate)
        took_s = self.clock() - started
        if found and took_s > REMEMBERED_S:
            self.pace_s = min(self.pace_s, took_s)
        return Answer(found, took_s)
