"""The test road: where the failure is no op at all, the test itself as one script, shrunk.

The flattened test must fail as the test did before anything is shrunk; what stood in the way is said. Then the
scaffolding around the failure is replaced by what it computed, and the reducer does the rest.
"""

from __future__ import annotations

from tputriage.errors import TriageError
from tputriage.minimize.device_argument import argued, defaulted
from tputriage.minimize.draft import Draft, Road
from tputriage.minimize.errand import Errand
from tputriage.minimize.flatten import assemble, describe, scripts
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.reducing import reduce_source, tracer
from tputriage.minimize.tidying import tidy
from tputriage.model import Failure, Level, Outcome, Run
from tputriage.targets.runs import run_once, script_job
from tputriage.targets.seam import Runner

LONGEST_LINE = 200


def take_test_road(errand: Errand, *, seed: int = 0) -> Road:
    """The smallest script that the test leads to, or what stood in the way of one.

    `Road.runs` are the runs that the oracle did not make.
    """
    device, oracle, limit_s, on_better = errand.device, errand.oracle, errand.limit_s, errand.on_better
    extra = [1]  # the description
    errand.say("test road: flattening the test")
    try:
        told = describe(errand.test_id, device)
        script = next(filter(oracle, scripts(told, device.target.device)), None)
        if script is None:
            whole = assemble(told, device.target.device, switch=True, whole=True)
            return Road(None, _why_not(whole, device, errand.reference, oracle, limit_s), 3)
    except TriageError as exc:
        return Road(None, f"the test cannot be written as one script: {exc}", 1)
    on_better(script)

    def counted() -> None:
        extra[0] += 1

    errand.say("test road: replacing what leads to the failure by what it computed, and shrinking")
    watch = tracer(device, limit_s=limit_s, counted=counted)
    start = argued(script, device.target.device) or script
    best = reduce_source(start, oracle, on_better=on_better, seed=seed, trace=watch)
    best = tidy(defaulted(best, device.target.device))
    failure = run_script(best, device, limit_s).failure
    return Road(_draft(best, failure, oracle), runs=extra[0] + 1)


def run_script(source: str, runner: Runner, limit_s: float) -> Run:
    """One run of a script on a target."""
    job = script_job(source, runner.target.device, limit_s=limit_s)
    return run_once(runner, job)


def _draft(source: str, failure: Failure | None, oracle: Interesting) -> Draft:
    return Draft(
        source=source,
        level=Level.TEST,
        operator=failure.operator if failure else "",
        actual=said_by(failure) if failure else "",
        expected="the script runs to its end, as on CPU",
        findings=tuple(oracle.findings),
        traceback=failure.text if failure else "",
    )


def said_by(failure: Failure) -> str:
    """The failure in one line: its first, or where a bare assert says nothing, the line that it stands on.

    A first line that only announces another error, as of a process that torch spawned, gives way to the last.
    """
    line = failure.frames[-1].text if failure.frames else ""
    lines = failure.message.strip().splitlines() or [line]
    first = lines[-1] if lines[0].endswith("error:") else lines[0]
    return f"{failure.exception}: {first}" if failure.exception else first


def _why_not(script: str, device: Runner, reference: Runner, oracle: Interesting, limit_s: float) -> str:
    """What the flattened test does instead of failing as the test did."""
    if oracle.exhausted:
        return "the budget ended before the flattened test was run"
    run = run_script(script, device, limit_s)
    if run.outcome is Outcome.PASSED:
        return f"the flattened test passes on {device.target.name}: something of the suite's session is missing"
    other = run_script(script, reference, limit_s)
    if other.failure is not None:
        return f"the flattened test fails on {reference.target.name} too: {said_by(other.failure)[:LONGEST_LINE]}"
    said = said_by(run.failure)[:LONGEST_LINE] if run.failure else run.outcome
    return f"the flattened test fails on {device.target.name} in another way: {said}"
