"""`tputriage show` and `explain`, and the views that other commands end with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import RenderableType

from tputriage.console import Done, plural, table, visible
from tputriage.model import Dossier, Run, VerdictKind
from tputriage.pipeline.lookup import find_bucket
from tputriage.signatures import Explanation, Neighbour, nearest
from tputriage.signatures import explain as explain_signature
from tputriage.store import open_store

TESTS_SHOWN = 20


def show(*, item: str | None, store: Path, quiet: bool) -> Done:
    """The overview, or all that is known of one bucket or test."""
    with open_store(store, create=False) as opened:
        dossiers = opened.dossiers()
        if item is None:
            return _overview(dossiers)
        dossier, _ = find_bucket(opened, dossiers, item)
        return Done(_json(dossier), _parts(dossier))


def explain(*, item: str, store: Path, quiet: bool) -> Done:
    """The exact inputs of a bucket's signature, which rule changed what, and why it has its verdict."""
    with open_store(store, create=False) as opened:
        dossiers = opened.dossiers()
        dossier, test = find_bucket(opened, dossiers, item)
    failure = next(failure for failure in dossier.bucket.failures if failure.test_id == test)
    said = explain_signature(failure)
    neighbour = nearest(dossier.bucket, [other.bucket for other in dossiers])
    verdict = dossier.verdict
    data = {
        "bucket": dossier.bucket.id,
        "test_id": test,
        "family": said.family.name,
        "key": said.signature.key,
        "inputs": dict(said.inputs),
        "changes": [{"rule": change.rule, "before": change.before, "after": change.after} for change in said.changes],
        "nearest": neighbour and {"bucket": neighbour.bucket.id, "apart": [list(part) for part in neighbour.apart]},
        "verdict": verdict.kind.value if verdict else None,
        "reason": verdict.reason if verdict else "",
    }
    return Done(data, _explained(dossier, said, neighbour))


def _explained(dossier: Dossier, said: Explanation, neighbour: Neighbour | None) -> tuple[RenderableType, ...]:
    parts: list[RenderableType] = [f"{dossier.bucket.id}  {visible(dossier.bucket.title)}", ""]
    parts += [table("", ("signature of", "is"), said.inputs), ""]
    rules = ((change.rule, change.before, change.after) for change in said.changes)
    parts += [table("", ("rule", "before", "after"), rules) if said.changes else "no rule changed the message", ""]
    if neighbour is not None:
        parts += [f"nearest: {neighbour.bucket.id}  {visible(neighbour.bucket.title)}"]
        parts += [table("", ("kept apart by", "here", "there"), neighbour.apart), ""]
    if dossier.verdict is not None:
        parts += [f"verdict {dossier.verdict.kind}: {visible(dossier.verdict.reason)}"]
    return tuple(parts)


def _overview(dossiers: Sequence[Dossier]) -> Done:
    rows = [
        {
            "id": item.bucket.id,
            "title": item.bucket.title,
            "count": len(item.bucket.tests),
            "verdict": item.verdict.kind.value if item.verdict else VerdictKind.UNDECIDED.value,
            "repro": item.repro.status.value if item.repro else "",
            "issue": item.issue,
        }
        for item in dossiers
    ]
    listing = table(
        "",
        ("bucket", "tests", "verdict", "repro", "issue", "what happens"),
        (
            (
                str(row["id"]),
                str(row["count"]),
                str(row["verdict"]),
                str(row["repro"]),
                f"#{row['issue']}" if row["issue"] else "",
                str(row["title"]),
            )
            for row in rows
        ),
        right=("tests",),
    )
    return Done({"buckets": rows}, (listing if rows else "no failure is stored",))


def _json(dossier: Dossier) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(dossier)
    return value


def _parts(dossier: Dossier) -> tuple[RenderableType, ...]:
    bucket, verdict, repro = dossier.bucket, dossier.verdict, dossier.repro
    parts: list[RenderableType] = [f"{bucket.id}  {visible(bucket.title)}", ""]
    if verdict is not None:
        parts += [f"verdict {verdict.kind}: {visible(verdict.reason)}", *_runs(verdict.runs), ""]
        parts += [table("", ("setting", "outcome"), verdict.matrix), ""] if verdict.matrix else []
    if repro is not None and not repro.source:
        parts += [f"no repro: {visible(repro.reason)}", ""]
    elif repro is not None:
        parts += [
            f"repro {repro.status} ({repro.level}, {plural(repro.lines, 'line')}): {repro.script}",
            "",
            repro.source,
        ]
        parts += [repro.condition, ""] if repro.condition else []
    tests = [f"  {visible(test)}" for test in bucket.tests[:TESTS_SHOWN]]
    more = len(bucket.tests) - len(tests)
    parts += [plural(len(bucket.tests), "test"), *tests, *([f"  and {more} more"] if more > 0 else [])]
    if dossier.history:
        first, last = dossier.history[0], dossier.history[-1]
        parts += ["", f"first seen in {first.place}, last in {last.place}"]
    return tuple(parts)


def _runs(runs: Sequence[Run]) -> list[RenderableType]:
    """Runs that a person would repeat with the same words, and that ended alike, are one row."""
    if not runs:
        return []
    alike: dict[tuple[str, str, str], list[float]] = {}
    for run in runs:
        alike.setdefault((run.target, run.outcome.value, run.command), []).append(run.seconds)
    rows = (
        (target, outcome, str(len(seconds)), f"{max(seconds):.1f}", command)
        for (target, outcome, command), seconds in alike.items()
    )
    return [table("", ("target", "outcome", "runs", "longest s", "to repeat it"), rows, right=("runs", "longest s"))]
