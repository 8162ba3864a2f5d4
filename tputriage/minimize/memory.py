"""What the oracle answered before, on disk: an interrupted run goes on where it was.

Every road asks its next question by the answers to those before, so with the answers at hand it comes to its best
so far without a run. A line is written as soon as an answer is known; one that was cut off is not read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from tputriage.console import log

ANSWERS = {"yes": True, "no": False}


class Memory:
    """Answers by question.

    `about` says what they hold for, since the same script may fail with other versions; it is asked late, when
    the device has told them.
    """

    def __init__(self, path: Path | None = None, about: Callable[[], str] = str) -> None:
        self._path = path
        self._about = about
        self._known: dict[str, bool] = {}
        if path is not None and path.is_file():
            lines = path.read_text("ascii", "replace").splitlines(keepends=True)
            words = (line.split() for line in lines if line.endswith("\n"))
            self._known = {pair[0]: ANSWERS[pair[1]] for pair in words if len(pair) == 2 and pair[1] in ANSWERS}

    def get(self, question: str) -> bool | None:
        known = self._known.get(self._digest(question))
        if known is not None:
            log("oracle", "answered before: %s", "interesting" if known else "not interesting")
        return known

    def keep(self, question: str, answer: bool) -> None:
        digest = self._digest(question)
        self._known[digest] = answer
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="ascii") as file:
                file.write(f"{digest} {'yes' if answer else 'no'}\n")

    def forget(self) -> None:
        """Once the run has come to its end."""
        self._known.clear()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _digest(self, question: str) -> str:
        return hashlib.sha256(f"{self._about()}\0{question}".encode("utf-8", "backslashreplace")).hexdigest()
