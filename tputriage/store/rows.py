"""Values as rows: what is written in columns, and what as JSON."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from tputriage.errors import StoreError
from tputriage.model import Bucket, Failure, Report

Value = TypeVar("Value")


def insert_report(db: sqlite3.Connection, report: Report, suite: str) -> int:
    cursor = db.execute(
        "INSERT INTO report (digest, source, root, suite, created_s, collected, versions, outcomes, notes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            report.digest,
            *map(text, (report.source, report.root, suite)),
            report.created_s,
            report.collected,
            *map(dump, (report.versions, report.outcomes, report.notes)),
        ),
    )
    number = int(cursor.lastrowid or 0)
    db.executemany(
        "INSERT INTO outcome VALUES (?, ?, ?, ?)",
        (
            (number, place, text(test_id), outcome.value)
            for place, (test_id, outcome) in enumerate(report.tests.items())
        ),
    )
    return number


def insert_bucket(db: sqlite3.Connection, bucket: Bucket, *, renamed: bool) -> None:
    """`renamed` takes the bucket's words as they are now; else what a later step found stays, unless rules changed."""
    db.execute(
        "INSERT INTO bucket VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT (id) DO UPDATE SET title = excluded.title, signature = excluded.signature WHERE ?5 OR"
        " json_extract(excluded.signature, '$.version') > json_extract(bucket.signature, '$.version')",
        (bucket.id, text(bucket.title), dump(bucket.signature), time.time(), renamed),
    )
    keys = dict.fromkeys((bucket.signature.key, *bucket.aliases))
    # Keys of a bucket that was joined to this one lead here from now on.
    clash = "UPDATE SET bucket_id = excluded.bucket_id" if renamed else "NOTHING"
    query = f"INSERT INTO alias VALUES (?, ?) ON CONFLICT (key) DO {clash}"  # noqa: S608 -- our own words
    db.executemany(query, [(key, bucket.id) for key in keys if key])


def insert_failures(db: sqlite3.Connection, report: int, bucket: str, failures: Iterable[Failure]) -> None:
    db.executemany(
        "INSERT INTO failure (report_id, bucket_id, test_id, value) VALUES (?, ?, ?, ?)",
        ((report, bucket, text(failure.test_id), dump(failure)) for failure in failures),
    )


def dump(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate out of a test's output: no valid text, and SQLite refuses it
        return text(json.dumps(msgspec.to_builtins(value), ensure_ascii=False))


def text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def load(text: str, kind: type[Value]) -> Value:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError as exc:
        raise StoreError(
            f"the store holds a damaged {kind.__name__}: {exc}; collect the reports into a new one"
        ) from exc
