"""The driver: passes over a script, mixed, those that do not pay put off, until none finds anything smaller.

Deterministic: the same script, oracle and seed take the same way. Whatever stops it, the best so far is what it
hands back, and `on_better` has seen it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tputriage.minimize.names import normal_form
from tputriage.minimize.reducing import sizes, sweeping
from tputriage.minimize.reducing.asking import Asking, Oracle
from tputriage.minimize.reducing.course import Course, Foresight, is_spent
from tputriage.minimize.reducing.doomed import troubles
from tputriage.minimize.reducing.facts import Tracer
from tputriage.minimize.reducing.looking import BOLD, Looking
from tputriage.minimize.reducing.lost import lost
from tputriage.minimize.reducing.passes import Pass, all_passes
from tputriage.minimize.reducing.unscaffold import unscaffolded
from tputriage.minimize.reducing.vain import Vain

PATIENCE = 12  # questions in a row that came to nothing, after which a pass is put off for the others
FINE_PATIENCE = 4  # of a pass that takes nothing away
MOST_ROUNDS = 60
MOST_STARTS = 3  # the first, and anew on what the passes have left
FINE = 60  # passes from this order on change values, which is for when nothing else is left to go

Better = Callable[[str], None]


def reduce_source(
    source: str,
    interesting: Oracle,
    *,
    on_better: Better = lambda source: None,
    seed: int = 0,
    trace: Tracer = lambda source: None,
    passes: Sequence[Pass] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """The smallest script found that is still interesting; `source` itself where the oracle says no to all else.

    Uses `interesting.exhausted` where there is one, and asks `interesting.workers` questions at once of
    `interesting.first` where there are those: see asking.py. `seed` orders the passes that are put off.
    """
    asking = Asking(interesting, clock)
    reduction = Reduction(source, asking, Looking(asking, trace), on_better, random.Random(seed))  # noqa: S311
    if passes is not None:
        return reduction.run(passes)
    for _ in range(MOST_STARTS):
        if not reduction.start(all_passes()):
            break
    return reduction.best


@dataclass
class Reduction:
    """One script on its way down."""

    best: str
    asking: Asking
    looking: Looking
    on_better: Better
    chance: random.Random
    vain: Vain = field(default_factory=Vain)
    failed: int = 0  # in a row
    hurry: bool = True  # whether a candidate that is much slower counts as a no
    slow: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # by pass: (best, candidate) that was so
    ended: bool = False
    started: bool = False  # whether the passes have been through once
    under_way: str = ""  # the pass
    later: Sequence[tuple[Pass, int | None]] = ()  # with its patience, each that comes next if none finds anything
    begun: str = ""  # the best when the pass began: where it has paid, others may come next
    done: dict[str, tuple[int, int]] = field(default_factory=dict)  # by pass: the shape at which it had nothing more

    def start(self, passes: Sequence[Pass]) -> bool:
        """Scaffolding first, then the passes; whether there is something to be gained from doing so again.

        What could not be one straight line as a whole may be so when it is small. That is the longer script at
        first: where it does not lead to a smaller one, the way goes on from the one before it.
        """
        before = self.best
        unscaffolded(before, self.bold, self.looking.facts_of)
        if self.started and self.best == before:
            return False
        self.run(passes)
        if self.best != before and not sizes.is_smaller(self.best, before):
            self.best = before
            self.on_better(before)
            if self.started:
                return False
            self.run(passes)
        self.started = True
        return not self.exhausted and "def " in self.best

    def run(self, passes: Sequence[Pass]) -> str:
        swept = sweeping.sweep(self.best)
        self.looking.sweeps = swept == self.best or self._take(swept)
        self.vain.start = self.best
        for _ in range(MOST_ROUNDS):
            hopeful = self._hopeful(passes)
            if not hopeful or self.exhausted:
                break
            structural = [one for one in hopeful if one.order < FINE]
            if not structural and self.slow and self.hurry:
                self._slow_way(passes)
            elif not self._short_way(structural or hopeful):
                self._last_resort(structural or hopeful)
        return self.best

    def _slow_way(self, passes: Sequence[Pass]) -> None:
        """What makes each run a slow one is left for the end, which it is: nothing more is asked at that price."""
        self.hurry = False
        self.vain.forgive(question for questions in self.slow.values() for question in questions)
        for one in [one for one in passes if one.name in self.slow]:
            self._try_pass(one, PATIENCE)

    def _hopeful(self, passes: Sequence[Pass]) -> list[Pass]:
        """The passes that may still pay: all of them again where the script is another one than they looked at."""
        if self.vain.another(self.best):
            self.done.clear()
        hopeful = [one for one in passes if self.done.get(one.name) != self._shape()]
        if hopeful or not self.vain.last_look(self.best):
            return hopeful
        self.done.clear()
        return list(passes)

    def _short_way(self, passes: Sequence[Pass]) -> bool:
        """Each pass as long as it pays; whether any did."""
        before = self.best
        for place, one in enumerate(passes):
            paid = self._try_pass(one, PATIENCE, passes[place + 1 :])
            if paid and one.order < BOLD:
                break  # a bold step opens the way for the next
        return self.best != before

    def _last_resort(self, passes: Sequence[Pass]) -> None:
        """Those that were put off, to their end; back to the short way as soon as one pays."""
        put_off = [one for one in passes if self.done.get(one.name) != self._shape()]
        self.chance.shuffle(put_off)
        put_off.sort(key=lambda one: one.order // 10)
        for place, one in enumerate(put_off):
            if self._try_pass(one, None, put_off[place + 1 :]):
                return

    def _try_pass(self, one: Pass, patience: int | None, later: Sequence[Pass] = ()) -> bool:
        """Whether it paid. One that looked at all it offers in vain is done until the script has another shape."""
        before, self.begun, self.under_way = self.best, self.best, one.name
        self.later = [(other, _patience(other, patience)) for other in later]
        whole = self._run_pass(one, _patience(one, patience))
        if self.best == before and (whole or one.order >= FINE):
            self.done[one.name] = self._shape()
        return self.best != before

    def _shape(self) -> tuple[int, int]:
        """What a pass's chances hang on; smaller values alone open no new way for it."""
        size = sizes.size_of(self.best)
        return (size.statements, size.names) if size is not None else (0, 0)

    @property
    def exhausted(self) -> bool:
        return self.ended or self.asking.exhausted

    def _run_pass(self, one: Pass, patience: int | None) -> bool:
        """Whether it came to its end. Each group has a fresh look: sites hold for the script they were found in."""
        if self.looking.is_idle(one, self.best):
            return True
        place, self.failed, looked_at = 0, 0, ""
        courses: Sequence[Course] = ()
        while not self.exhausted:
            if looked_at != self.best:
                courses, looked_at = self.looking.offered(one, self.best), self.best
            if place >= len(courses):
                return True
            self._run_group(courses[place:], patience)
            if is_spent(self.failed, patience):
                return False
            place += 1
        return False

    def bold(self, candidate: str) -> bool:
        """A whole new script, that may be the longer one: the way down goes on from there."""
        if self.exhausted or self._loses(candidate) or not self.asking.is_found(candidate):
            return False
        self.best = candidate
        self.on_better(candidate)
        return True

    def _run_group(self, courses: Sequence[Course], patience: int | None) -> None:
        """The first of them; the others are the groups behind it."""
        course = courses[0]
        while not course.ended and not self.exhausted and not is_spent(self.failed, patience):
            ahead = islice(self._foreseen([course, *courses[1:]], patience), 1, None)
            works = course.kind not in self.vain.kinds and self._take(course.candidate, ahead, course.kind)
            if works:
                self.failed = 0
            course = course.after(works)

    def _foreseen(self, courses: Sequence[Course], patience: int | None) -> Iterator[str]:
        """The candidates that are asked about, from this moment on, while each answer is no."""
        foresight = Foresight(self.best, self.vain.copy(), self._settled)
        fresh = courses[0].program.source == self.best  # else the groups behind this one are looked at anew
        yield from foresight.questions(courses if fresh else courses[:1], self.failed, patience)
        for one, its_patience in self.later if fresh and self.best == self.begun else ():
            courses_of_it = None if foresight.ended else self.looking.foreseen(one, self.best)
            if courses_of_it is None:
                return
            yield from foresight.questions(courses_of_it, 0, its_patience)

    def _take(self, candidate: str | None, ahead: Iterable[str] = (), kind: str = "") -> bool:
        """Whether the candidate is smaller and interesting; then it is the best."""
        if candidate is None:
            return False
        taken = self._settled(candidate, self.vain)
        if taken is None:
            taken = self._asked(candidate, ahead)
            if not taken:
                self.vain.add(self.best, candidate, kind)
                self.failed += 1
        if taken and candidate != self.best:
            self.best = candidate
            self.on_better(candidate)
        return taken

    def _settled(self, candidate: str, vain: Vain) -> bool | None:
        """Whether it is as good as the best or better, where that takes no question."""
        if candidate == self.best:
            return True
        if not sizes.is_smaller(candidate, self.best) or vain.has(self.best, candidate) or self._doomed(candidate):
            return False
        return True if normal_form(candidate) == normal_form(self.best) else None

    def _asked(self, candidate: str, ahead: Iterable[str]) -> bool:
        """Whether it is interesting, and runs about as quickly as those before: fewer words that wait are no gain."""
        found, quickly = self.asking.is_found_quickly(candidate, ahead)
        if not found or quickly:
            return found
        self.slow.setdefault(self.under_way, []).append((self.best, candidate))
        self.ended = not self.hurry
        return self.ended

    def _doomed(self, candidate: str) -> bool:
        return bool(troubles(candidate) - troubles(self.best)) or self._loses(candidate)

    def _loses(self, candidate: str) -> bool:
        return bool(lost(candidate) - lost(self.best))


def _patience(one: Pass, patience: int | None) -> int | None:
    return FINE_PATIENCE if one.order >= FINE else patience
