"""The numbers on top: the pass rate of each run, the buckets of each verdict, and what became of the bugs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tputriage.dashboard.quoting import Links, file_name
from tputriage.model import Dossier, Outcome, VerdictKind

MEANINGS: Mapping[VerdictKind, str] = {
    VerdictKind.TPU_ONLY: "fails on the device alone: TorchTPU's bug",
    VerdictKind.EVERYWHERE: "fails on CPU too: the suite's or upstream's bug",
    VerdictKind.SUITE: "the suite's own check of the device is what fails",
    VerdictKind.FLAKY: "fails in some runs only",
    VerdictKind.NOT_REPRODUCED: "did not fail again",
    VerdictKind.INFRA: "the machine's, the network's or the emulator's failure",
    VerdictKind.UNDECIDED: "not decided yet",
}


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One report, as a point of the chart."""

    source: str
    suite: str
    created_s: float
    passed: int
    failed: int
    rest: int  # skipped and the like
    versions: str  # for people

    @property
    def rate(self) -> float | None:
        """Passed of those that ran to an end; None where none did."""
        ended = self.passed + self.failed
        return self.passed / ended if ended else None

    @property
    def percent(self) -> str:
        return "no test ran to an end" if self.rate is None else f"{self.rate:.1%}"

    @property
    def day(self) -> str:
        return day_of(self.created_s)


@dataclass(frozen=True, slots=True)
class VerdictCount:
    kind: VerdictKind
    buckets: int
    tests: int

    @property
    def meaning(self) -> str:
        return MEANINGS[self.kind]


@dataclass(frozen=True, slots=True)
class Board:
    """Every number that is shown above the buckets."""

    runs: tuple[RunPoint, ...]  # oldest first
    verdicts: tuple[VerdictCount, ...]  # those that occur, in the order of VerdictKind
    buckets: int
    tests: int  # that failed, each once
    reported: int  # buckets with an issue, each either:
    fixed: int  # closed as completed, or seen to pass by `verify`
    open: int
    dropped: int  # closed for another reason
    waiting: int  # the device's own bugs without an issue, and not fixed
    seen_s: float = 0.0  # when filing last looked at the issues, Unix time; 0 where it never did

    @property
    def seen(self) -> str:
        return day_of(self.seen_s)

    @property
    def suites(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.suite for run in self.runs))

    @property
    def newest(self) -> tuple[RunPoint, ...]:
        """The last run of each suite."""
        return tuple({run.suite: run for run in self.runs}.values())


def board_of(dossiers: Sequence[Dossier], reports: Sequence[Mapping[str, Any]], links: Links) -> Board:
    """The numbers of a store; `reports` are the rows of `Store.reports()`, oldest run first."""
    states = Counter(state_of(dossier, links) for dossier in dossiers)
    unfixed = [dossier for dossier in dossiers if not state_of(dossier, links) and not dossier.fixed_in]
    return Board(
        runs=tuple(_point(row, links) for row in reports),
        verdicts=tuple(_verdicts(dossiers)),
        buckets=len(dossiers),
        tests=len({test for dossier in dossiers for test in dossier.bucket.tests}),
        reported=states["fixed"] + states["open"] + states["closed"],
        fixed=states["fixed"],
        open=states["open"],
        dropped=states["closed"],
        waiting=sum(kind_of(dossier) is VerdictKind.TPU_ONLY for dossier in unfixed),
        seen_s=max((state.seen_s for state in links.states.values()), default=0.0),
    )


def issue_of(dossier: Dossier, links: Links) -> int | None:
    """The number of its issue: as seen on the tracker, else as the ledger remembers."""
    seen = links.states.get(dossier.bucket.id)
    return seen.number if seen else dossier.issue


def state_of(dossier: Dossier, links: Links) -> str:
    """What the public is told of it: "" (not reported) | "open" | "fixed" | "closed"."""
    if issue_of(dossier, links) is None:
        return ""
    seen = links.states.get(dossier.bucket.id)
    closed = seen is not None and seen.state == "closed"
    if dossier.fixed_in or (seen is not None and closed and seen.reason in ("", "completed")):
        return "fixed"
    return "closed" if closed else "open"


def kind_of(dossier: Dossier) -> VerdictKind:
    return dossier.verdict.kind if dossier.verdict else VerdictKind.UNDECIDED


def day_of(created_s: float) -> str:
    """In UTC, so that a page says the same wherever it was made; "" where the report does not say when."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(created_s)) if created_s else ""


def versions_in_words(versions: Mapping[str, str]) -> str:
    names = ("torch_tpu", "torch", "libtpu", "python")
    return ", ".join(f"{name} {versions[name]}" for name in names if versions.get(name))


def _point(row: Mapping[str, Any], links: Links) -> RunPoint:
    outcomes: Mapping[str, int] = row["outcomes"]
    passed = sum(count for name, count in outcomes.items() if Outcome(name).is_pass)
    failed = sum(count for name, count in outcomes.items() if Outcome(name).is_failure)
    return RunPoint(
        source=links.text(file_name(row["source"]), 200),
        suite=links.text(row["suite"], 80) or "suite not named",
        created_s=row["created_s"],
        passed=passed,
        failed=failed,
        rest=sum(outcomes.values()) - passed - failed,
        versions=links.text(versions_in_words(row["versions"]), 200),
    )


def _verdicts(dossiers: Sequence[Dossier]) -> list[VerdictCount]:
    counts = []
    for kind in VerdictKind:
        own = [dossier for dossier in dossiers if kind_of(dossier) is kind]
        if own:
            counts.append(VerdictCount(kind, len(own), sum(len(dossier.bucket.tests) for dossier in own)))
    return counts
