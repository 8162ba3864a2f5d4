"""The first step, pure: reports in, buckets out, with what a reader of the totals should know.

Reruns nothing and touches no disk. What compare and minimize learn later comes back through
`signatures.regroup`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tputriage.console import plural
from tputriage.formats import merge_reports
from tputriage.model import Bucket, Failure, Outcome, Report
from tputriage.ordering import order_key
from tputriage.signatures import group

LARGEST_FALL = 0.05  # of the collected tests, against the last run of the same suite


@dataclass(frozen=True, slots=True)
class Collected:
    """What the reports say together."""

    reports: tuple[Report, ...]  # each once, in the order of the versions tested
    tests: Mapping[str, Outcome]
    outcomes: Mapping[str, int]  # by name; counts tests that a format does not name, too
    buckets: tuple[Bucket, ...]
    notes: tuple[str, ...]

    @property
    def total(self) -> int:
        return sum(self.outcomes.values())

    @property
    def pass_rate(self) -> float | None:
        """Passed of those that ran to an end, skipped ones aside; None where none did."""
        passed = sum(count for name, count in self.outcomes.items() if Outcome(name).is_pass)
        failed = sum(count for name, count in self.outcomes.items() if Outcome(name).is_failure)
        return passed / (passed + failed) if passed + failed else None


def bucket_reports(
    reports: Iterable[Report], known: Mapping[str, str] | None = None, *, collected_before: int = 0
) -> Collected:
    """The failures of all reports as buckets; `known` maps stored keys to bucket ids.

    `collected_before` is how many tests the last run of the same suite collected, 0 where there was none.
    """
    ordered = tuple(sorted(merge_reports(reports), key=lambda report: order_key(report.versions, report.created_s)))
    tests: dict[str, Outcome] = {}
    for report in ordered:
        tests |= report.tests
    told = (
        *(f"{report.source}: {note}" for report in ordered for note in report.notes),
        collection_fell(sum(collected(report) for report in ordered), collected_before),
        _disagreement(ordered, tests),
    )
    buckets = group(distinct(failure for report in ordered for failure in report.failures), known)
    return Collected(ordered, tests, _outcomes(ordered, tests), buckets, tuple(note for note in told if note))


def collected(report: Report) -> int:
    """How many tests the run found, as far as the report says."""
    return report.collected or len(report.tests) or sum(report.outcomes.values())


def collection_fell(now: int, before: int) -> str:
    """A warning where far fewer tests were collected than the last time, since that looks like progress."""
    if before <= 0 or now >= before * (1 - LARGEST_FALL):
        return ""
    share = 1 - now / before
    return (
        f"{plural(now, 'test')} collected, {share:.0%} fewer than the {before} of the last run: "
        "tests that cannot be collected fail no more, so compare nothing with that run before you know why"
    )


def _disagreement(reports: Sequence[Report], tests: Mapping[str, Outcome]) -> str:
    """A note where tests fail in one report and not in a later one: totals and buckets then say different things."""
    failed = {test for report in reports for test, outcome in report.tests.items() if outcome.is_failure}
    settled = sum(not tests[test].is_failure for test in failed)
    if not settled:
        return ""
    return (
        f"tests that fail in one of these reports and not in a later one: {settled}; "
        "the totals count the later outcome, the buckets every failure"
    )


def distinct(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """Every failure, the same phase of the same test with the same words once: the last one."""
    once: dict[tuple[str, str, str, str], Failure] = {}
    for failure in failures:
        once[failure.test_id, failure.phase.value, failure.exception, failure.message] = failure
    return tuple(once.values())


def _outcomes(reports: Sequence[Report], tests: Mapping[str, Outcome]) -> dict[str, int]:
    """Counted from the named tests, and from a report's own counts where it names fewer than it counts."""
    counts = Counter(outcome.value for outcome in tests.values())
    for report in reports:
        counted = {name: count for name, count in report.outcomes.items() if name in _NAMES and count > 0}
        if sum(counted.values()) > len(report.tests):
            named = Counter(outcome.value for outcome in report.tests.values())
            counts.update({name: max(count - named[name], 0) for name, count in counted.items()})
    return {name: count for name, count in counts.items() if count}


_NAMES = frozenset(outcome.value for outcome in Outcome)
