"""Reports -> failures -> buckets: the step that reads, and runs nothing. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tputriage.formats import merge_reports
from tputriage.model import Bucket, Outcome, Report
from tputriage.signatures import group


@dataclass(frozen=True, slots=True)
class Collected:
    """What the reports say together; shards of one run, and a journal beside its report, count as one."""

    reports: tuple[Report, ...]
    buckets: tuple[Bucket, ...]  # the largest first

    @property
    def tests(self) -> int:
        return sum(self.outcomes.values())

    @property
    def outcomes(self) -> dict[str, int]:
        """{outcome: tests}, most frequent first; as the run counted them where it lists no tests."""
        counts: Counter[str] = Counter()
        for report in self.reports:
            counts.update(Counter(outcome.value for outcome in report.tests.values()) or _counted(report))
        return dict(counts.most_common())

    @property
    def pass_rate(self) -> float | None:
        """Passes among the tests that ran to an end, skipped ones aside; None where none did."""
        outcomes = {Outcome(name): count for name, count in self.outcomes.items()}
        passed = sum(count for outcome, count in outcomes.items() if outcome.is_pass)
        ran = passed + sum(count for outcome, count in outcomes.items() if outcome.is_failure)
        return passed / ran if ran else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was odd, lost or salvaged, each with the report it is about."""
        return tuple(f"{report.source}: {note}" for report in self.reports for note in report.notes)

    @property
    def order(self) -> dict[str, tuple[str, ...]]:
        """{test file: its node ids in the order they ran}."""
        files: dict[str, list[str]] = {}
        for report in self.reports:
            for test_id in report.tests:
                files.setdefault(test_id.split("::", 1)[0], []).append(test_id)
        return {name: tuple(tests) for name, tests in files.items()}

    def buckets_of(self, report: Report) -> tuple[Bucket, ...]:
        """The buckets that this report has failures of, with those failures alone."""
        own = {id(failure) for failure in report.failures}
        parts = (
            replace(bucket, failures=tuple(failure for failure in bucket.failures if id(failure) in own))
            for bucket in self.buckets
        )
        return tuple(part for part in parts if part.failures)


def bucket_reports(reports: Iterable[Report], known: Mapping[str, str] | None = None) -> Collected:
    """The reports' failures as buckets; `known` maps signature keys to the ids of buckets that are stored."""
    merged = merge_reports(reports)
    failures = [failure for report in merged for failure in report.failures]
    return Collected(merged, group(failures, known))


def _counted(report: Report) -> Mapping[str, int]:
    names = {outcome.value for outcome in Outcome}
    return {name: count for name, count in report.outcomes.items() if name in names and count}
