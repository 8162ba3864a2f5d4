"""`tputriage collect`: reports -> failures -> buckets -> verdicts, each stored as soon as it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tputriage.collect import Collected, bucket_reports
from tputriage.compare import compare, judge_without_runs
from tputriage.config import load_settings
from tputriage.console import Done, progress
from tputriage.formats import read_report
from tputriage.model import Bucket, Report, Verdict, VerdictKind
from tputriage.pipeline.place import Place, find_place, suite_folder, suite_name, workers
from tputriage.pipeline.showing import collected_view
from tputriage.store import Store, open_store

SHRUNK = 0.05  # a suite that collects this much fewer tests than last time has probably lost a file


def collect(
    *,
    reports: Sequence[Path],
    rerun: bool,
    again: bool,
    salvage: bool,
    store: Path,
    quiet: bool,
    root: Path | None,
    **machine: Any,
) -> Done:
    """Bad input raises before the store is opened, so the store stays as it was.

    A run that was stopped goes on: only buckets without a verdict, or with failures in a report that is new,
    are rerun. `again` reruns them all.
    """
    read = [read_report(path, salvage=salvage) for path in reports]
    place = _place(read, root, machine) if rerun else None
    with open_store(store) as opened:
        found = bucket_reports(read, opened.known_keys())
        notes = (*found.notes, *_guard(opened, found.reports))
        new = _keep(opened, found)
        first = _judge_at_once(opened, found.buckets)
        if place is None:
            return collected_view(found, first, notes)
        asked = [
            bucket
            for bucket in found.buckets
            if judge_without_runs(bucket).kind is VerdictKind.UNDECIDED
            and (again or bucket.id in new or first[bucket.id].kind is VerdictKind.UNDECIDED)
        ]
        return collected_view(found, first | _rerun(opened, place, asked, found, quiet=quiet), notes)


def _place(read: Sequence[Report], root: Path | None, machine: Mapping[str, Any]) -> Place:
    reported = next((report.root for report in read if report.root), "")
    settings = load_settings(root)
    return find_place(suite_folder(root, settings.root, reported), **machine)


def _guard(store: Store, reports: Sequence[Report]) -> tuple[str, ...]:
    """A warning where a suite collected markedly fewer tests than last time: that only looks like an improvement."""
    notes = []
    for report in reports:
        before = store.last_collected(suite_name(report.root))
        if before and not store.has_report(report.digest) and report.collected < before * (1 - SHRUNK):
            notes.append(
                f"{report.source}: {report.collected} tests were collected, {before} the last time:"
                " look for a file that no longer imports before believing the pass rate"
            )
    return tuple(notes)


def _keep(store: Store, found: Collected) -> set[str]:
    """Store the reports; the ids of buckets that have failures in a report that was not stored before."""
    new: set[str] = set()
    for report in found.reports:
        buckets = found.buckets_of(report)
        if store.add_report(report, suite_name(report.root), buckets):
            new.update(bucket.id for bucket in buckets)
    return new


def _judge_at_once(store: Store, buckets: Sequence[Bucket]) -> dict[str, Verdict]:
    """{bucket id: verdict} as text alone gives it; a verdict that runs have given before stands."""
    verdicts = {}
    for bucket in buckets:
        said, stored = judge_without_runs(bucket), store.dossier(bucket.id).verdict
        if stored is not None and said.kind is VerdictKind.UNDECIDED:
            said = stored
        else:
            store.save_verdict(bucket.id, said)
        verdicts[bucket.id] = said
    return verdicts


def _rerun(
    store: Store, place: Place, buckets: Sequence[Bucket], found: Collected, *, quiet: bool
) -> dict[str, Verdict]:
    verdicts: dict[str, Verdict] = {}
    if not buckets:
        return verdicts
    tests = [test for bucket in buckets for test in bucket.tests]
    with workers(place, tests) as (device, reference), progress("comparing", quiet=quiet) as step:
        for bucket, verdict in compare(
            buckets, device, reference, limit_s=place.settings.limit_s, order=found.order, on_progress=step
        ):
            store.save_bucket(bucket)
            store.save_verdict(bucket.id, verdict)
            verdicts[bucket.id] = verdict
    return verdicts
