"""The compile road: a test that fails only under torch.compile, as a small function that is compiled.

The worker keeps the graphs that dynamo hands to the compiler, finds the one that fails compiled and not eagerly,
and lets torch's fx minifier shrink it: a query costs no new process there. What is left is written with public
calls, and from there on every step is asked of the oracle as a whole script. CPU runs those eagerly, since its own
compiler takes seconds for each; the finished script it compiles too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tputriage.minimize.aimed import Aimed
from tputriage.minimize.arguments import CONTIGUOUS, Call, mapped
from tputriage.minimize.compiled import Shows, inputs_of, results_of, script_of
from tputriage.minimize.conditions import Conditions, find_conditions
from tputriage.minimize.dimensions import SMALL, resized, sizes
from tputriage.minimize.draft import Draft, Road
from tputriage.minimize.errand import Errand
from tputriage.minimize.shrinking import Shrink, plain_values
from tputriage.minimize.suspects import ended_badly
from tputriage.minimize.trace_road import Program, read_steps, shrink_program
from tputriage.model import Failure, Level, Outcome, Phase, Signature
from tputriage.signatures import same_bug, sign
from tputriage.targets.runs import NO_COMPILE, asked, run_once, script_job, test_job
from tputriage.targets.seam import Answer, Ended, Job, Runner, Target

DYNAMO = "torch/_dynamo/"
RETURNS = "returns, as it does eagerly and compiled on CPU"
AGREES = "what it gives eagerly, as on CPU"
ONLY_COMPILED = "fails under torch.compile, passes eagerly"
PROOF = "with torch.compile off, the test no longer fails so"
AXES = ("dtype", "layout")  # of the grid: each run compiles anew


class Seen(StrEnum):
    """What is known of torch.compile in a failure before anything is run."""

    NO = "no"
    PERHAPS = "perhaps"  # dynamo stands in its traceback
    NEEDED = "needed"  # it was gone with torch.compile off


@dataclass(frozen=True)
class Uncompiled:
    """A runner whose jobs run with torch.compile off."""

    runner: Runner

    @property
    def target(self) -> Target:
        return self.runner.target

    def ask(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        own: dict[int, tuple[Job, Job]] = {}

        def off() -> Iterator[Job]:
            for job in jobs:
                without = replace(job, env={**job.env, **NO_COMPILE})
                own[id(without)] = without, job
                yield without

        for answer in self.runner.ask(off()):
            yield replace(answer, job=own[id(answer.job)][1])


def needs_compile(test_id: str, wanted: Signature, device: Runner, limit_s: float) -> bool:
    """Whether the wanted failure is gone with torch.compile off; one run on the device."""
    run = run_once(Uncompiled(device), test_job(test_id, limit_s=limit_s))
    other = run.outcome.is_failure and run.failure is not None and not same_bug(wanted, run.failure)
    return run.outcome.is_pass or other


def compile_seen(failures: Sequence[Failure], knobs: Mapping[str, str]) -> Seen:
    """What a bucket's failures and the runs with one setting each say."""
    if knobs.get("no-compile") == "passes":
        return Seen.NEEDED
    inside = (DYNAMO in frame.path for failure in failures for frame in failure.frames)
    named = (failure.exception.startswith("torch._dynamo.") for failure in failures)
    return Seen.PERHAPS if any(named) or any(inside) else Seen.NO


def take_compile_road(errand: Errand, *, explain: bool = True) -> Road:
    """The shortest compiled function that fails as the test does, or why there is none.

    `explain` adds the grid of conditions.
    """
    errand.oracle.reference = Uncompiled(errand.reference)
    errand.say("compile road: keeping the graphs that are compiled")
    limit_s = errand.limit_s
    answer = asked(errand.device, Job("graph", {"test_id": errand.test_id, "seconds": limit_s}, 3 * limit_s))
    if answer.ended is not Ended.DONE:
        return Road(None, ended_badly(answer), 1)
    found = answer.value["trouble"]
    if found is None:
        return Road(None, _nothing(answer.value), 1)
    errand.say(
        f"compile road: a graph of {found['nodes'][0]} calls, {found['nodes'][1]} after {found['queries']} queries"
    )
    return _written(errand, found, explain)


def _nothing(value: Mapping[str, Any]) -> str:
    if not value["compiled"]:
        return "dynamo raised before it handed over a graph" if value["failures"] else "no graph was compiled"
    return f"none of the {value['compiled']} graphs fails compiled where it does not eagerly"


def _written(errand: Errand, found: Mapping[str, Any], explain: bool) -> Road:
    program = tuple(read_steps(found["calls"], errand.device.target.device))
    if not program:
        return Road(None, "the calls of the failing graph cannot be written down", 1)
    for shows in _shown(program, found):
        source = script_of(program, shows, errand.device.target.device)
        failure = _failure(errand, source)
        if failure is None or not _is_wanted(errand, failure, found):
            continue
        oracle = Aimed(errand.oracle, errand.wanted if same_bug(errand.wanted, failure) else sign(failure), failure)
        if oracle(source):
            return _shrunk(errand, program, shows, oracle, found, explain)
    return Road(None, "the failing graph does not fail so in a script of its own", 1)


def _shown(program: Program, found: Mapping[str, Any]) -> Iterator[Shows]:
    """Where the failure may show: the graph's results have other places than the function's."""
    count = len(results_of(program))
    whole = Shows(found["kind"], found["stage"], -1, found["options"])
    if found["kind"] == "state":
        yield from (replace(whole, output=place) for place in range(len(inputs_of(program))))
    elif count > 1 and (found["kind"] == "values" or found["stage"] != "call"):
        yield from (replace(whole, output=place) for place in range(count))
    else:
        yield whole


def _failure(errand: Errand, source: str) -> Failure | None:
    errand.oracle.runs += 1
    job = script_job(source, errand.device.target.device, limit_s=errand.oracle.limit_s)
    return run_once(errand.device, job).failure


def _is_wanted(errand: Errand, failure: Failure, found: Mapping[str, Any]) -> bool:
    """Fails as the test; or, where the test saw no error but its consequence, as the graph did."""
    if same_bug(errand.wanted, failure):
        return True
    if found["kind"] != "raised":
        return failure.exception.endswith("AssertionError")
    graph = Failure(errand.test_id, Phase.CALL, Outcome.FAILED, found["exception"], found["message"])
    return same_bug(sign(graph), failure)


def _shrunk(
    errand: Errand, program: Program, shows: Shows, oracle: Aimed, found: Mapping[str, Any], explain: bool
) -> Road:
    device = errand.device.target.device

    def write(candidate: Program, device: str) -> str:
        return script_of(candidate, shows, device)

    def write_call(call: Call) -> str:
        return write((replace(program[0], call=call),), device)

    errand.say("compile road: shrinking")
    program = shrink_program(program, device, oracle, write) if len(program) > 1 else program
    if len(program) > 1:
        program, when = _smaller(program, oracle, lambda candidate: write(candidate, device)), None
    else:
        shrink = Shrink(write_call, oracle)
        if not shrink.start(program[0].call):
            return Road(None, "the failing call does not fail so when it is compiled alone", 1)
        shrink.shrink()
        assert shrink.best is not None
        program = (replace(program[0], call=shrink.best),)
        when = _when(errand, shrink.best, write_call, oracle) if explain else None
    return _finished(errand, program, write(program, device), oracle, _says(found), when)


def _smaller(program: Program, oracle: Aimed, write: Callable[[Program], str]) -> Program:
    """Plain values, contiguous, without gradient, small: each for all calls at once."""
    for change in (plain_values, _flat, _small):
        candidate = tuple(replace(step, call=change(step.call)) for step in program)
        if candidate != program and oracle(write(candidate)):
            program = candidate
    return program


def _flat(call: Call) -> Call:
    return mapped(call, lambda tensor: replace(tensor, layout=CONTIGUOUS, requires_grad=False))


def _small(call: Call) -> Call:
    return resized(call, {size: SMALL for size in sizes(call) if size > SMALL})


def _when(errand: Errand, call: Call, write: Callable[[Call], str], oracle: Aimed) -> Conditions:
    errand.say("compile road: when it fails")
    return find_conditions(
        call, write, oracle.wanted, errand.device, errand.oracle.reference, limit_s=errand.oracle.limit_s, axes=AXES
    )


def _says(found: Mapping[str, Any]) -> tuple[str, str]:
    """(what happens, what should)."""
    if found["kind"] == "raised":
        lines = [line for line in found["message"].splitlines() if line.strip()]
        # The first line of a backend's error names only the backend.
        said = lines[1] if len(lines) > 1 and lines[0].startswith("backend=") else f"{found['exception']}: {lines[0]}"
        return said, RETURNS
    what = "other values than it gives eagerly" if found["kind"] == "values" else "another change of its input"
    return f"{what}: {found['said']}", AGREES


def _finished(
    errand: Errand, program: Program, source: str, oracle: Aimed, says: tuple[str, str], when: Conditions | None
) -> Road:
    """The draft, once it is certain that the same script passes on the device with torch.compile off."""
    job = script_job(source, errand.device.target.device, limit_s=errand.limit_s)
    run = run_once(Uncompiled(errand.device), job)
    runs = 2 + (when.runs if when else 0)
    if not run.outcome.is_pass:
        return Road(None, f"{program[-1].call.name} fails eagerly too", runs)
    draft = Draft(
        source=source,
        level=Level.OP if len(program) == 1 else Level.TRACE,
        operator=f"{program[-1].call.name} under torch.compile",
        actual=says[0],
        expected=says[1],
        condition="; ".join([ONLY_COMPILED, *([when.statement] if when and when.statement else [])]),
        conditions=(("mode: compiled", "fail"), ("mode: eager", "pass"), *(when.table if when else ())),
        cause_proven=PROOF,
        findings=tuple(errand.oracle.findings),
        wanted=oracle.wanted,
        traceback=oracle.traces.get(source, ""),
    )
    return Road(draft, "", runs)
