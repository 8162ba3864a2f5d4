"""`tputriage show` and `explain`, and the views that other commands end with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import RenderableType

from tputriage.console import Done, plural, table, visible
from tputriage.dashboard import Board, Links, board_of, issue_in_words, issue_of
from tputriage.dashboard.numbers import day_of, state_of, versions_in_words
from tputriage.model import Bucket, Dossier, Repro, Run, Sighting, Verdict, VerdictKind
from tputriage.pipeline.lookup import find_bucket
from tputriage.pipeline.states import issue_states
from tputriage.signatures import Explanation, Neighbour, nearest
from tputriage.signatures import explain as explain_signature
from tputriage.store import open_store

TESTS_SHOWN = 20
LINES_SHOWN = 40  # of a test's own words
SIGHTINGS_SHOWN = 10


def show(*, item: str | None, store: Path, quiet: bool) -> Done:
    """The overview, or all that is known of one bucket or test."""
    with open_store(store, create=False) as opened:
        dossiers = opened.dossiers()
        if item is None:
            return _overview(dossiers, opened.reports(), Links(states=issue_states(opened)))
        dossier, test = find_bucket(opened, dossiers, item)
        links = Links(states=issue_states(opened))
    one_test = test if item != dossier.bucket.id else ""
    return Done(_json(dossier) | {"issue": issue_of(dossier, links)}, _parts(dossier, links, one_test))


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


def _overview(dossiers: Sequence[Dossier], reports: Sequence[Mapping[str, Any]], links: Links) -> Done:
    rows = [
        {
            "id": item.bucket.id,
            "title": item.bucket.title,
            "count": len(item.bucket.tests),
            "verdict": item.verdict.kind.value if item.verdict else VerdictKind.UNDECIDED.value,
            "repro": item.repro.status.value if item.repro else "",
            "issue": issue_of(item, links),
            "state": state_of(item, links),
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
                f"#{row['issue']} {row['state']}" if row["issue"] else "",
                str(row["title"]),
            )
            for row in rows
        ),
        right=("tests",),
    )
    board = board_of(dossiers, reports, links)
    counts = {name: getattr(board, name) for name in ("reported", "open", "fixed", "waiting")}
    runs = [
        {"suite": run.suite, "pass_rate": run.rate, "passed": run.passed, "failed": run.failed} for run in board.newest
    ]
    view: list[RenderableType] = [*_numbers(board)]
    view += ["", listing] if rows else ["no failure is stored"]
    return Done({"runs": runs, **counts, "buckets": rows}, tuple(view))


def _numbers(board: Board) -> list[str]:
    """The numbers that the page has on top: the last run of each suite, and what became of the bugs."""
    lines = []
    for run in board.newest:
        rate = run.percent if run.rate is None else f"{run.percent} pass"
        counts = f"{run.passed} passed, {run.failed} failed, {run.rest} skipped"
        lines += [f"{visible(run.suite)}: {rate}, {counts}" + (f"; {run.day} UTC" if run.day else "")]
    kinds = ", ".join(f"{row.buckets} {row.kind}" for row in board.verdicts)
    if not kinds:
        return lines
    became = f"{board.reported} reported, {board.open} open, {board.fixed} fixed; {board.waiting} to report"
    return [*lines, f"{plural(board.buckets, 'bucket')} of {plural(board.tests, 'failing test')}: {kinds}", became]


def _json(dossier: Dossier) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(dossier)
    return value


def _parts(dossier: Dossier, links: Links, test: str) -> tuple[RenderableType, ...]:
    """`test` is the one that was asked for; "" where the whole bucket was."""
    bucket = dossier.bucket
    parts: list[RenderableType] = [f"{bucket.id}  {visible(bucket.title)}", ""]
    parts += [_issue(dossier, links)]
    parts += [*_verdict(dossier.verdict), *_repro(dossier.repro)]
    if test:
        return (*parts, *_test(bucket, test))
    tests = [f"  {visible(name)}" for name in bucket.tests[:TESTS_SHOWN]]
    more = len(bucket.tests) - len(tests)
    parts += [plural(len(bucket.tests), "test"), *tests, *([f"  and {more} more"] if more > 0 else [])]
    return (*parts, *_history(dossier.history))


def _issue(dossier: Dossier, links: Links) -> str:
    number = issue_of(dossier, links)
    return f"issue #{number}: {issue_in_words(dossier, links)}" if number is not None else "no issue yet"


def _verdict(verdict: Verdict | None) -> list[RenderableType]:
    if verdict is None:
        return ["no verdict yet: nothing was rerun", ""]
    rate = ""
    if verdict.total:
        low, high = verdict.interval
        rate = f"; failure rate {verdict.failed} of {verdict.total} (95 % interval: {low:.0%} to {high:.0%})"
    parts: list[RenderableType] = [f"verdict {verdict.kind}: {visible(verdict.reason)}{rate}", *_runs(verdict.runs), ""]
    tried = (*verdict.matrix, *verdict.knobs.items())
    return [*parts, table("", ("setting", "outcome"), tried), ""] if tried else parts


def _repro(repro: Repro | None) -> list[RenderableType]:
    if repro is None:
        return ["no repro yet: `tputriage minimize` makes one", ""]
    if not repro.source:
        return [f"no repro: {visible(repro.reason)}", ""]
    size = f"{repro.level}, {plural(repro.lines, 'line')}"
    parts: list[RenderableType] = [f"repro {repro.status} ({size}): {repro.script}", "", repro.source]
    return [*parts, *([repro.condition, ""] if repro.condition else [])]


def _test(bucket: Bucket, test: str) -> list[RenderableType]:
    """What this test said, the end kept: that is where the error stands."""
    parts: list[RenderableType] = []
    for failure in (failure for failure in bucket.failures if failure.test_id == test):
        lines = (failure.text or f"{failure.exception}: {failure.message}").strip().splitlines()
        cut = [f"… {plural(len(lines) - LINES_SHOWN, 'line')} before"] if len(lines) > LINES_SHOWN else []
        parts += [f"{visible(test)}: {failure.outcome} in {failure.phase} after {failure.duration_s:.1f} s"]
        parts += ["", *(visible(line) for line in (*cut, *lines[-LINES_SHOWN:])), ""]
    return [*parts, f"and {plural(len(bucket.tests) - 1, 'other test')} of this bucket" if bucket.tests[1:] else ""]


def _history(seen: Sequence[Sighting]) -> list[RenderableType]:
    if not seen:
        return []
    rows = (
        (day_of(one.created_s), one.report.rpartition("/")[2], versions_in_words(one.versions), str(one.tests))
        for one in reversed(seen[-SIGHTINGS_SHOWN:])
    )
    first = f"first seen in {seen[0].place}, last in {seen[-1].place}"
    return ["", first, table("", ("seen", "in", "with", "tests"), rows, right=("tests",))]


def _runs(runs: Sequence[Run]) -> list[RenderableType]:
    """Runs that a person would repeat with the same words, and that ended alike, are one row."""
    if not runs:
        return []
    alike: dict[tuple[str, str, str], list[float]] = {}
    for run in (run for run in runs if not run.knobs):  # those with a setting are told as settings
        alike.setdefault((run.target, run.outcome.value, run.command), []).append(run.seconds)
    rows = (
        (target, outcome, str(len(seconds)), f"{max(seconds):.1f}", command)
        for (target, outcome, command), seconds in alike.items()
    )
    return [table("", ("target", "outcome", "runs", "longest s", "to repeat it"), rows, right=("runs", "longest s"))]
