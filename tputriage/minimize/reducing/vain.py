"""Changes that came to nothing: not asked about again until the script has become another one.

Each success would otherwise bring back all questions that failed before it, since their candidates are new texts.
Most of them fail again. They get their second chance when the script has lost half of its text, and in one
last look when nothing else is left to try.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

SHRUNK = 0.5  # of its characters: so much smaller a script is another one
LAST_LOOKS = 1
WORTH = 500  # characters: a script below this is read in a moment, and each look costs a run a change
AROUND = 32  # characters on each side by which a change within a line is known


@dataclass
class Vain:
    """What was asked in vain since the script was last another one."""

    start: str = ""
    known: set[Hashable] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    candidates: set[str] = field(default_factory=set)  # these very texts, which no look asks about twice
    looks: int = LAST_LOOKS

    def has(self, best: str, candidate: str) -> bool:
        return candidate in self.candidates or change(best, candidate) in self.known

    def add(self, best: str, candidate: str, kind: str = "") -> None:
        """`kind` is that of a site which was tried alone."""
        self.known.add(change(best, candidate))
        self.candidates.add(candidate)
        self.kinds.update({kind} - {""})

    def copy(self) -> Vain:
        return replace(self, known=set(self.known), kinds=set(self.kinds), candidates=set(self.candidates))

    def forgive(self, questions: Iterable[tuple[str, str]]) -> None:
        """These (best, candidate) may be asked about again."""
        for best, candidate in questions:
            self.known.discard(change(best, candidate))
            self.candidates.discard(candidate)
        self.kinds.clear()

    def another(self, best: str) -> bool:
        """Forgets all where the script is another one by now; whether it did."""
        if len(best) > SHRUNK * len(self.start):
            return False
        self.start, self.known, self.kinds = best, set(), set()
        return True

    def last_look(self, best: str) -> bool:
        """Forgets all where the script has changed at all, once; whether it did."""
        if best == self.start or not self.looks or len(best) < WORTH:
            return False
        self.start, self.known, self.kinds, self.looks = best, set(), set(), self.looks - 1
        return True


def change(best: str, candidate: str) -> Hashable:
    """What a candidate does to the script, whatever else the script says."""
    before, after = Counter(best.splitlines()), Counter(candidate.splitlines())
    gone, new = before - after, after - before
    if gone.total() == new.total() == 1:
        return _within(next(iter(gone)), next(iter(new)))
    return frozenset(gone.items()), frozenset(new.items())


def _within(line: str, other: str) -> Hashable:
    start = _alike(line, other)
    end = min(min(len(line), len(other)) - start, _alike(line[::-1], other[::-1]))
    gone, new = line[start : len(line) - end], other[start : len(other) - end]
    return line[max(0, start - AROUND) : start], gone, new, line[len(line) - end :][:AROUND]


def _alike(line: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(line, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(line), len(other)))
