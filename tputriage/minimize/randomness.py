"""Whether a test fails for the device's random stream alone: with the numbers of the CPU's stream it passes.

Such a difference is no bug, and a script that shows it would pass for one.
"""

from __future__ import annotations

from tputriage.minimize.departures import RANDOM
from tputriage.targets.runs import CPU_RANDOM, run_once, test_job
from tputriage.targets.seam import Runner

REASON = "with the random numbers of the CPU the test passes: it compares the streams of two devices"


def asks_chance(reason: str) -> bool:
    """Whether it is worth a run: all but what is random agrees with CPU."""
    return RANDOM in reason


def fails_by_chance(test_id: str, device: Runner, limit_s: float) -> bool:
    """Whether the test passes once its numbers are drawn on CPU."""
    return run_once(device, test_job(test_id, limit_s=limit_s, knobs=CPU_RANDOM)).outcome.is_pass
