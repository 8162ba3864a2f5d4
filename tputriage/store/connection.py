"""Opening the database, and waiting for another process that is writing it."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tputriage.console import notice
from tputriage.errors import StoreError
from tputriage.store.schema import MIGRATIONS, migrate, version_of

Value = TypeVar("Value")
PATIENCE_S = 30.0  # with another process that writes
ATTEMPT_S = 1.0  # then it is told


def connect(path: Path) -> sqlite3.Connection:
    """The database in its newest shape; raises StoreError where it is read-only or of a newer tputriage."""
    for place in (path.parent, path):
        if place.exists() and not _may_write(place):
            raise StoreError(f"the store {place} is read-only: make it writable or name another with --store")
    connection = sqlite3.connect(path, timeout=ATTEMPT_S, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    # A number that GitHub gave must be on the disk before the next step, power cut or not.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    if version_of(connection) > len(MIGRATIONS):
        raise StoreError(
            f"the store {path} was written by a newer tputriage: upgrade tputriage, or name another store with --store"
        )
    migrate(connection)
    return connection


def when_free(folder: Path, patience_s: float, work: Callable[[], Value]) -> Value:
    """What `work` gives; where another process is writing, it is told after a second and waited for, with an end."""
    ends, told = time.monotonic() + patience_s, False
    while True:
        try:
            return work()
        except sqlite3.OperationalError as exc:
            if getattr(exc, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= ends:
                raise
        if not told:
            told = True
            notice(f"waiting for another tputriage, which is writing {folder}")


def _may_write(place: Path) -> bool:
    """Root may write anywhere, but a store that somebody took the write bits from is meant to stay as it is."""
    return os.access(place, os.W_OK) and bool(place.stat().st_mode & 0o222)
