"""What must be remembered so that no write is done twice: intent, then sent, then the number.

The store keeps it (store/ledger.py); tests keep it in a dictionary. Each `write` is committed when it returns,
before the step that follows it, so that a process killed at any moment leaves behind what it may have done.
"""

from __future__ import annotations

from typing import Protocol

from tputriage.model import Filing

INTENT, SENT, DONE = "intent", "sent", "done"


class Ledger(Protocol):
    """Filings by key."""

    def find(self, key: str) -> Filing | None: ...

    def write(self, filing: Filing) -> None: ...


def creation_key(repository: str, bucket: str) -> str:
    return f"create:{repository}:{bucket}"


def comment_key(repository: str, number: int, mark: str) -> str:
    """`mark` is the comment's first line, which names the change of state."""
    return f"comment:{repository}:{number}:{mark}"
