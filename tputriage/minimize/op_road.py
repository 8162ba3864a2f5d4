"""The op road: the one call that fails, found while the test runs, and shrunk to lines a person would write.

An error is written from the highest level that reproduces it: public function, the forward call whose backward
failed, a public function of the operator's name, the aten operator itself. Where no call raised the wanted
error, the results of every call are compared with CPU's instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tputriage.minimize import departures
from tputriage.minimize.aimed import Aimed
from tputriage.minimize.arguments import Call
from tputriage.minimize.cause import Proof, prove
from tputriage.minimize.conditions import AXES, Conditions, find_conditions
from tputriage.minimize.crashes import find_crash
from tputriage.minimize.departures import Departure, compare_calls
from tputriage.minimize.draft import Draft, Road
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.module_road import module_calls
from tputriage.minimize.shrinking import Shrink
from tputriage.minimize.suspects import Suspect, asked, calls_of, find_suspect, listen_to_history
from tputriage.minimize.trace_road import find_program, read_steps
from tputriage.minimize.trace_road import write as write_program
from tputriage.minimize.writing import script_of
from tputriage.model import Failure, Level, Signature
from tputriage.signatures import Kind, family_of, same_bug, sign
from tputriage.targets.runs import run_of, script_job
from tputriage.targets.seam import Runner

MOST_DEPARTURES = 5
RETURNS = "returns, as on CPU"
Say = Callable[[str], None]
Write = Callable[[Call], str]


@dataclass(frozen=True, slots=True)
class Trip:
    """What the whole road needs."""

    test_id: str
    wanted: Signature
    device: Runner
    reference: Runner
    oracle: Interesting
    limit_s: float
    say: Say
    on_better: Say
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A call that fails alone, as small as it got."""

    shrink: Shrink
    write: Write
    oracle: Aimed  # at what the script fails with: the bucket's signature, or its cause's
    actual: str
    expected: str
    names: tuple[str, ...]  # under which the test called it
    kind: Kind = Kind.EXCEPTION
    level: Level = Level.OP


def take_op_road(
    test_id: str,
    wanted: Signature,
    device: Runner,
    reference: Runner,
    interesting: Interesting,
    *,
    limit_s: float = 120.0,
    explain: bool = True,
    say: Say = lambda said: None,
    on_better: Say = lambda source: None,
    elsewhere: tuple[str, ...] = (),
) -> Road:
    """The shortest script that one call of the test gives, or why there is none.

    `explain` adds the counterfactual run and the grid of conditions. `on_better` gets every script that fails as
    wanted, each smaller than the one before. Calls `elsewhere` are done on CPU: the failure is one behind them.
    """
    trip = Trip(test_id, wanted, device, reference, interesting, limit_s, say, on_better, elsewhere)
    say("op road: listening to the test")
    found = find_suspect(test_id, wanted, device, limit_s, elsewhere)
    runs, suspect = found.runs, found.suspect
    if found.crashed:
        suspect, more = find_crash(test_id, wanted, device, limit_s)
        runs += more
    reason = "behind a call that is done on CPU no other call fails alone"
    if suspect is not None:
        shown = _show_error(trip, suspect)
        if shown is None and not elsewhere:
            return _trace(trip, suspect, runs)
    elif elsewhere:
        return Road(None, found.reason or reason, runs)
    else:
        say("op road: comparing every call with CPU")
        compared = compare_calls(test_id, device, limit_s)
        runs += 1
        shown = _show_departure(trip, compared.departures)
        reason = compared.reason or "no call that departs from CPU does so alone"
    if shown is None:
        return Road(None, reason, runs)
    return _explained(trip, shown, runs) if explain else Road(_draft(shown), "", runs)


def _show_error(trip: Trip, suspect: Suspect) -> Shown | None:
    device = trip.device.target.device
    wanted = trip.wanted if same_bug(trip.wanted, suspect.failure) else sign(suspect.failure)
    kind = family_of(suspect.failure).kind
    oracle = Aimed(trip.oracle, wanted, suspect.failure)

    def write(call: Call) -> str:
        return script_of(call, device)

    for call, level in _calls(suspect, device):
        if trip.elsewhere and len({tensor.on_device for tensor in call.tensors}) > 1:
            return None  # a tensor stayed where an earlier call was done: no fault of the device's
        shrink = Shrink(write, oracle, on_better=trip.on_better)
        if _shrunk(trip, shrink, call):
            actual = _actual(suspect.failure)
            return Shown(shrink, write, oracle, actual, RETURNS, suspect.names, kind, level)
    return None


def _calls(suspect: Suspect, device: str) -> Iterator[tuple[Call, Level]]:
    """What could be written, the shortest road first."""
    yield from ((call, Level.OP) for call in calls_of(suspect, device))
    yield from ((call, Level.MODULE) for call in module_calls(suspect, device))


def _actual(failure: Failure) -> str:
    first = (failure.message.strip().splitlines() or [""])[0]
    return f"{failure.exception}: {first}" if failure.exception else first


def _trace(trip: Trip, suspect: Suspect, runs: int) -> Road:
    """The call with what made its inputs, where it does not fail with fresh ones."""
    device, reason = trip.device.target.device, f"{', '.join(suspect.names) or 'the call'} alone does not fail"
    again, history = listen_to_history(trip.test_id, trip.wanted, trip.device, trip.limit_s)
    last = next(calls_of(again, device), None) if again else None
    if last is None:
        return Road(None, f"{reason}, and its arguments cannot be written down", runs + 1)
    oracle = Aimed(trip.oracle, trip.wanted, suspect.failure)
    program = find_program(read_steps(history, device), last, device, oracle, trip.say)
    if program is None:
        return Road(None, f"{reason}, nor does it with the calls that made its inputs", runs + 1)
    source = write_program(program, device)
    actual, trace = _actual(suspect.failure), oracle.traces.get(source, "")
    draft = Draft(source, Level.TRACE, last.name, actual, RETURNS, reason=reason, traceback=trace, wanted=trip.wanted)
    return Road(draft, "", runs + 1)


def _shrunk(trip: Trip, shrink: Shrink, call: Call) -> bool:
    trip.say(f"op road: {call.name}")
    if not shrink.start(call):
        return False
    shrink.shrink()
    trip.say(f"op road: {call.name}, {trip.oracle.runs} runs")
    return True


def _show_departure(trip: Trip, found: Sequence[Departure]) -> Shown | None:
    """The departure that fails as the test does; else the first that shows at all and is proven to be the cause."""
    tried = list(_failing(found, trip))
    tried.sort(key=lambda one: _strangeness(trip.wanted, one[2]))  # stable: the earliest departure stays first
    for departure, write, failure in tried:
        matches, names = same_bug(trip.wanted, failure), (departure.call.name,)
        if not matches and not prove(trip.test_id, trip.wanted, names, trip.device, trip.limit_s).said:
            continue
        oracle = Aimed(trip.oracle, trip.wanted if matches else sign(failure), failure)
        shrink = Shrink(write, oracle, on_better=trip.on_better)
        if _shrunk(trip, shrink, departure.call):
            return Shown(shrink, write, oracle, departure.says, "as on CPU", names, family_of(failure).kind)
    return None


def _failing(found: Sequence[Departure], trip: Trip) -> Iterator[tuple[Departure, Write, Failure]]:
    """(departure, writer of its script, how that fails), up to the first that fails as the test does."""
    for departure in found[:MOST_DEPARTURES]:
        for write in _writers(departure, trip.device.target.device):
            failure = _fails_as(write(departure.call), trip)
            if failure is not None:
                yield departure, write, failure
                if not _strangeness(trip.wanted, failure):
                    return


def _strangeness(wanted: Signature, failure: Failure) -> int:
    """0 where it fails just as the test does; all wrong numbers are one bug, but not one difference."""
    return 2 if not same_bug(wanted, failure) else int(sign(failure).family != wanted.family)


def _writers(departure: Departure, device: str) -> Iterator[Write]:
    for check in departures.checks_of(departure.kind):
        yield partial(_write_departure, departure, device, check)


def _write_departure(departure: Departure, device: str, check: str, call: Call) -> str:
    return departures.script_of(departure, call, device, check)


def _fails_as(source: str, trip: Trip) -> Failure | None:
    """How the script fails on the device, where it passes on the reference."""
    trip.oracle.runs += 2
    jobs = [
        script_job(source, runner.target.device, limit_s=trip.oracle.limit_s)
        for runner in (trip.device, trip.reference)
    ]
    run = run_of(asked(trip.device, jobs[0]), trip.device.target)
    other = run_of(asked(trip.reference, jobs[1]), trip.reference.target)
    return run.failure if other.failure is None else None


def _explained(trip: Trip, shown: Shown, runs: int) -> Road:
    trip.say("op road: proving the cause")
    proof = prove(trip.test_id, trip.wanted, shown.names, trip.device, trip.limit_s, trip.elsewhere)
    trip.say("op road: when it fails")
    best = shown.shrink.best
    assert best is not None
    axes = ("dtype",) if shown.kind is Kind.MISSING_OP else AXES
    when = find_conditions(
        best, shown.write, shown.oracle.wanted, trip.device, trip.reference, limit_s=trip.oracle.limit_s, axes=axes
    )
    return Road(_draft(shown, proof, when, tuple(trip.oracle.findings)), "", runs + proof.runs + when.runs)


def _draft(
    shown: Shown,
    proof: Proof | None = None,
    when: Conditions | None = None,
    findings: tuple[Failure, ...] = (),
) -> Draft:
    assert shown.shrink.best is not None
    return Draft(
        source=shown.shrink.source,
        level=shown.level,
        operator=shown.shrink.best.name,
        actual=shown.actual,
        expected=shown.expected,
        condition=when.statement if when else "",
        conditions=when.table if when else (),
        cause_proven=proof.said if proof else "",
        findings=findings + (proof.findings if proof else ()),
        behind=proof.findings if proof else (),
        moved=proof.name if proof else "",
        wanted=shown.oracle.wanted,
        traceback=shown.oracle.traces.get(shown.shrink.source, ""),
    )
