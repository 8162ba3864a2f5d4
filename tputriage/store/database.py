"""Reading and writing the database: reports, buckets, verdicts and repros as the values of model.py."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tputriage.errors import InputError, StoreError
from tputriage.model import Bucket, Dossier, Failure, Outcome, Report, Repro, Sighting, Signature, Verdict
from tputriage.store.schema import MIGRATIONS, migrate, version_of

Value = TypeVar("Value")


def open_store(folder: Path, *, create: bool = True) -> Store:
    """The store in `folder`; raises StoreError where it is missing (`create=False`), damaged, or cannot be written."""
    path = folder / "store.db"
    if not create and not path.is_file():
        raise StoreError(
            f"there is no store in {folder}: run `tputriage collect report.json` first, or name one with --store"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return Store(folder, _connect(path))
    except OSError as exc:
        raise StoreError(
            f"the store {folder} cannot be used: {exc.strerror or exc}; name another with --store"
        ) from exc
    except sqlite3.Error as exc:
        raise StoreError(f"the store {path} cannot be opened: {exc}; name another with --store") from exc


def _connect(path: Path) -> sqlite3.Connection:
    for place in (path.parent, path):
        if place.exists() and not _may_write(place):
            raise StoreError(f"the store {place} is read-only: make it writable or name another with --store")
    connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if version_of(connection) > len(MIGRATIONS):
        raise StoreError(
            f"the store {path} was written by a newer tputriage: upgrade tputriage, or name another store with --store"
        )
    migrate(connection)
    return connection


def _may_write(place: Path) -> bool:
    """Root may write anywhere, but a store that somebody took the write bits from is meant to stay as it is."""
    return os.access(place, os.W_OK) and bool(place.stat().st_mode & 0o222)


class Store:
    """An open store; a context manager. Methods raise StoreError where the disk or the database refuses."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._db = connection

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; what ledger.py and the methods below write through."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as exc:
            raise StoreError(
                f"the store {self.folder} refused a write: {exc}; free the disk or name another with --store"
            ) from exc

    # -- writing ---------------------------------------------------------------------------------------

    def add_report(self, report: Report, suite: str, buckets: Sequence[Bucket]) -> bool:
        """Store a report with the buckets of its failures; False where these bytes are stored already."""
        with self.transaction() as db:
            if db.execute("SELECT 1 FROM report WHERE digest = ?", (report.digest,)).fetchone():
                return False
            number = _insert_report(db, report, suite)
            for bucket in buckets:
                _insert_bucket(db, bucket)
                _insert_failures(db, number, bucket.id, bucket.failures)
        return True

    def save_bucket(self, bucket: Bucket, *, moved: Iterable[Failure] = ()) -> None:
        """Store a bucket that a later step made or renamed, and move the failures of `moved`'s tests into it."""
        with self.transaction() as db:
            _insert_bucket(db, bucket)
            db.executemany(
                "UPDATE failure SET bucket_id = ? WHERE test_id = ? AND json_extract(value, '$.phase') = ?",
                [(bucket.id, failure.test_id, failure.phase.value) for failure in moved],
            )

    def save_verdict(self, bucket_id: str, verdict: Verdict) -> None:
        self._put("verdict", bucket_id, verdict)

    def save_repro(self, repro: Repro) -> None:
        self._put("repro", repro.bucket, repro)

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
                (bucket_id, _dump(value), time.time()),
            )

    # -- reading ---------------------------------------------------------------------------------------

    def known_keys(self) -> dict[str, str]:
        """{signature key: bucket id}, the aliases included."""
        return dict(self._rows("SELECT key, bucket_id FROM alias"))

    def has_report(self, digest: str) -> bool:
        return bool(self._rows("SELECT 1 FROM report WHERE digest = ?", (digest,)))

    def last_collected(self, suite: str) -> int | None:
        """How many tests the last run of this suite collected, in the order of the runs; None before the first."""
        rows = self._rows(
            "SELECT collected FROM report WHERE suite = ? AND suite != '' ORDER BY created_s DESC LIMIT 1",
            (suite,),
        )
        return int(rows[0][0]) if rows else None

    def reports(self) -> list[dict[str, Any]]:
        """{id, source, root, suite, created_s, collected, versions, outcomes, notes} of each, oldest run first."""
        names = ("id", "source", "root", "suite", "created_s", "collected", "versions", "outcomes", "notes")
        rows = self._rows(f"SELECT {', '.join(names)} FROM report ORDER BY created_s, id")  # noqa: S608 -- our names
        decoded = ("versions", "outcomes", "notes")
        return [
            {
                name: msgspec.json.decode(value) if name in decoded else value
                for name, value in zip(names, row, strict=True)
            }
            for row in rows
        ]

    def tests_in_order(self, report_id: int) -> tuple[str, ...]:
        """The node ids of a report in the order they ran."""
        rows = self._rows("SELECT test_id FROM outcome WHERE report_id = ? ORDER BY position", (report_id,))
        return tuple(row[0] for row in rows)

    def outcome_of(self, test_id: str) -> Outcome | None:
        """How a test ended in the newest report that has it; None where no report does."""
        rows = self._rows(
            "SELECT outcome FROM outcome JOIN report ON report.id = report_id WHERE test_id = ?"
            " ORDER BY created_s DESC LIMIT 1",
            (test_id,),
        )
        return Outcome(rows[0][0]) if rows else None

    def root_of(self, test_id: str) -> str:
        """The rootdir of the newest report in which the test failed; "" where it never did."""
        rows = self._rows(
            "SELECT root FROM failure JOIN report ON report.id = report_id WHERE test_id = ?"
            " ORDER BY report.created_s DESC LIMIT 1",
            (test_id,),
        )
        return str(rows[0][0]) if rows else ""

    def dossiers(self) -> tuple[Dossier, ...]:
        """Everything known, the bucket with the most tests first."""
        rows = self._rows("SELECT id FROM bucket")
        found = [self.dossier(row[0]) for row in rows]
        return tuple(sorted(found, key=lambda item: (-len(item.bucket.tests), item.bucket.id)))

    def dossier(self, bucket_id: str) -> Dossier:
        """All that is known of one bucket; raises InputError where there is none of that id."""
        return Dossier(
            bucket=self._bucket(bucket_id),
            verdict=self._get("verdict", bucket_id, Verdict),
            repro=self._get("repro", bucket_id, Repro),
            history=self._history(bucket_id),
        )

    def _bucket(self, bucket_id: str) -> Bucket:
        rows = self._rows("SELECT title, signature FROM bucket WHERE id = ?", (bucket_id,))
        if not rows:
            raise InputError(f"no bucket {bucket_id}: `tputriage show` lists them")
        failures = self._rows("SELECT value FROM failure WHERE bucket_id = ? ORDER BY id", (bucket_id,))
        aliases = self._rows("SELECT key FROM alias WHERE bucket_id = ? ORDER BY rowid", (bucket_id,))
        return Bucket(
            id=bucket_id,
            signature=_load(rows[0][1], Signature),
            title=rows[0][0],
            failures=tuple(_load(row[0], Failure) for row in failures),
            aliases=tuple(row[0] for row in aliases),
        )

    def _history(self, bucket_id: str) -> tuple[Sighting, ...]:
        rows = self._rows(
            "SELECT source, created_s, versions, count(DISTINCT test_id) FROM failure"
            " JOIN report ON report.id = report_id WHERE bucket_id = ? GROUP BY report.id ORDER BY created_s",
            (bucket_id,),
        )
        return tuple(Sighting(row[0], row[1], msgspec.json.decode(row[2]), row[3]) for row in rows)

    def _get(self, table: str, bucket_id: str, kind: type[Value]) -> Value | None:
        rows = self._rows(f"SELECT value FROM {table} WHERE bucket_id = ?", (bucket_id,))  # noqa: S608 -- ours
        return _load(rows[0][0], kind) if rows else None

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            with closing(self._db.execute(query, tuple(values))) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as exc:
            raise StoreError(f"the store {self.folder} cannot be read: {exc}; name another with --store") from exc


def _insert_report(db: sqlite3.Connection, report: Report, suite: str) -> int:
    cursor = db.execute(
        "INSERT INTO report (digest, source, root, suite, created_s, collected, versions, outcomes, notes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            report.digest,
            report.source,
            report.root,
            suite,
            report.created_s,
            report.collected,
            *map(_dump, (report.versions, report.outcomes, report.notes)),
        ),
    )
    number = int(cursor.lastrowid or 0)
    db.executemany(
        "INSERT INTO outcome VALUES (?, ?, ?, ?)",
        ((number, place, test_id, outcome.value) for place, (test_id, outcome) in enumerate(report.tests.items())),
    )
    return number


def _insert_bucket(db: sqlite3.Connection, bucket: Bucket) -> None:
    db.execute(
        "INSERT INTO bucket VALUES (?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET title = excluded.title, signature = excluded.signature",
        (bucket.id, _text(bucket.title), _dump(bucket.signature), time.time()),
    )
    keys = dict.fromkeys((bucket.signature.key, *bucket.aliases))
    db.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?)", [(key, bucket.id) for key in keys if key])


def _insert_failures(db: sqlite3.Connection, report: int, bucket: str, failures: Iterable[Failure]) -> None:
    db.executemany(
        "INSERT INTO failure (report_id, bucket_id, test_id, value) VALUES (?, ?, ?, ?)",
        ((report, bucket, _text(failure.test_id), _dump(failure)) for failure in failures),
    )


def _dump(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate out of a test's output: no valid text, and SQLite refuses it
        return _text(json.dumps(msgspec.to_builtins(value), ensure_ascii=False))


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _load(text: str, kind: type[Value]) -> Value:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError as exc:
        raise StoreError(
            f"the store holds a damaged {kind.__name__}: {exc}; collect the reports into a new one"
        ) from exc
