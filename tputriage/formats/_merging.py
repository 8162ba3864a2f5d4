"""Several files of one run, or one file given twice, as one list of reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tputriage.model import Failure, Outcome, Report

JOURNAL = "journal"


def merge_reports(reports: Iterable[Report]) -> tuple[Report, ...]:
    """The reports without repeats, a journal's news merged into the report it lies beside.

    The same digest counts once. A journal adds what its run's JSON report cannot say (the test that was
    running when the process died); it is matched by shared tests, since both were written by one run.
    Shards stay reports of their own: each has its own root, versions and notes.
    """
    once = tuple({report.digest: report for report in reports}.values())
    journals = [report for report in once if report.format == JOURNAL]
    others = [report for report in once if report.format != JOURNAL]
    for journal in journals:
        others = _with_journal(others, journal)
    return tuple(others)


def _with_journal(reports: Sequence[Report], journal: Report) -> list[Report]:
    best = max(range(len(reports)), key=lambda at: _shared(reports[at], journal), default=None)
    if best is None or not _shared(reports[best], journal):
        return [*reports, journal]
    return [_joined(report, journal) if at == best else report for at, report in enumerate(reports)]


def _shared(report: Report, journal: Report) -> int:
    near = (
        not report.created_s
        or not journal.created_s
        or (journal.created_s - 60 <= report.created_s <= journal.created_s + journal.duration_s + 3600)
    )
    return len(report.tests.keys() & journal.tests.keys()) if near else 0


def _joined(report: Report, journal: Report) -> Report:
    """The report with the journal's crashes: worded better than the report's own, or missing there."""
    crashes = {failure.test_id: failure for failure in journal.failures if failure.outcome is Outcome.CRASH}
    failures = [_better(failure, crashes) for failure in report.failures]
    told = {failure.test_id for failure in failures}
    missing = [failure for failure in journal.failures if failure.test_id not in told]
    tests = {**journal.tests, **report.tests, **{failure.test_id: failure.outcome for failure in missing}}
    notes = (*report.notes, *(note for note in journal.notes if note not in report.notes))
    digest = report.digest
    return replace(report, tests=tests, failures=(*failures, *missing), notes=notes, digest=digest, outcomes={})


def _better(failure: Failure, crashes: dict[str, Failure]) -> Failure:
    crash = crashes.get(failure.test_id)
    if crash is None or failure.outcome is not Outcome.CRASH:
        return failure
    return replace(
        failure,
        signal=crash.signal or failure.signal,
        captured=crash.captured or failure.captured,
        duration_s=crash.duration_s or failure.duration_s,
    )
