"""`tputriage collect`: reports -> failures -> buckets -> verdicts, each stored as soon as it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tputriage.collect import Collected, bucket_reports, distinct
from tputriage.compare import advice, by_file, compare, final_buckets, judge_without_runs
from tputriage.config import load_settings
from tputriage.console import Done, log, plural, progress, stoppable
from tputriage.formats import read_report
from tputriage.model import Bucket, Report, Verdict, VerdictKind
from tputriage.pipeline.place import Place, beside, find_place, suite_folder, suite_name, workers
from tputriage.pipeline.views import collected_view
from tputriage.signatures import group
from tputriage.store import Store, open_store


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

    A run that was stopped goes on: the buckets are taken as they were left, and only those without a verdict, or with
    failures in a report that is new, are rerun. `again` reruns them all.
    """
    read = [read_report(path, salvage=salvage) for path in reports]
    place = _place(read, root, machine) if rerun else None
    with open_store(store) as opened:
        found = bucket_reports(read, opened.known_keys(), collected_before=_before(opened, read))
        new = _keep(opened, found)
        if not new:
            found = replace(found, buckets=_as_left(opened, found))
        first = _judge_at_once(opened, found.buckets)
        if place is None:
            return collected_view(found, first)
        asked = [
            bucket
            for bucket in found.buckets
            if judge_without_runs(bucket).kind is VerdictKind.UNDECIDED
            and (again or bucket.id in new or first[bucket.id].kind is VerdictKind.UNDECIDED)
        ]
        found, reruns = _rerun(opened, place, asked, found, again=again, quiet=quiet)
        return collected_view(found, first | reruns)


def _place(read: Sequence[Report], root: Path | None, machine: Mapping[str, Any]) -> Place:
    reported = next((report.root for report in read if report.root), "")
    settings = load_settings(root)
    return find_place(suite_folder(root, settings.root, reported), **machine)


def _before(store: Store, reports: Sequence[Report]) -> int:
    """How many tests the last run of this suite collected; 0 where there was none, or where this is that run."""
    if any(store.has_report(report.digest) for report in reports):
        return 0
    suites = {suite_name(report.root) for report in reports}
    return store.last_collected(suites.pop()) or 0 if len(suites) == 1 else 0


def _keep(store: Store, found: Collected) -> set[str]:
    """Store the reports; the ids of buckets that have failures in a report that was not stored before."""
    whole = {bucket.id: bucket for bucket in found.buckets}
    ids = {key: bucket.id for bucket in found.buckets for key in bucket.aliases}
    ids |= {bucket.signature.key: bucket.id for bucket in found.buckets}
    new: set[str] = set()
    for report in found.reports:
        parts = [replace(whole[part.id], failures=part.failures) for part in group(report.failures, ids)]
        if store.add_report(report, suite_name(report.root), parts):
            new.update(part.id for part in parts)
    return new


def _as_left(store: Store, found: Collected) -> tuple[Bucket, ...]:
    """The buckets as earlier steps left them, counted as on the first day: what shards share, once."""
    stored = store.buckets_of([report.digest for report in found.reports])
    once = [replace(bucket, failures=distinct(bucket.failures)) for bucket in stored]
    return tuple(sorted(once, key=lambda bucket: (-len(bucket.failures), bucket.id)))


def _judge_at_once(store: Store, buckets: Sequence[Bucket]) -> dict[str, Verdict]:
    """{bucket id: verdict} as text alone gives it; a verdict that runs have given before stands."""
    verdicts = {}
    for bucket in buckets:
        said, stored = judge_without_runs(bucket), store.verdict_of(bucket.id)
        if stored is not None and said.kind is VerdictKind.UNDECIDED:
            log("collect", "%s keeps the verdict of earlier runs: %s", bucket.id, stored.kind)
            said = stored
        else:
            store.save_verdict(bucket.id, said)
        verdicts[bucket.id] = said
    return verdicts


def _rerun(
    store: Store, place: Place, buckets: Sequence[Bucket], found: Collected, *, again: bool, quiet: bool
) -> tuple[Collected, dict[str, Verdict]]:
    """What was collected, with its buckets as they are after the reruns, and the verdicts the reruns gave."""
    if not buckets:
        return found, {}
    asked = {bucket.id for bucket in buckets}
    tests = [test for bucket in buckets for test in bucket.tests]
    verdicts: dict[str, Verdict] = {}
    after: list[Bucket] = []
    kept = partial(_kept, verdicts, len(buckets), store, again=again)
    with (
        stoppable(kept),
        workers(place, tests) as (device, reference),
        beside(place, tests) as also,
        progress("comparing", quiet=quiet) as step,
    ):
        step(0, len(buckets), f"starting {place.device.name} and {place.reference.name}, which takes a while")
        for bucket, verdict in compare(
            buckets,
            device,
            reference,
            limit_s=place.settings.limit_s,
            order=by_file(found.tests),
            on_progress=step,
            also=also,
            settled=[bucket for bucket in found.buckets if bucket.id not in asked],
        ):
            store.save_bucket(bucket)
            store.save_verdict(bucket.id, verdict)
            verdicts[bucket.id] = verdict
            after.append(bucket)
    notes = (*found.notes, *advice(verdicts.values(), place.settings.redirect))
    return replace(found, buckets=tuple(final_buckets(found.buckets, after)), notes=notes), verdicts


def _kept(verdicts: Mapping[str, Verdict], total: int, store: Store, *, again: bool) -> str:
    if again:
        done = f"{len(verdicts)} of {plural(total, 'bucket')} judged anew in {store.folder}"
        return f"{done}, and the rest as it was: the same command, with --again, begins anew"
    have = "has its verdict" if total == 1 else "have their verdict"
    return (
        f"{len(verdicts)} of {plural(total, 'bucket')} {have} in {store.folder}: the same command goes on with the rest"
    )
