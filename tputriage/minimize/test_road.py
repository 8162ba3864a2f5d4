"""The test road: where the failure is no op at all, the test itself as one script, shrunk.

The flattened test must fail as the test did before anything is shrunk; what stood in the way is said. Then the
scaffolding around the failure is replaced by what it computed, and the reducer does the rest. What is left is
tried on the op road after each large success: a small script may show the call that a whole test hides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tputriage.errors import TriageError
from tputriage.minimize.device_argument import argued, defaulted
from tputriage.minimize.draft import Draft, Road
from tputriage.minimize.errand import Errand
from tputriage.minimize.flatten import assemble, describe, scripts
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.reducing import reduce_source, tracer
from tputriage.minimize.saying import run_script, said_by
from tputriage.minimize.shortcut import Shortcut
from tputriage.minimize.steady import reduced_steadily
from tputriage.minimize.tidying import tidy
from tputriage.model import Failure, Level, Outcome
from tputriage.targets.seam import Runner

LONGEST_LINE = 200


def take_test_road(errand: Errand, *, seed: int = 0, calls: bool = True) -> Road:
    """The smallest script that the test leads to, or what stood in the way of one.

    `calls`: whether a single call may be what fails, which under torch.compile none is. `Road.runs` are the runs
    that the oracle did not make.
    """
    device, oracle = errand.device, errand.oracle
    errand.say("test road: flattening the test")
    try:
        told = describe(errand.test_id, device)
        script = next(filter(oracle, scripts(told, device.target.device)), None)
        if script is None:
            whole = assemble(told, device.target.device, switch=True, whole=True)
            return Road(None, _why_not(whole, device, errand.reference, oracle, errand.limit_s), 3)
    except TriageError as exc:
        return Road(None, f"the test cannot be written as one script: {exc}", 1)
    road = take_script_road(errand, script, seed=seed, calls=calls)
    return replace(road, runs=road.runs + 1)  # the description


def take_script_road(errand: Errand, script: str, *, seed: int = 0, calls: bool = True) -> Road:
    """The smallest script that one which fails as wanted leads to: see `take_test_road`."""
    device, limit_s, extra = errand.device, errand.limit_s, [1]  # the last run

    def counted() -> None:
        extra[0] += 1

    def on_better(better: str) -> None:
        errand.on_better(defaulted(better, device.target.device))

    errand.say("test road: replacing what leads to the failure by what it computed, and shrinking")
    watch = tracer(device, limit_s=limit_s, counted=counted)
    start = argued(script, device.target.device) or script
    shortcut = Shortcut(errand, start) if calls else None
    asked = shortcut or errand.oracle

    def reduce(source: str, better: Callable[[str], None]) -> str:
        def told(script: str) -> None:
            better(script)
            on_better(script)

        on_better(source)
        return reduce_source(source, asked, on_better=told, seed=seed, trace=watch)

    best = reduced_steadily(start, asked, reduce)
    if shortcut is not None and shortcut.leads_from(best):
        return replace(shortcut.road, runs=extra[0] - 1 + shortcut.runs)
    best = tidy(defaulted(best, device.target.device))
    failure = run_script(best, device, limit_s).failure
    return Road(_draft(best, failure, errand.oracle), runs=extra[0] + (shortcut.runs if shortcut else 0))


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
