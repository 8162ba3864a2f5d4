"""Reading and writing the database: reports, buckets, verdicts and repros as the values of model.py."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from tputriage.errors import InputError, StoreError
from tputriage.model import Bucket, Dossier, Failure, Outcome, Report, Repro, Run, Verdict
from tputriage.ordering import order_key
from tputriage.store.connection import PATIENCE_S, connect, when_free
from tputriage.store.dossiers import read_buckets, read_dossiers
from tputriage.store.rows import dump, insert_bucket, insert_failures, insert_report, load, text

Value = TypeVar("Value")
COUNTERFACTUAL = "counterfactual"  # the suite of what no report tells of: failures seen behind another one


def open_store(folder: Path, *, create: bool = True, patience_s: float = PATIENCE_S) -> Store:
    """The store in `folder`; raises StoreError where it is missing (`create=False`), damaged, or cannot be written.

    `patience_s` is for another process that is writing it.
    """
    path = folder / "store.db"
    if not create and not os.path.isfile(path):
        raise StoreError(
            f"there is no store in {folder}: run `tputriage collect report.json` first, or name one with --store"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return Store(folder, when_free(folder, patience_s, lambda: connect(path)), patience_s)
    except OSError as exc:
        raise StoreError(
            f"the store {folder} cannot be used: {exc.strerror or exc}; name another with --store"
        ) from exc
    except sqlite3.Error as exc:
        raise StoreError(f"the store {path} cannot be opened: {exc}; name another with --store") from exc


class Store:
    """An open store; a context manager. Methods raise StoreError where the disk or the database refuses."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, patience_s: float = PATIENCE_S) -> None:
        self.folder = folder
        self._patience_s = patience_s
        self._db = connection

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; what ledger.py and the methods below write through."""
        try:
            when_free(self.folder, self._patience_s, lambda: self._db.execute("BEGIN IMMEDIATE"))
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as exc:
            cure = "free the disk or name another with --store"
            if getattr(exc, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                cure = "another tputriage is writing it, try again when that is done"
            raise StoreError(f"the store {self.folder} refused a write: {exc}; {cure}") from exc

    # -- writing ---------------------------------------------------------------------------------------

    def add_report(self, report: Report, suite: str, buckets: Sequence[Bucket]) -> bool:
        """Store a report with the buckets of its failures; False where these bytes are stored already."""
        with self.transaction() as db:
            if db.execute("SELECT 1 FROM report WHERE digest = ?", (report.digest,)).fetchone():
                return False
            number = insert_report(db, report, suite)
            for bucket in buckets:
                insert_bucket(db, bucket, renamed=False)
                insert_failures(db, number, bucket.id, bucket.failures)
        return True

    def save_bucket(self, bucket: Bucket) -> None:
        """Store a bucket as a later step left it; failures that were in another one move, as they now are.

        What a test stops at behind its first failure is another failure of that test, and stays.
        """
        with self.transaction() as db:
            insert_bucket(db, bucket, renamed=True)
            db.executemany(
                "UPDATE failure SET bucket_id = ?1, value = ?2"
                " WHERE test_id = ?3 AND json_extract(value, '$.phase') = ?4 AND bucket_id != ?1"
                " AND report_id NOT IN (SELECT id FROM report WHERE suite = ?5)",
                [
                    (bucket.id, dump(item), text(item.test_id), item.phase.value, COUNTERFACTUAL)
                    for item in bucket.failures
                ],
            )

    def save_verdict(self, bucket_id: str, verdict: Verdict) -> None:
        self._put("verdict", bucket_id, verdict)

    def save_repro(self, repro: Repro) -> None:
        self._put("repro", repro.bucket, repro)

    def add_verifications(self, bucket_id: str, runs: Sequence[Run]) -> None:
        """Store what `verify` saw of a bucket's repro, all of it at one time."""
        at_s = time.time()  # one moment for all: it is what makes them one verification
        with self.transaction() as db:
            values = [(bucket_id, dump(run), at_s) for run in runs]
            db.executemany("INSERT INTO verification (bucket_id, value, stored_s) VALUES (?, ?, ?)", values)

    def write_script(self, name: str, source: str) -> Path:
        """Put a script into the store's folder, replaced as a whole or not at all."""
        path = self.folder / "repros" / name
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(source, "utf-8")
            draft.replace(path)
        except OSError as exc:
            raise StoreError(f"{path} cannot be written: {exc.strerror or exc}") from exc
        return path

    def _put(self, table: str, bucket_id: str, value: object) -> None:
        with self.transaction() as db:
            db.execute(
                f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)",  # noqa: S608 -- a table name of ours
                (bucket_id, dump(value), time.time()),
            )

    # -- reading ---------------------------------------------------------------------------------------

    def known_keys(self) -> dict[str, str]:
        """{signature key: bucket id}, the aliases included."""
        return dict(self._rows("SELECT key, bucket_id FROM alias"))

    def has_report(self, digest: str) -> bool:
        return bool(self._rows("SELECT 1 FROM report WHERE digest = ?", (digest,)))

    def last_collected(self, suite: str) -> int | None:
        """How many tests the newest run of this suite collected; None before the first."""
        own = [row for row in self.reports() if suite and row["suite"] == suite]
        return int(own[-1]["collected"]) if own else None

    def reports(self) -> list[dict[str, Any]]:
        """{id, source, root, suite, created_s, collected, versions, outcomes, notes} of each, oldest version first."""
        names = ("id", "source", "root", "suite", "created_s", "collected", "versions", "outcomes", "notes")
        rows = self._rows(f"SELECT {', '.join(names)} FROM report ORDER BY id")  # noqa: S608 -- our names
        decoded: dict[str, type] = {"versions": dict, "outcomes": dict, "notes": list}
        found = [
            {
                name: load(value, decoded[name]) if name in decoded else value
                for name, value in zip(names, row, strict=True)
            }
            for row in rows
        ]
        return sorted(found, key=lambda report: order_key(report["versions"], report["created_s"]))

    def outcome_of(self, test_id: str) -> Outcome | None:
        """How a test ended in the newest report that has it; None where no report does."""
        rows = self._rows(
            "SELECT outcome FROM outcome JOIN report ON report.id = report_id WHERE test_id = ?"
            " ORDER BY created_s DESC LIMIT 1",
            (test_id,),
        )
        return Outcome(rows[0][0]) if rows else None

    def outcomes(self, report_id: int) -> dict[str, Outcome]:
        """{node id: how it ended} of a report, in the order they ran."""
        rows = self._rows("SELECT test_id, outcome FROM outcome WHERE report_id = ? ORDER BY position", (report_id,))
        return {test_id: Outcome(outcome) for test_id, outcome in rows}

    def root_of(self, test_id: str) -> str:
        """The rootdir of the newest report in which the test failed; "" where it never did."""
        rows = self._rows(
            "SELECT root FROM failure JOIN report ON report.id = report_id WHERE test_id = ?"
            " ORDER BY report.created_s DESC LIMIT 1",
            (test_id,),
        )
        return str(rows[0][0]) if rows else ""

    def dossiers(self) -> tuple[Dossier, ...]:
        """Everything known, the bucket with the most tests first; not those whose failures all moved elsewhere."""
        found = [dossier for dossier in read_dossiers(self._rows) if dossier.bucket.failures]
        return tuple(sorted(found, key=lambda item: (-len(item.bucket.tests), item.bucket.id)))

    def buckets_of(self, digests: Sequence[str]) -> tuple[Bucket, ...]:
        """The buckets that failures of these reports are in now, with those failures alone, the largest first."""
        marks = ", ".join("?" * len(digests))
        rows = self._rows(
            "SELECT bucket_id, value FROM failure JOIN report ON report.id = report_id"  # noqa: S608 -- only marks
            f" WHERE digest IN ({marks}) ORDER BY failure.id",
            digests,
        )
        own: dict[str, list[Failure]] = {}
        for bucket_id, value in rows:
            own.setdefault(bucket_id, []).append(load(value, Failure))
        bare = {bucket.id: bucket for bucket in read_buckets(self._rows, failures=False)}
        found = [replace(bare[bucket_id], failures=tuple(failures)) for bucket_id, failures in own.items()]
        return tuple(sorted(found, key=lambda bucket: (-len(bucket.failures), bucket.id)))

    def verdict_of(self, bucket_id: str) -> Verdict | None:
        """The verdict alone: a dossier reads every failure of its bucket."""
        return self._get("verdict", bucket_id, Verdict)

    def dossier(self, bucket_id: str) -> Dossier:
        """All that is known of one bucket; raises InputError where there is none of that id."""
        found = read_dossiers(self._rows, bucket_id) if bucket_id else []
        if not found:
            raise InputError(f"no bucket {bucket_id}: `tputriage show` lists them")
        return found[0]

    def _get(self, table: str, bucket_id: str, kind: type[Value]) -> Value | None:
        rows = self._rows(f"SELECT value FROM {table} WHERE bucket_id = ?", (bucket_id,))  # noqa: S608 -- ours
        return load(rows[0][0], kind) if rows else None

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            # As it was stored: an argument of the command line may hold bytes that are no text.
            asked = tuple(text(value) if isinstance(value, str) else value for value in values)
            with closing(self._db.execute(query, asked)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as exc:
            raise StoreError(f"the store {self.folder} cannot be read: {exc}; name another with --store") from exc
