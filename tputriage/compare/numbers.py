"""What a mismatch message says in numbers. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)"
# torch.testing: "Mismatched elements: 3 / 12 (25.0%)", "Greatest absolute difference: 0.5 at index (0,) (up to …)";
# numpy.testing: "Mismatched elements: 3 / 12 (25%)", "Max absolute difference among violations: 0.5".
_PERCENT = re.compile(r"Mismatched elements: \d+ / \d+ \(" + _NUMBER + "%", re.I)
_ABSOLUTE = re.compile(
    r"(?:Greatest absolute difference: |Max absolute difference[^:]*: |Absolute difference: )" + _NUMBER, re.I
)
_RELATIVE = re.compile(
    r"(?:Greatest relative difference: |Max relative difference[^:]*: |Relative difference: )" + _NUMBER, re.I
)
_PLAIN = re.compile(r"assert \(?" + _NUMBER + r"\)? (?:<=?|==) \(?" + _NUMBER)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """How far off the numbers are; None where the message does not say."""

    percent: float | None = None  # of the elements
    absolute: float | None = None  # greatest difference
    relative: float | None = None

    def words(self) -> tuple[tuple[str, str], ...]:
        """Rows for people."""
        told = (
            ("mismatched elements", self.percent, "%"),
            ("greatest absolute difference", self.absolute, ""),
            ("greatest relative difference", self.relative, ""),
        )
        return tuple((name, f"{value:g}{unit}") for name, value, unit in told if value is not None)


def read_mismatch(message: str) -> Mismatch | None:
    """The numbers of a mismatch; None where the message holds none."""
    percent, absolute, relative = (_float(pattern, message) for pattern in (_PERCENT, _ABSOLUTE, _RELATIVE))
    if percent is None and absolute is None and relative is None:
        absolute = _float(_PLAIN, message)  # a bare `assert 4.94 < 0.01`: how far off it is, as the test saw it
    if percent is None and absolute is None and relative is None:
        return None
    return Mismatch(percent, absolute, relative)


def _float(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    return float(found.group(1)) if found else None
