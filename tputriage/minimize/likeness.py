"""Whether a script's failure is the one that is shrunk: the same bug, and what the first script's own failure adds.

A bug known by its place alone moves as the script does: there the words of the first script know it too. Every death
has one signature: there the way of dying has to be the first script's. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tputriage.model import Failure, Outcome, Signature
from tputriage.signatures import same_bug
from tputriage.signatures.families import BY_NAME, Kind
from tputriage.signatures.rules import normalise, unwrap

WORD = re.compile(r"[A-Za-z]{2,}")
EXIT_CODE = re.compile(r"exit code \d+")
FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """What a failure is known by."""

    wanted: Signature
    words: str = ""  # of the first script that was shown; "" while there is none, or where they tell too little
    death: str | None = None  # how that script died

    @property
    def is_numeric(self) -> bool:
        return self.wanted.family in BY_NAME and BY_NAME[self.wanted.family].kind is Kind.NUMERIC

    def shown(self, failure: Failure) -> Likeness:
        """With what a failure that counts adds to it, where nothing did so before."""
        death = _way_of_dying(failure) if self.death is None else self.death
        return replace(self, words=self.words or _words_of(failure), death=death)

    def holds(self, failure: Failure) -> bool:
        if same_bug(self.wanted, failure):
            return self.death in (None, _way_of_dying(failure))
        words = _words_of(failure)
        return not self.is_numeric and bool(words) and words == self.words


def _words_of(failure: Failure) -> str:
    """Exception and message as a template; "" where they are too few to know a bug by."""
    exception, message, _ = unwrap(failure.exception, failure.message)  # a process or a loader only announces it
    line = normalise(next(iter(message.strip().splitlines()), ""))
    telling = len(WORD.findall(line)) >= FEWEST_WORDS and not line.startswith("assert ")
    return f"{exception}: {line}" if telling else ""


def _way_of_dying(failure: Failure) -> str:
    """By which signal, or with which exit code; "" where the process lived."""
    if failure.outcome is not Outcome.CRASH:
        return ""
    code = EXIT_CODE.search(failure.message)
    return f"signal {failure.signal}" if failure.signal else code.group() if code else "of itself"
