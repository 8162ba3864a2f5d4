"""How often to ask about a failure that shows up now and then."""

from __future__ import annotations

import math

from tputriage.model import Verdict

CONFIDENCE = 0.95
MOST_ASKS = 20  # of one candidate: a flake that is rarer is not shrunk in any budget


def asks_needed(failed: int, of: int, confidence: float = CONFIDENCE) -> int:
    """How often to ask so that a failure seen `failed` times `of` shows up with that confidence; 1 if it always did."""
    if failed >= of:
        return 1
    rate = max(failed, 0.5) / of
    return max(1, math.ceil(math.log(1 - confidence) / math.log(1 - rate)))


def asks_for(verdict: Verdict | None) -> int:
    """As often as a flake's measured rate needs."""
    if verdict is None or not verdict.failed:
        return 1
    return min(MOST_ASKS, asks_needed(verdict.failed, verdict.total))
