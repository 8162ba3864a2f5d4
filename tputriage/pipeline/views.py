"""What `collect` and `minimize` end with, for machines and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import RenderableType

from tputriage.collect import Collected
from tputriage.console import Done, plural, table
from tputriage.model import Repro, ReproStatus, Verdict


def collected_view(found: Collected, verdicts: Mapping[str, Verdict]) -> Done:
    """What `collect` answers: the numbers, then the buckets, the largest first."""
    rows = [
        {
            "id": bucket.id,
            "title": bucket.title,
            "count": len(bucket.failures),
            "verdict": verdicts[bucket.id].kind.value,
            "reason": verdicts[bucket.id].reason,
            "tests": list(bucket.tests),
            "representative": bucket.representative,
        }
        for bucket in found.buckets
    ]
    data = {
        "tests": found.total,
        "outcomes": dict(found.outcomes),
        "pass_rate": found.pass_rate,
        "buckets": rows,
        "notes": list(found.notes),
    }
    listing = table(
        "",
        ("bucket", "failures", "verdict", "what happens"),
        ((str(row["id"]), str(row["count"]), str(row["verdict"]), str(row["title"])) for row in rows),
        right=("failures",),
    )
    view = (_numbers(found), "", listing) if rows else (_numbers(found),)
    return Done(data, view, notes=found.notes)


def _numbers(found: Collected) -> str:
    if not found.total:
        return "no test ran: look at what pytest said, a run that finds no tests is not a green one"
    counts = ", ".join(f"{count} {name}" for name, count in found.outcomes.items())
    rate = "" if found.pass_rate is None else f"; {found.pass_rate:.1%} of those that ran to an end pass"
    return f"{plural(found.total, 'test')}: {counts}{rate}"


def minimized_view(repros: Sequence[Repro], notes: Sequence[str] = ()) -> Done:
    """What `minimize` answers: each repro's script and what its verification said."""
    rows = [_repro_row(repro) for repro in repros]
    failed = any(repro.status is not ReproStatus.VERIFIED for repro in repros)
    view: list[RenderableType] = []
    for repro in repros:
        view += ["", _verification(repro), *(["", repro.source.rstrip()] if repro.source else [])]
    return Done(
        {"repros": rows, "notes": list(notes)},
        tuple(view[1:]) or ("nothing to minimize: no bucket fails on the target only",),
        code=int(failed),
        notes=tuple(notes),
    )


def _repro_row(repro: Repro) -> dict[str, object]:
    return {
        "test_id": repro.test_id,
        "bucket": repro.bucket,
        "status": repro.status.value,
        "script": repro.script,
        "level": repro.level.value,
        "lines": repro.lines,
        "tokens": repro.tokens,
        "oracle_runs": repro.oracle_runs,
        "seconds": repro.seconds,
        "targets": dict(repro.targets),
        "imports": list(repro.imports),
        "operator": repro.operator,
        "condition": repro.condition,
        "reliability": list(repro.reliability),
        "reason": repro.reason,
    }


def _verification(repro: Repro) -> str:
    if repro.status is ReproStatus.NOT_REPRODUCED:
        return f"{repro.bucket}: no repro after {plural(repro.oracle_runs, 'run')}: {repro.reason}"
    failed, total = repro.reliability
    targets = ", ".join(f"{word} on {name}" for name, word in repro.targets.items())
    runs = f"{plural(repro.oracle_runs, 'run')} in {repro.seconds:g} s"
    size = f"{plural(repro.lines, 'line')} of code, {repro.level} level, {runs}"
    why = f": {repro.reason}" if repro.status is ReproStatus.UNVERIFIED else ""
    return (
        f"{repro.bucket}: {repro.status}{why}; {targets} ({failed} of {total} fresh processes); {size}\n{repro.script}"
    )
