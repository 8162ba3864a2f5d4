"""The seam to an issue tracker: what filing asks of it, and how it may fail. github.py is the real one.

Three ways to fail, because what may be done next differs: `TrackerError` (refused: nothing happened), `UnsureError`
(the write may have happened: look before doing it again) and `StoppedError` (nothing else will work either: the
token is refused, the limit is used up).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tputriage.errors import TrackerError
from tputriage.model import TrackedIssue


class UnsureError(TrackerError):
    """The answer to a write was lost; it may have been done."""


class StoppedError(TrackerError):
    """The tracker will refuse whatever comes next, too."""


@dataclass(frozen=True, slots=True)
class Comment:
    author: str
    body: str


class Tracker(Protocol):
    """Issues of repositories (`owner/name`). Every method may raise the three errors above."""

    def login(self) -> str:
        """Who we are: the author of what `create` makes."""
        ...

    def list_issues(self, repository: str, *, creator: str = "", since_s: float = 0.0) -> tuple[TrackedIssue, ...]:
        """All of them or an error: open and closed, no pull requests; `since_s` is the last change, Unix time."""
        ...

    def get(self, repository: str, number: int) -> TrackedIssue | None:
        """None where there is no issue of that number: never was, deleted, or a pull request."""
        ...

    def newest(self, repository: str) -> int:
        """The highest number of an issue or pull request that the listing shows; 0 where there is none."""
        ...

    def create(self, repository: str, title: str, body: str, labels: tuple[str, ...]) -> TrackedIssue: ...

    def edit(self, repository: str, number: int, *, body: str = "", state: str = "", state_reason: str = "") -> None:
        """Change what is not empty, at once."""
        ...

    def add_labels(self, repository: str, number: int, labels: tuple[str, ...]) -> None: ...

    def comments(self, repository: str, number: int) -> tuple[Comment, ...]: ...

    def comment(self, repository: str, number: int, body: str) -> None: ...
