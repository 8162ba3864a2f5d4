"""The driver: passes over a script, mixed, those that do not pay put off, until none finds anything smaller.

Deterministic: the same script, oracle and seed take the same way. Whatever stops it, the best so far is what it
hands back, and `on_better` has seen it.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import libcst as cst

from tputriage.minimize.names import normal_form
from tputriage.minimize.reducing import sizes, sweeping
from tputriage.minimize.reducing.adaptive import backwards
from tputriage.minimize.reducing.doomed import troubles
from tputriage.minimize.reducing.edits import Program, Site, deep
from tputriage.minimize.reducing.facts import Facts
from tputriage.minimize.reducing.lost import lost
from tputriage.minimize.reducing.passes import Pass, all_passes
from tputriage.minimize.reducing.unscaffold import unscaffolded
from tputriage.minimize.reducing.vain import Vain

PATIENCE = 12  # questions in a row that came to nothing, after which a pass is put off for the others
FINE_PATIENCE = 4  # of a pass that takes nothing away
MOST_ROUNDS = 60
MOST_STARTS = 3  # the first, and anew on what the passes have left
SLOWER = 3.0  # a question may take this many times as long as the quickest that was answered with yes, and
SLACK_S = 2.0  # this much longer, since machines are busy
REMEMBERED_S = 0.02  # an answer that comes sooner was remembered, and says nothing of how long a run takes
BOLD = 10  # passes below this order take away much at once
FINE = 60  # passes from this order on change values, which is for when nothing else is left to go

Oracle = Callable[[str], bool]
Better = Callable[[str], None]
Tracer = Callable[[str], Facts | None]  # what a run of the script saw, where it could be watched


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

    Uses `interesting.exhausted` where there is one. `seed` orders the passes that are put off.
    """
    reduction = Reduction(source, interesting, on_better, trace, random.Random(seed), clock)  # noqa: S311
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
    interesting: Oracle
    on_better: Better
    trace: Tracer
    chance: random.Random
    clock: Callable[[], float] = time.monotonic
    vain: Vain = field(default_factory=Vain)
    sweeps: bool = False  # whether unused definitions go with each change
    failed: int = 0  # in a row
    pace_s: float = math.inf  # of the quickest question that was answered with yes
    is_slow: bool = False  # whether the last question took much longer
    hurry: bool = True  # whether a candidate that is much slower counts as a no
    slow: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # by pass: (best, candidate) that was so
    ended: bool = False
    started: bool = False  # whether the passes have been through once
    under_way: str = ""  # the pass
    facts: Facts | None = None
    traced: str = ""
    done: dict[str, tuple[int, int]] = field(default_factory=dict)  # by pass: the shape at which it had nothing more

    def start(self, passes: Sequence[Pass]) -> bool:
        """Scaffolding first, then the passes; whether there is something to be gained from doing so again.

        What could not be one straight line as a whole may be so when it is small. That is the longer script at
        first: where it does not lead to a smaller one, the one before it is kept.
        """
        before = self.best
        unscaffolded(before, self.bold, self.traced_facts)
        if self.started and self.best == before:
            return False
        self.run(passes)
        if self.started and not sizes.is_smaller(self.best, before):
            self.best = before
            self.on_better(before)
            return False
        self.started = True
        return not self.ended and not self.exhausted and "def " in self.best

    def run(self, passes: Sequence[Pass]) -> str:
        self.sweeps = sweeping.sweep(self.best) == self.best or self._take(sweeping.sweep(self.best))
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
        for one in passes:
            paid = self._try_pass(one, PATIENCE)
            if paid and one.order < BOLD:
                break  # a bold step opens the way for the next
        return self.best != before

    def _last_resort(self, passes: Sequence[Pass]) -> None:
        """Those that were put off, to their end; back to the short way as soon as one pays."""
        put_off = [one for one in passes if self.done.get(one.name) != self._shape()]
        self.chance.shuffle(put_off)
        for one in sorted(put_off, key=lambda one: one.order // 10):
            if self._try_pass(one, None):
                return

    def _try_pass(self, one: Pass, patience: int | None) -> bool:
        """Whether it paid. One that looked at all it offers in vain is done until the script has another shape."""
        before, self.under_way = self.best, one.name
        whole = self._run_pass(one, FINE_PATIENCE if one.order >= FINE else patience)
        if self.best == before and (whole or one.order >= FINE):
            self.done[one.name] = self._shape()
        return self.best != before

    def _shape(self) -> tuple[int, int]:
        """What a pass's chances hang on; smaller values alone open no new way for it."""
        size = sizes.size_of(self.best)
        return (size.statements, size.names) if size is not None else (0, 0)

    @property
    def exhausted(self) -> bool:
        return self.ended or bool(getattr(self.interesting, "exhausted", False))

    def _run_pass(self, one: Pass, patience: int | None) -> bool:
        """Whether it came to its end. Each group has a fresh look: sites hold for the script they were found in."""
        if one.traced and one.order < BOLD and self._fails_at_its_start():
            return True  # there is nothing to cut or to skip
        place, self.failed, looked_at = 0, 0, ""
        program: Program | None = None
        groups: Sequence[Sequence[Site]] = ()
        while not self.exhausted:
            if looked_at != self.best:
                program, looked_at = self._program(one.traced), self.best
                groups = _groups(one, program) if program is not None else ()
            if program is None or place >= len(groups):
                return True
            self._run_group(one, program, groups[place], patience)
            if patience is not None and self.failed >= patience:
                return False
            place += 1
        return False

    def _fails_at_its_start(self) -> bool:
        """Whether no function is on the way to the failure; nothing puts one there."""
        frames = self.facts.frames if self.facts is not None else ()
        return "def " not in self.best or (len(frames) == 1 and frames[0].function == "<module>")

    def _program(self, traced: bool) -> Program | None:
        """None where libcst cannot read the script, or where nothing is known of its run and a pass needs that."""
        facts = self.traced_facts(self.best) if traced else None
        if traced and facts is None:
            return None
        try:
            program = Program(self.best, facts)
            _ = program.module
        except (cst.ParserSyntaxError, RecursionError):
            return None
        return program

    def traced_facts(self, source: str) -> Facts | None:
        if self.traced != source and not self.exhausted:
            self.facts, self.traced = self.trace(source), source
        return self.facts if self.traced == source else None

    def bold(self, candidate: str) -> bool:
        """A whole new script, that may be the longer one: the way down goes on from there."""
        if self.exhausted or self._loses(candidate) or not self._timed(candidate):
            return False
        self.best = candidate
        self.on_better(candidate)
        return True

    def _run_group(self, one: Pass, program: Program, sites: Sequence[Site], patience: int | None) -> None:
        kept: list[Site] = []

        def works(places: Sequence[int]) -> bool:
            more = [sites[place] for place in places]
            kind = more[0].kind if len(more) == 1 else ""
            failed = self.failed
            if kind in self.vain.kinds or not self._take(program.with_changes([*kept, *more])):
                if kind and self.failed > failed:
                    self.vain.kinds.add(kind)
                return False
            self.failed = 0
            kept.extend(more)
            return True

        def go_on() -> bool:
            return not self.exhausted and (patience is None or self.failed < patience)

        if one.one:
            any(go_on() and works([place]) for place in range(len(sites)))
        elif not (one.whole and len(sites) > 1 and works(range(len(sites)))):
            backwards(len(sites), partial(works), go_on)

    def _take(self, candidate: str | None) -> bool:
        """Whether the candidate is smaller and interesting; then it is the best."""
        if candidate is None:
            return False
        if self.sweeps:
            candidate = sweeping.sweep(candidate)
        if candidate == self.best:
            return True
        if not sizes.is_smaller(candidate, self.best) or self.vain.has(self.best, candidate) or self._doomed(candidate):
            return False
        if normal_form(candidate) != normal_form(self.best) and not self._asked(candidate):
            self.vain.add(self.best, candidate)
            self.failed += 1
            return False
        self.best = candidate
        self.on_better(candidate)
        return True

    def _asked(self, candidate: str) -> bool:
        """Whether it is interesting, and runs about as quickly as those before: fewer words that wait are no gain.

        A slow one is asked once more, since it may be the machine that was slow.
        """
        if not self._timed(candidate):
            return False
        if not self.is_slow or (self._timed(candidate) and not self.is_slow):
            return True
        self.slow.setdefault(self.under_way, []).append((self.best, candidate))
        self.ended = not self.hurry
        return self.ended

    def _timed(self, candidate: str) -> bool:
        started = self.clock()
        found = self.interesting(candidate)
        took_s = self.clock() - started
        self.is_slow = took_s > SLOWER * self.pace_s + SLACK_S
        if found and took_s > REMEMBERED_S:
            self.pace_s = min(self.pace_s, took_s)
        return found

    def _doomed(self, candidate: str) -> bool:
        return bool(troubles(candidate) - troubles(self.best)) or self._loses(candidate)

    def _loses(self, candidate: str) -> bool:
        return bool(lost(candidate) - lost(self.best))


def _groups(one: Pass, program: Program) -> Sequence[Sequence[Site]]:
    """None where the script goes deeper than a pass can follow."""
    try:
        with deep():
            return one.groups(program)
    except RecursionError:
        return ()
