"""The ledger of what was written to the tracker: each state is committed before the next step is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tputriage.model import Filing, TrackedIssue
from tputriage.store.database import Store
from tputriage.store.rows import dump, load

_COLUMNS = "key, bucket_id, repository, state, number, floor, at_s"


class StoredLedger:
    """`issues.ledger.Ledger` on an open store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, key: str) -> Filing | None:
        """The last state that was committed under this key."""
        with self._store.transaction() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM filing WHERE key = ?", (key,)).fetchone()  # noqa: S608 -- ours
        return Filing(*row) if row else None

    def write(self, filing: Filing) -> None:
        """Committed, and on the disk, when this returns; raises StoreError where it cannot be."""
        values = (
            filing.key,
            filing.bucket,
            filing.repository,
            filing.state,
            filing.number,
            filing.floor,
            filing.at_s,
        )
        with self._store.transaction() as db:
            db.execute("INSERT OR REPLACE INTO filing VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def issues(self) -> dict[tuple[str, str], int]:
        """{(bucket id, repository): number} of the issues that were created or found."""
        with self._store.transaction() as db:
            rows = db.execute(
                "SELECT bucket_id, repository, number FROM filing"
                " WHERE key LIKE 'create:%' AND state = 'done' AND number IS NOT NULL"
            ).fetchall()
        return {(bucket, repository): int(number) for bucket, repository, number in rows}

    def saw(self, issues: Mapping[str, TrackedIssue], at_s: float) -> None:
        """Remember how the issue of each bucket stood; without its body, which the tracker keeps."""
        rows = [(bucket, dump(replace(issue, body="")), at_s) for bucket, issue in issues.items()]
        with self._store.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO tracked VALUES (?, ?, ?)", rows)

    def seen(self) -> dict[str, tuple[TrackedIssue, float]]:
        """{bucket id: (its issue as it was last seen, when in Unix time)}."""
        with self._store.transaction() as db:
            rows = db.execute("SELECT bucket_id, value, seen_s FROM tracked").fetchall()
        return {bucket: (load(value, TrackedIssue), seen_s) for bucket, value, seen_s in rows}
