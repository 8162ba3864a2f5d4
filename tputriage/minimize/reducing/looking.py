"""What can be seen of the best script so far: its tree, what its run saw, and what each pass offers for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from tputriage.minimize.reducing.asking import Asking
from tputriage.minimize.reducing.course import Course
from tputriage.minimize.reducing.edits import Program
from tputriage.minimize.reducing.facts import Facts, Tracer
from tputriage.minimize.reducing.passes import Pass

BOLD = 10  # passes below this order take away much at once


@dataclass
class Looking:
    """Remembers what it saw of one script, until it is asked about another."""

    asking: Asking
    trace: Tracer
    sweeps: bool = False  # whether unused definitions go with each change
    facts: Facts | None = None
    traced: str = ""
    looked_at: str = ""
    read: dict[bool, Program | None] = field(default_factory=dict)  # without, and with what the run saw
    offers: dict[str, list[Course]] = field(default_factory=dict)  # by pass, of those that somebody looked ahead to

    def offered(self, one: Pass, best: str) -> list[Course]:
        """What a pass offers, one a group; that of another script costs a run where the pass is a traced one."""
        self._turn_to(best)
        return self.offers.pop(one.name, None) or self._look(one)

    def foreseen(self, one: Pass, best: str) -> list[Course] | None:
        """What `offered` will say; None where that would cost a run."""
        self._turn_to(best)
        if one.traced and self.traced != best:
            return None
        if one.name not in self.offers:
            self.offers[one.name] = [] if self.is_idle(one, best) else self._look(one)
        return self.offers[one.name]

    def is_idle(self, one: Pass, best: str) -> bool:
        """Whether it cuts and skips, and no function is on the way to the failure; nothing puts one there."""
        if not one.traced or one.order >= BOLD:
            return False
        frames = self.facts.frames if self.facts is not None else ()
        return "def " not in best or (len(frames) == 1 and frames[0].function == "<module>")

    def facts_of(self, source: str) -> Facts | None:
        if self.traced != source and not self.asking.exhausted:
            self.facts, self.traced = self.trace(source), source
        return self.facts if self.traced == source else None

    def _turn_to(self, best: str) -> None:
        if self.looked_at != best:
            self.looked_at, self.read, self.offers = best, {}, {}

    def _look(self, one: Pass) -> list[Course]:
        if one.traced not in self.read:
            self.read[one.traced] = self._program(self.looked_at, one.traced)
        program = self.read[one.traced]
        return Course.of(one, program, sweeps=self.sweeps) if program is not None else []

    def _program(self, best: str, traced: bool) -> Program | None:
        """None where libcst cannot read the script, or where nothing is known of its run and a pass needs that."""
        facts = self.facts_of(best) if traced else None
        if traced and facts is None:
            return None
        try:
            program = Program(best, facts)
            _ = program.module
        except (cst.ParserSyntaxError, RecursionError):
            return None
        return program
