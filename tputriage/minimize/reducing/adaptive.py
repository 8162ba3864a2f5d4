"""Which of many changes to try together: runs that grow while they work, from the last change backwards.

Backwards, so that uses go before the definitions they need. A search is a value: what it asks now, and what it is
after a yes or a no, so that the questions which would follow can be told before there is an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol


class Search(Protocol):
    """A moment of a search among changes known by their numbers."""

    @property
    def question(self) -> Sequence[int] | None:
        """The changes to try together, on top of those that were found good; None at the end."""
        ...

    def after(self, yes: bool) -> Search: ...


@dataclass(frozen=True, slots=True)
class Backwards:
    """The changes before `end` are open.

    n independent changes take O(log n) questions; each change that cannot be made costs one, and two times
    log n where it stops a run that grows.
    """

    end: int
    grown: int = 0  # how many the last try of a run that grows took; each is twice as long as the one before
    failing: int = 0  # of that many before `end` it is known that they do not work together

    @property
    def question(self) -> Sequence[int] | None:
        return range(self.end - self._step, self.end) if self.end > 0 else None

    @property
    def _step(self) -> int:
        if self.failing:
            return self.failing // 2
        return min(2 * self.grown, self.end) if self.grown else 1

    def after(self, yes: bool) -> Backwards:
        step = self._step
        if self.failing:
            return self._halved(self.failing - step if yes else step, self.end - step if yes else self.end)
        if yes:
            return Backwards(self.end - step, grown=step)
        return self._halved(step, self.end)

    @staticmethod
    def _halved(failing: int, end: int) -> Backwards:
        """A single one that does not work stays, and the search goes on before it."""
        return Backwards(end, failing=failing) if failing > 1 else Backwards(end - 1)


@dataclass(frozen=True, slots=True)
class InTurn:
    """Changes that exclude each other: the first that works ends the search."""

    count: int
    place: int = 0

    @property
    def question(self) -> Sequence[int] | None:
        return (self.place,) if self.place < self.count else None

    def after(self, yes: bool) -> InTurn:
        return replace(self, place=self.count if yes else self.place + 1)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """All changes together, and only then some of them."""

    count: int

    @property
    def question(self) -> Sequence[int] | None:
        return range(self.count)

    def after(self, yes: bool) -> Search:
        return Backwards(0 if yes else self.count)
