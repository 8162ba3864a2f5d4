"""Figures out of a report, as any sink can keep them: JSON's may have 4,000 digits, or be no number at all."""

from __future__ import annotations

from typing import Any

LARGEST = 2**53  # beyond it neither JSON's readers nor SQLite's columns are sure to keep an integer
LONGEST_S = 1e12


def whole(value: Any) -> int:
    """The integer; 0 for what is none (a truth value too), or is too large to mean anything."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST else 0


def count(value: Any) -> int:
    """As `whole`; 0 for less than nothing."""
    return max(whole(value), 0)


def seconds(value: Any) -> float:
    """Seconds, a duration or a moment; 0 for NaN, the infinities and what is no number."""
    return float(value) if isinstance(value, int | float) and abs(value) < LONGEST_S else 0.0
