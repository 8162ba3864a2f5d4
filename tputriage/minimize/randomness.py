"""Whether a test fails for the device's random stream alone: with the numbers of the CPU's stream it passes.

Such a difference is no bug, and a script that shows it would pass for one.
"""

from __future__ import annotations

from tputriage.minimize.departures import RANDOM
from tputriage.targets.runs import run_of, test_job
from tputriage.targets.seam import Runner

CPU_RANDOM = {"TPUTRIAGE_CPU_RANDOM": "1"}  # see inside/knobs.py
REASON = "with the random numbers of the CPU the test passes: it compares the streams of two devices"


def asks_chance(reason: str) -> bool:
    """Whether it is worth a run: all but what is random agrees with CPU."""
    return RANDOM in reason


def fails_by_chance(test_id: str, device: Runner, limit_s: float) -> bool:
    """Whether the test passes once its numbers are drawn on CPU."""
    answer = next(iter(device.ask([test_job(test_id, limit_s=limit_s, knobs=CPU_RANDOM)])))
    return run_of(answer, device.target).outcome.is_pass
