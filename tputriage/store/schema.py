"""The database's shape: ordered migrations, each applied once in a transaction with the record that it was.

Never edit a migration that has shipped; append one. Values are kept as JSON of the types in model.py beside
the few columns that are looked up, so a new field with a default needs no migration at all.
"""

from __future__ import annotations

import sqlite3

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE report (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        source TEXT NOT NULL,
        root TEXT NOT NULL,
        suite TEXT NOT NULL,
        created_s REAL NOT NULL,
        collected INTEGER NOT NULL,
        versions TEXT NOT NULL,
        outcomes TEXT NOT NULL,
        notes TEXT NOT NULL
    );
    CREATE TABLE outcome (
        report_id INTEGER NOT NULL REFERENCES report(id),
        position INTEGER NOT NULL,
        test_id TEXT NOT NULL,
        outcome TEXT NOT NULL,
        PRIMARY KEY (report_id, position)
    ) WITHOUT ROWID;
    CREATE TABLE bucket (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        signature TEXT NOT NULL,
        created_s REAL NOT NULL
    );
    CREATE TABLE alias (
        key TEXT PRIMARY KEY,
        bucket_id TEXT NOT NULL REFERENCES bucket(id)
    );
    CREATE TABLE failure (
        id INTEGER PRIMARY KEY,
        report_id INTEGER NOT NULL REFERENCES report(id),
        bucket_id TEXT NOT NULL REFERENCES bucket(id),
        test_id TEXT NOT NULL,
        value TEXT NOT NULL
    );
    CREATE INDEX failure_bucket ON failure(bucket_id);
    CREATE INDEX failure_test ON failure(test_id);
    CREATE TABLE verdict (
        bucket_id TEXT PRIMARY KEY REFERENCES bucket(id),
        value TEXT NOT NULL,
        stored_s REAL NOT NULL
    );
    CREATE TABLE repro (
        bucket_id TEXT PRIMARY KEY REFERENCES bucket(id),
        value TEXT NOT NULL,
        stored_s REAL NOT NULL
    );
    """,
    """
    CREATE TABLE filing (
        key TEXT PRIMARY KEY,
        bucket_id TEXT NOT NULL,
        repository TEXT NOT NULL,
        state TEXT NOT NULL,
        number INTEGER,
        floor INTEGER NOT NULL,
        at_s REAL NOT NULL
    );
    CREATE INDEX filing_bucket ON filing(bucket_id);
    """,
    """
    CREATE TABLE verification (
        id INTEGER PRIMARY KEY,
        bucket_id TEXT NOT NULL REFERENCES bucket(id),
        value TEXT NOT NULL,
        stored_s REAL NOT NULL
    );
    CREATE INDEX verification_bucket ON verification(bucket_id);
    """,
    """
    CREATE TABLE tracked (
        bucket_id TEXT PRIMARY KEY,
        value TEXT NOT NULL,
        seen_s REAL NOT NULL
    );
    """,
)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the database to the newest shape; a database newer than this program is refused by the caller."""
    for number, script in enumerate(MIGRATIONS[version_of(connection) :], version_of(connection) + 1):
        # executescript commits first, so the transaction is part of the script.
        connection.executescript(f"BEGIN IMMEDIATE;{script};PRAGMA user_version = {number};COMMIT;")


def version_of(connection: sqlite3.Connection) -> int:
    """How many migrations the database has had."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
