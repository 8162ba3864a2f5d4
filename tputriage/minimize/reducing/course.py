"""The way through the sites of a pass: which of them are tried next, and what is tried after a yes or a no.

A course is a value and runs nothing, so that the candidates behind a question can be told before its answer. The
one after a no is kept: whoever looked ahead and whoever comes there later write its candidate once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tputriage.minimize.reducing import sweeping
from tputriage.minimize.reducing.adaptive import AtOnce, Backwards, InTurn, Search
from tputriage.minimize.reducing.edits import Program, Site
from tputriage.minimize.reducing.passes import Pass
from tputriage.minimize.reducing.vain import Vain
from tputriage.minimize.trees import deep


@dataclass(frozen=True)
class Course:
    """A moment in one group of sites."""

    program: Program
    sites: Sequence[Site]
    search: Search
    sweeps: bool  # whether unused definitions go with each change
    kept: tuple[Site, ...] = ()  # sites of the group that were found good

    @classmethod
    def of(cls, one: Pass, program: Program, *, sweeps: bool) -> list[Course]:
        """Of each group of a pass, from its start."""
        return [cls(program, sites, _search(one, len(sites)), sweeps) for sites in _groups(one, program)]

    @property
    def ended(self) -> bool:
        return self.search.question is None

    @cached_property
    def tried(self) -> tuple[Site, ...]:
        return tuple(self.sites[place] for place in self.search.question or ())

    @property
    def kind(self) -> str:
        """Of a site that is tried alone."""
        return self.tried[0].kind if len(self.tried) == 1 else ""

    @cached_property
    def candidate(self) -> str | None:
        """None where the changes make no program."""
        text = self.program.with_changes([*self.kept, *self.tried])
        return sweeping.sweep(text) if self.sweeps and text is not None else text

    def after(self, yes: bool) -> Course:
        return replace(self, search=self.search.after(True), kept=(*self.kept, *self.tried)) if yes else self._if_no

    @cached_property
    def _if_no(self) -> Course:
        return replace(self, search=self.search.after(False))


def _groups(one: Pass, program: Program) -> Sequence[Sequence[Site]]:
    """None where the script goes deeper than a pass can follow."""
    try:
        with deep():
            return one.groups(program)
    except RecursionError:
        return ()


def _search(one: Pass, count: int) -> Search:
    if one.one:
        return InTurn(count)
    return AtOnce(count) if one.whole and count > 1 else Backwards(count)


def is_spent(failed: int, patience: int | None) -> bool:
    """Whether so many questions in a row came to nothing that a pass is put off for the others."""
    return patience is not None and failed >= patience


@dataclass
class Foresight:
    """What would be known if each answer were no: `best` stays, the rest is kept as the driver itself keeps it."""

    best: str
    vain: Vain
    settled: Callable[[str, Vain], bool | None]  # whether a candidate is taken, where that needs no question
    ended: bool = False  # whether what follows cannot be told, since the best would be another one

    def questions(self, courses: Iterable[Course], failed: int, patience: int | None) -> Iterator[str]:
        """The candidates that one pass asks about, from a moment at which so many in a row had failed."""
        for course in courses:
            while not course.ended and not is_spent(failed, patience):
                candidate, taken = course.candidate, self._taken(course)
                if taken is None and candidate is not None:
                    yield candidate
                    self.vain.add(self.best, candidate, course.kind)
                    failed += 1
                elif taken and candidate != self.best:
                    self.ended = True
                    return
                failed = 0 if taken else failed
                course = course.after(bool(taken))

    def _taken(self, course: Course) -> bool | None:
        if course.kind in self.vain.kinds or course.candidate is None:
            return False
        return self.settled(course.candidate, self.vain)
