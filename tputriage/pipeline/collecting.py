"""`tputriage collect`: reports -> failures -> buckets -> verdicts, each stored as soon as it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Plan:
    """What `collect` is about to do, found out before anything is stored."""

    found: Collected
    place: Place | None


def collect(
    *, reports: Sequence[Path], rerun: bool, salvage: bool, store: Path, quiet: bool, root: Path | None, **machine: Any
) -> Done:
    """Bad input raises before the store is opened, so the store stays as it was."""
    read = [read_report(path, salvage=salvage) for path in reports]
    place = _place(read, root, machine) if rerun else None
    with open_store(store) as opened:
        found = bucket_reports(read, opened.known_keys())
        notes = (*found.notes, *_guard(opened, found.reports))
        _keep(opened, found)
        verdicts = _judge(opened, _Plan(found, place), quiet=quiet)
        return collected_view(found, verdicts, notes)


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


def _keep(store: Store, found: Collected) -> None:
    for report in found.reports:
        store.add_report(report, suite_name(report.root), found.buckets_of(report))


def _judge(store: Store, plan: _Plan, *, quiet: bool) -> dict[str, Verdict]:
    """{bucket id: verdict}; those that no rerun can change come first, and cost nothing."""
    verdicts = {bucket.id: judge_without_runs(bucket) for bucket in plan.found.buckets}
    for bucket_id, verdict in verdicts.items():
        if verdict.kind is not VerdictKind.UNDECIDED or store.dossier(bucket_id).verdict is None:
            store.save_verdict(bucket_id, verdict)
    if plan.place is None:
        return {bucket_id: store.dossier(bucket_id).verdict or verdict for bucket_id, verdict in verdicts.items()}
    asked = [bucket for bucket in plan.found.buckets if verdicts[bucket.id].kind is VerdictKind.UNDECIDED]
    return verdicts | _rerun(store, plan.place, asked, plan.found, quiet=quiet)


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
