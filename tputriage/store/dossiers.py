"""Dossiers out of the tables: one query a table, however many buckets, as thousands of small ones take seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tputriage.model import Bucket, Dossier, Failure, Repro, Run, Sighting, Signature, Verdict
from tputriage.ordering import order_key
from tputriage.store.rows import load

Query = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
Value = TypeVar("Value")


def read_buckets(query: Query, bucket_id: str = "", *, failures: bool = True) -> list[Bucket]:
    """Every bucket, or the one of that id; without `failures` they hold none, which is quick."""
    texts = _grouped(query, "SELECT bucket_id, value FROM failure {} ORDER BY id", bucket_id) if failures else {}
    aliases = _grouped(query, "SELECT bucket_id, key FROM alias {} ORDER BY rowid", bucket_id)
    return [
        Bucket(
            id=found,
            signature=load(signature, Signature),
            title=title,
            failures=tuple(load(row[0], Failure) for row in texts.get(found, ())),
            aliases=tuple(row[0] for row in aliases.get(found, ())),
        )
        for found, title, signature in _rows(
            query, "SELECT bucket_id, title, signature FROM (SELECT id AS bucket_id, * FROM bucket) {}", bucket_id
        )
    ]


def read_dossiers(query: Query, bucket_id: str = "") -> list[Dossier]:
    """All that is known of every bucket, or of the one of that id."""
    verdicts = _values(query, "SELECT bucket_id, value FROM verdict {}", bucket_id, Verdict)
    repros = _values(query, "SELECT bucket_id, value FROM repro {}", bucket_id, Repro)
    history = _grouped(query, _HISTORY, bucket_id)
    issues = _grouped(query, _ISSUES, bucket_id)
    runs = _grouped(query, "SELECT bucket_id, value, stored_s FROM verification {} ORDER BY id", bucket_id)
    return [
        Dossier(
            bucket=bucket,
            verdict=verdicts.get(bucket.id),
            repro=repros.get(bucket.id),
            history=_history(history.get(bucket.id, ())),
            issue=int(issues[bucket.id][-1][0]) if bucket.id in issues else None,
            fixed_in=_fixed_in(runs.get(bucket.id, ())),
            verifications=tuple(load(row[0], Run) for row in runs.get(bucket.id, ())),
        )
        for bucket in read_buckets(query, bucket_id)
    ]


_HISTORY = (
    "SELECT bucket_id, source, created_s, versions, count(DISTINCT test_id) FROM failure"
    " JOIN report ON report.id = report_id {} GROUP BY bucket_id, report.id"
)
_ISSUES = (
    "SELECT bucket_id, number FROM (SELECT * FROM filing WHERE key LIKE 'create:%' AND number IS NOT NULL) {}"
    " ORDER BY at_s"
)


def _history(rows: Iterable[tuple[Any, ...]]) -> tuple[Sighting, ...]:
    seen = [Sighting(source, created_s, load(versions, dict), tests) for source, created_s, versions, tests in rows]
    return tuple(sorted(seen, key=lambda sighting: order_key(sighting.versions, sighting.created_s)))


def _fixed_in(rows: Sequence[tuple[Any, ...]]) -> str:
    """The torch_tpu version of the last verification, if all its runs passed."""
    last = [load(value, Run) for value, stored_s in rows if stored_s == max(row[1] for row in rows)]
    passed = bool(last) and all(run.outcome.is_pass for run in last)
    return last[-1].versions.get("torch_tpu", "") if passed else ""


def _values(query: Query, sql: str, bucket_id: str, kind: type[Value]) -> dict[str, Value]:
    return {bucket: load(value, kind) for bucket, value in _rows(query, sql, bucket_id)}


def _grouped(query: Query, sql: str, bucket_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """{bucket id: the rest of each of its rows}, in the order of the rows."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for bucket, *rest in _rows(query, sql, bucket_id):
        found.setdefault(bucket, []).append(tuple(rest))
    return found


def _rows(query: Query, sql: str, bucket_id: str) -> list[tuple[Any, ...]]:
    """`sql` has a place for what narrows it to one bucket."""
    return query(sql.format("WHERE bucket_id = ?"), (bucket_id,)) if bucket_id else query(sql.format(""), ())
