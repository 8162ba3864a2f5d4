"""What a road hands back: a script that fails as wanted, not yet verified in fresh processes, and what is known.

The pipeline turns a Draft into a Repro; nothing here runs anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from tputriage.model import Failure, Level, Signature


@dataclass(frozen=True, slots=True)
class Draft:
    """A script that a road ended at."""

    source: str  # what was asked of the oracle last; `emit.finish` gives it header and form
    level: Level
    operator: str = ""  # public function, or aten operator, at fault
    actual: str = ""  # last line of what happens on the device
    expected: str = ""  # what the reference does, one clause
    condition: str = ""  # when it fails, one sentence
    conditions: tuple[tuple[str, str], ...] = ()  # (variation, "fail" | "pass" | "error: …")
    cause_proven: str = ""  # what the counterfactual run showed; "" where none was made
    findings: tuple[Failure, ...] = ()  # failures of another kind met on the way
    behind: tuple[Failure, ...] = ()  # what the test then stops at, of the counterfactual run
    moved: str = ""  # the call that was done on CPU in it
    reason: str = ""  # what stood in the way of a shorter road
    traceback: str = ""
    wanted: Signature | None = None  # what the script fails with, where it asserts in words of its own


@dataclass(frozen=True, slots=True)
class Road:
    """A road's answer: a draft, or why the road does not apply here."""

    draft: Draft | None
    reason: str = ""  # one sentence, set where there is no draft
    runs: int = 0  # executions that the oracle did not count: capturing, counterfactual
