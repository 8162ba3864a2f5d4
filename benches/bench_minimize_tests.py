"""`make bench-minimize-tests`: `tputriage minimize` on failing tests whose failure is no op.

`--suite ROOT --python P --device-env E --tests FILE-or-ids` takes any suite: ids as arguments, or a file with one
a line (`#` starts a comment). Without them every failing test of the fixture suite. Each test is run on the
emulator first; one that passes there, or whose failure an op explains, is shown and not counted. Prints a line
a test, then one JSON object; leaves 1 where fewer than all end verified or the median script is over 20 lines.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from figures import print_figures

from tputriage.errors import TriageError
from tputriage.minimize.emit import finish
from tputriage.minimize.flatten import flatten
from tputriage.minimize.roads import Case, not_reproduced, settle, take_roads
from tputriage.model import Bucket, Failure, Level, Repro, ReproStatus
from tputriage.pipeline.minimizing import run_on_both
from tputriage.pipeline.place import Place, device_versions, find_place, workers
from tputriage.signatures import group, sign
from tputriage.targets.runs import run_of, test_job
from tputriage.targets.seam import Runner

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "minisuite"
BUDGET_S = 300.0
MOST_LINES = 20
COLUMNS = ("test", "flattened", "status", "level", "lines", "runs", "seconds", "reason")


@dataclass(frozen=True)
class Row:
    test: str
    flattened: int = 0  # lines of the flattened test; 0 where it cannot be one script
    status: str = "passes"
    level: str = ""
    lines: int = 0
    runs: int = 0
    seconds: float = 0.0
    reason: str = ""

    @property
    def counts(self) -> bool:
        return self.level in ("test", "none")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, default=FIXTURES, help="the suite's folder")
    parser.add_argument("--python", help="interpreter of the suite's environment")
    parser.add_argument("--device-env", help="environment variable that tells the suite its device")
    parser.add_argument("--tests", nargs="*", default=(), help="test ids, or a file that lists them")
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds a test")
    parser.add_argument("--keep", type=Path, help="folder for the scripts")
    options = parser.parse_args(argv)
    switch = options.device_env or ("MINISUITE_TEST_DEVICE" if options.suite == FIXTURES else None)
    place = find_place(options.suite.resolve(), target="emulator", python=options.python, device_env=switch)
    tests = listed(options.tests, options.suite) or [str(path) for path in sorted(options.suite.rglob("test_*.py"))]
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measured(place, tests, options.keep or Path(folder), options.budget))
    figures = summary(rows)
    print_figures(COLUMNS, ([getattr(row, name) for name in COLUMNS] for row in rows), figures)
    return 0 if goals_met(figures) else 1


def listed(given: Sequence[str], suite: Path) -> list[str]:
    """The ids, those of a file in its place where their own file is in the suite."""
    found: list[str] = []
    for item in given:
        text = Path(item).read_text("utf-8").splitlines() if Path(item).is_file() and "::" not in item else [item]
        found += [line for line in (part.partition(" #")[0].strip() for part in text) if line and line[0] != "#"]
    return [item for item in found if (suite / item.partition("::")[0]).exists()]


def measured(place: Place, tests: Sequence[str], folder: Path, budget_s: float) -> Iterator[Row]:
    folder.mkdir(parents=True, exist_ok=True)
    with workers(place, tests) as (device, reference):
        known: Sequence[str] = device.tests  # type: ignore[attr-defined]
        for number, test in enumerate(tests if all("::" in test for test in tests) else known):
            row = one_row(place, test, device, reference, folder / f"{number:03}.py", budget_s)
            print(f"{row.status:12} {row.level:5} {row.lines:3} lines {row.runs:4} runs {row.seconds:6.1f} s "
                  f"flattened {row.flattened:4}  {row.test}  {row.reason}", file=sys.stderr, flush=True)  # fmt: skip
            yield row


def one_row(place: Place, test: str, device: Runner, reference: Runner, path: Path, budget_s: float) -> Row:
    run = run_of(next(iter(device.ask([test_job(test, limit_s=place.settings.limit_s)]))), device.target)
    if run.failure is None:
        return Row(test, status=run.outcome.value)
    started = time.monotonic()
    repro = minimized(place, test, run.failure, device, reference, path, budget_s)
    level = repro.level.value if repro.status is not ReproStatus.NOT_REPRODUCED else "none"
    flat = flattened(test, device, path) if level in (Level.TEST.value, "none") else 0
    seconds = round(time.monotonic() - started, 1)
    return Row(test, flat, repro.status.value, level, repro.lines, repro.oracle_runs, seconds, repro.reason[:150])


def flattened(test: str, device: Runner, path: Path) -> int:
    try:
        text = flatten(test, device)
    except TriageError as exc:
        print(f"  {exc}", file=sys.stderr)
        return 0
    path.with_suffix(".flat.py").write_text(text, "utf-8")
    return len(text.splitlines())


def minimized(
    place: Place, test: str, failure: Failure, device: Runner, reference: Runner, path: Path, budget_s: float
) -> Repro:
    """As `tputriage minimize` does it, without a store."""
    bucket: Bucket = group([failure])[0]
    case = Case(test, sign(failure), device, reference, place.settings.limit_s, budget_s)
    draft, trip = take_roads(case)
    if draft is None:
        return not_reproduced(bucket, trip)
    versions = device_versions(place, getattr(device, "versions", {}))
    source = finish(draft, versions, device=place.device.device)
    path.write_text(source, "utf-8")
    return settle(bucket, draft, trip, source, *run_on_both(place, path))


def summary(rows: Sequence[Row]) -> dict[str, float]:
    counted = [row for row in rows if row.counts]
    done = [row for row in counted if row.status == ReproStatus.VERIFIED.value]
    return {
        "tests": len(counted),
        "verified": len(done),
        "median_lines": statistics.median(row.lines for row in done) if done else 0,
        "median_runs": statistics.median(row.runs for row in done) if done else 0,
        "median_s": statistics.median(row.seconds for row in done) if done else 0,
    }


def goals_met(figures: dict[str, float]) -> bool:
    return figures["verified"] == figures["tests"] > 0 and figures["median_lines"] <= MOST_LINES


if __name__ == "__main__":
    sys.exit(main())
