"""`make bench-minimize-ops`: the op road over torch's own OpInfo database, which nobody here wrote.

Writes a generic test file to a temporary folder, runs it on the emulator, and minimizes every bucket that fails
there and passes on CPU, plugin artifacts aside. `--ops N` takes N operators spread over the database instead of
all. Prints a line a bucket, then one JSON object; leaves 1 where a stated goal is missed.

Each repro is verified in forked children, and `--inspect` of them, spread, in fresh processes as people run them;
these are compared with the failing test: a repro that slipped to another failure, or whose text is unfit to be
shown, fails the bench.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from figures import print_figures
from inspecting import inspect, spread, unfit

from tputriage.config import Settings
from tputriage.minimize.aimed import operator_in
from tputriage.minimize.draft import Draft
from tputriage.minimize.emit import finish
from tputriage.minimize.errand import Errand
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.measure import code_lines, third_party_imports
from tputriage.minimize.op_road import take_op_road
from tputriage.model import Failure, Outcome, Run, Signature
from tputriage.signatures import Kind, family_of, sign
from tputriage.signatures.families import FAMILIES
from tputriage.targets.catalogue import find_target
from tputriage.targets.runs import run_of, script_job, test_job
from tputriage.targets.seam import Runner
from tputriage.targets.worker import Worker

SUITE = Path(__file__).with_name("opinfo_suite.py.txt")
FILE = "test_opinfo.py"
SWITCH = "OPINFO_DEVICE"
NOT_OURS = (Kind.EMULATOR, Kind.INFRA, Kind.TIMEOUT)
NUMERIC = [family.name for family in FAMILIES if family.kind is Kind.NUMERIC]
BUDGET_S = 120.0
LIST = """
import torch
from torch.testing._internal.common_methods_invocations import op_db
for number, op in enumerate(op_db):
    if torch.float32 in op.dtypes:
        print(f"{number}-{op.formatted_name}")
"""
# What draws numbers or reads memory that nobody wrote: such a difference is never a bug.
LEFT_OPEN = ("draws random numbers", "torch leaves open", "rounding adds up")
UNDECIDED = ("rand", "bernoulli", "empty", "dropout", "multinomial", "normal", "uniform", "exponential", "cauchy")


@dataclass(frozen=True)
class Row:
    bucket: str
    test: str
    family: str
    status: str
    lines: int
    oracle_runs: int
    seconds: float
    imports: tuple[str, ...]
    same_operator: bool
    reason: str = ""
    code: str = ""
    script: Path | None = None
    failure: Failure | None = None  # the test's
    inspected: bool = False
    slipped: str = ""
    fresh: str = ""
    unfit: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=0, help="how many operators, spread over the database; 0 for all")
    parser.add_argument("--numeric", action="store_true", help="wrong numbers only")
    parser.add_argument("--inspect", type=int, default=30, help="repros looked at in fresh processes; 30 by default")
    parser.add_argument("--keep", type=Path, help="folder for the scripts")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / FILE).write_text(SUITE.read_text("utf-8"), "utf-8")
        options.keep = options.keep or root / "scripts"
        with workers(root) as (device, reference):
            rows = inspected(list(measured(device, reference, options)), options.inspect, device, reference)
    figures = summary(rows)
    columns = ("bucket", "status", "lines", "oracle_runs", "seconds", "imports", "slipped", "fresh", "unfit", "reason")
    print_figures(columns, ([getattr(row, name) for name in columns] for row in rows), figures)
    return 0 if goals_met(figures) else 1


def inspected(rows: Sequence[Row], count: int, device: Worker, reference: Worker) -> list[Row]:
    """The rows with what a closer look at some of the repros, and at the text of all of them, showed."""
    told = list(rows)
    faults = unfit([row.script for row in told if row.script])
    written = [place for place, row in enumerate(told) if row.script and row.failure]
    chosen_here = {written[number] for number in spread(count, len(written))} if written else set()
    for place, row in enumerate(told):
        if row.script is None or row.failure is None:
            continue
        told[place] = row = replace(row, unfit=faults.get(row.script.name, ""))
        if place in chosen_here:
            test = f"{FILE}::test_operator[{row.test}]"
            seen = inspect(row.script, test, row.failure, device, reference)
            told[place] = row = replace(row, inspected=True, slipped=seen.slipped, fresh=seen.fresh)
        if row.slipped or row.fresh or row.unfit:
            print(f"{row.test}: {row.slipped or row.fresh or row.unfit}", file=sys.stderr)
    return told


class workers:  # noqa: N801 -- reads as a context
    def __init__(self, root: Path) -> None:
        settings = Settings()
        self._pair = [
            Worker(find_target(name, settings), root, [str(root / FILE)], device_env=SWITCH, pytest_args=("-q",))
            for name in ("emulator", "cpu")
        ]

    def __enter__(self) -> tuple[Worker, Worker]:
        return self._pair[0], self._pair[1]

    def __exit__(self, *_: object) -> None:
        for worker in self._pair:
            worker.close()


def measured(device: Worker, reference: Worker, options: argparse.Namespace) -> Iterator[Row]:
    tests = chosen(options.ops)
    failing = [run for run in runs_on(device, tests) if run.failure is not None and counts(run.failure)]
    if options.numeric:
        failing = [run for run in failing if run.failure and family_of(run.failure).kind is Kind.NUMERIC]
    witnesses: dict[str, Run] = {}
    for run in sorted(failing, key=lambda run: run.seconds):
        assert run.failure is not None
        # Wrong numbers are one bucket a place: here each operator is asked about, since most must be left open.
        apart = run.test_id if family_of(run.failure).kind is Kind.NUMERIC else ""
        witnesses.setdefault(sign(run.failure).key + apart, run)
    print(f"{len(tests)} operators, {len(failing)} fail on the device, {len(witnesses)} buckets", file=sys.stderr)
    passing = {run.test_id for run in runs_on(reference, [run.test_id for run in witnesses.values()]) if passed(run)}
    for number, run in enumerate(witnesses.values()):
        if run.test_id in passing and run.failure is not None:
            row = minimized(run.test_id, sign(run.failure), run.failure, device, reference, options.keep, number)
            print(f"{row.status:10} {row.lines:3} lines {row.oracle_runs:3} runs {row.seconds:5.1f} s "
                  f"{','.join(row.imports):6} {row.test}  {row.reason}", file=sys.stderr)  # fmt: skip
            yield row


def chosen(ops: int) -> list[str]:
    """Test ids. Asked of another process: importing torch here would point the workers to another plugin."""
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    said = subprocess.run([sys.executable, "-c", LIST], env=env, check=True, capture_output=True, text=True).stdout
    names = said.split()
    step = max(1, len(names) // ops) if ops else 1
    return [f"{FILE}::test_operator[{name}]" for name in names[::step][: ops or None]]


def runs_on(runner: Runner, tests: Sequence[str]) -> list[Run]:
    return [run_of(answer, runner.target) for answer in runner.ask(test_job(test, limit_s=60.0) for test in tests)]


def counts(failure: Failure) -> bool:
    return family_of(failure).kind not in NOT_OURS and failure.outcome is not Outcome.UNAVAILABLE


def passed(run: Run) -> bool:
    return run.outcome.is_pass


def minimized(
    test: str, wanted: Signature, failure: Failure, device: Worker, reference: Worker, keep: Path, number: int
) -> Row:
    started = time.monotonic()
    oracle = Interesting(wanted, device, reference, limit_s=30.0, deadline_s=BUDGET_S)
    road = take_op_road(Errand(test, wanted, device, reference, oracle, limit_s=60.0))
    seconds, draft = time.monotonic() - started, road.draft
    about = (wanted.key[:10], test.partition("[")[2].rstrip("]"), wanted.family)
    if draft is None:
        status = "no bug" if any(words in road.reason for words in LEFT_OPEN) else "none"
        return Row(*about, status, 0, oracle.runs + road.runs, seconds, (), False, road.reason)
    script = finish(draft, device.versions)
    path = keep / f"{number:03}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, "utf-8")
    seen = [one(runner, script) for runner in (device, reference)]
    good = seen[0].failure is not None and passed(seen[1])
    same = seen[0].failure is not None and operator_in(seen[0].failure) == operator_in(failure)
    return Row(
        *about, "verified" if good else "unverified", code_lines(script), oracle.runs + road.runs, round(seconds, 2),
        third_party_imports(script), same, draft.condition, code(draft), path, failure,
    )  # fmt: skip


def one(runner: Runner, script: str) -> Run:
    return run_of(next(iter(runner.ask([script_job(script, runner.target.device, limit_s=60.0)]))), runner.target)


def code(draft: Draft) -> str:
    return draft.source.partition('"tpu"\n')[2]


def summary(rows: Sequence[Row]) -> dict[str, float]:
    left_open = sum(row.status == "no bug" for row in rows)
    rows = [row for row in rows if row.status != "no bug"]
    done = [row for row in rows if row.status == "verified"]
    return {
        "buckets_total": len(rows),
        "left_open": left_open,
        "verified_share": len(done) / len(rows) if rows else 0.0,
        "median_lines": statistics.median(row.lines for row in done) if done else 0,
        "median_oracle_runs": statistics.median(row.oracle_runs for row in done) if done else 0,
        "median_s": statistics.median(row.seconds for row in done) if done else 0,
        "torch_only_share": sum(row.imports == ("torch",) for row in done) / len(done) if done else 0.0,
        "same_operator_share": sum(row.same_operator for row in done) / len(done) if done else 0.0,
        "inspected": sum(row.inspected for row in done),
        "slipped": sum(bool(row.slipped) for row in done),
        "fresh_failed": sum(bool(row.fresh) for row in done),
        "unfit": sum(bool(row.unfit) for row in done),
        "false_bugs": sum(any(word in row.code for word in UNDECIDED) for row in done if row.family in NUMERIC),
    }


def goals_met(figures: dict[str, float]) -> bool:
    return (
        figures["verified_share"] >= 0.95
        and figures["torch_only_share"] == 1.0
        and figures["median_lines"] <= 8
        and figures["median_oracle_runs"] <= 25
        and figures["median_s"] < 10
        and figures["same_operator_share"] == 1.0
        and not any(figures[name] for name in ("slipped", "fresh_failed", "unfit", "false_bugs"))
    )


if __name__ == "__main__":
    sys.exit(main())
