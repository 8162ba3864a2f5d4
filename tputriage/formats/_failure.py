"""One failing phase, as any format tells it, made into a Failure.

Texts are bounded: a message of 300 kB or a captured log of a gigabyte says no more than its two ends do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tputriage.formats._longrepr import Place, read_longrepr, without_worker
from tputriage.model import Failure, Outcome, Phase

LONGEST_MESSAGE = 16_000
LONGEST_TEXT = 24_000
LONGEST_CAPTURED = 8_000
_TIMEOUT = re.compile(r"\ATimeout \(?>|\ATimeout >")
_SIGNALS = {"SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9, "SIGSEGV": 11, "SIGTERM": 15, "SIGILL": 4}
_SIGNAL = re.compile(r"\b(SIG(?:ABRT|BUS|FPE|KILL|SEGV|TERM|ILL))\b|Fatal Python error: (Aborted|Segmentation fault)")
_FATAL = {"Aborted": 6, "Segmentation fault": 11}


def build(
    test_id: str,
    phase: Phase,
    *,
    longrepr: str,
    crash: str = "",
    places: Sequence[Place] = (),
    captured: str = "",
    duration_s: float = 0.0,
) -> Failure:
    """A Failure from what a format read; `crash` and `places` where the format holds them apart."""
    text = without_worker(longrepr)
    story = read_longrepr(text, crash=crash, places=places, test=function_of(test_id))
    outcome = _outcome(phase, story.message)
    return Failure(
        test_id,
        phase,
        outcome,
        exception=story.exception,
        message=cut(story.message, LONGEST_MESSAGE),
        frames=story.frames,
        text=cut(text, LONGEST_TEXT),
        captured=captured[-LONGEST_CAPTURED:],
        duration_s=duration_s,
        signal=signal_in(captured) if outcome is Outcome.CRASH else None,
        causes=tuple(cut(cause, LONGEST_MESSAGE) for cause in story.causes[:10]),
    )


def _outcome(phase: Phase, message: str) -> Outcome:
    if phase is Phase.CRASH:
        return Outcome.CRASH
    if _TIMEOUT.match(message):
        return Outcome.TIMEOUT
    return Outcome.FAILED if phase is Phase.CALL else Outcome.ERROR


def function_of(test_id: str) -> str:
    """The test's function: the node id's last part, without parameters (which may hold `::` and `[`)."""
    return test_id.split("[", 1)[0].rpartition("::")[2]


def signal_in(text: str) -> int | None:
    """The number of the signal that a process named in its last words."""
    found = None
    for found in _SIGNAL.finditer(text):  # noqa: B007 - the last one counts
        pass
    if found is None:
        return None
    return _SIGNALS[found[1]] if found[1] else _FATAL[found[2]]


def cut(text: str, limit: int) -> str:
    """The text with its middle replaced by a count where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters cut …\n{text[-half:]}"
