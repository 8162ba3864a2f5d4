"""Which of two runs is newer: by the versions it tested, then by its time. An old report may come late."""

from __future__ import annotations

import re
from collections.abc import Mapping

VERSIONS = ("torch_tpu", "torch", "libtpu")  # the first that differs decides
LONGEST = 9  # digits of a number that still says something
_DIGITS = re.compile(r"\d+")


def order_key(versions: Mapping[str, str], created_s: float) -> tuple[tuple[tuple[int, ...], ...], float]:
    """Sorts runs, oldest first."""
    return tuple(_numbers(versions.get(name, "")) for name in VERSIONS), created_s


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits[:LONGEST]) for digits in _DIGITS.findall(version)[:6])
