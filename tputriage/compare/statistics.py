"""How sure a failure rate is, and how many runs it takes to see or to exclude a flake. Pure arithmetic."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution
MOST_REPEATS = 1000  # a rate so small that no one would wait for it


def wilson(failed: int, total: int, z: float = Z_95) -> tuple[float, float]:
    """Interval of the failure rate after `failed` of `total` runs; (0, 1) before the first run.

    Wilson's score interval (1927): unlike the textbook one it says something at 0 and at `total` of `total`.
    """
    if total <= 0:
        return 0.0, 1.0
    rate, square = failed / total, z * z
    centre = rate + square / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    scale = 1 + square / total
    low = 0.0 if failed == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if failed == total else min(1.0, (centre + spread) / scale)
    return low, high


def repeats_needed(rate: float, confidence: float = 0.95) -> int:
    """Runs after which a failure of this rate has shown itself at least once with the given confidence.

    1 for a rate of 1; at most MOST_REPEATS, which also stands for a rate of 0.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if rate >= 1.0:
        return 1
    if rate <= 0.0:
        return MOST_REPEATS
    return min(MOST_REPEATS, max(1, math.ceil(math.log1p(-confidence) / math.log1p(-rate) - 1e-9)))
