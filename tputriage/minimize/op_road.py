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
from tputriage.minimize.errand import Errand
from tputriage.minimize.module_road import module_calls
from tputriage.minimize.shrinking import Shrink, make_in_layout
from tputriage.minimize.suspects import Suspect, calls_of, find_suspect, listen_to_history
from tputriage.minimize.trace_road import find_program, read_steps
from tputriage.minimize.trace_road import write as write_program
from tputriage.minimize.writing import script_of
from tputriage.model import Failure, Level, Signature
from tputriage.signatures import Kind, family_of, same_bug, sign
from tputriage.targets.runs import run_once, script_job

MOST_DEPARTURES = 5
# Wrong numbers lead to none of these, so no call is to blame that did not raise it.
NUMBERLESS = frozenset(
    {"AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "NotImplementedError", "UnboundLocalError"}
)
RETURNS = "returns, as on CPU"
Write = Callable[[Call], str]


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


def take_op_road(errand: Errand, *, explain: bool = True) -> Road:
    """The shortest script that one call of the test gives, or why there is none.

    `explain` adds the counterfactual run and the grid of conditions.
    """
    subject, wanted, device, limit_s = errand.subject, errand.wanted, errand.device, errand.limit_s
    errand.say(f"op road: listening to the {errand.what}")
    found = find_suspect(subject, wanted, device, limit_s, errand.elsewhere)
    runs, suspect = found.runs, found.suspect
    if found.crashed:
        suspect, more = find_crash(subject, wanted, device, limit_s)
        runs += more
    reason = "behind a call that is done on CPU no other call fails alone"
    if suspect is not None:
        shown = _show_error(errand, suspect)
        if shown is None and not errand.elsewhere:
            return _trace(errand, suspect, runs)
    elif errand.elsewhere or (wanted.exception.rpartition(".")[2] in NUMBERLESS and not found.crashed):
        return Road(None, found.reason or reason, runs)
    else:
        errand.say("op road: comparing every call with CPU")
        compared = compare_calls(subject, device, limit_s)
        runs += 1
        shown = _show_departure(errand, compared.departures)
        reason = compared.reason or "no call that departs from CPU does so alone"
    if shown is None:
        return Road(None, reason, runs)
    return _explained(errand, shown, runs) if explain else Road(_draft(shown), "", runs)


def _show_error(errand: Errand, suspect: Suspect) -> Shown | None:
    device = errand.device.target.device
    wanted = errand.wanted if same_bug(errand.wanted, suspect.failure) else sign(suspect.failure)
    kind = family_of(suspect.failure).kind
    oracle = Aimed(errand.oracle, wanted, suspect.failure)

    def write(call: Call) -> str:
        return script_of(call, device)

    for call, level in _calls(suspect, device):
        if errand.elsewhere and len({tensor.on_device for tensor in call.tensors}) > 1:
            return None  # a tensor stayed where an earlier call was done: no fault of the device's
        shrink = Shrink(write, oracle, on_better=errand.on_better)
        if _shrunk(errand, shrink, call):
            make_in_layout(shrink)
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


def _trace(errand: Errand, suspect: Suspect, runs: int) -> Road:
    """The call with what made its inputs, where it does not fail with fresh ones."""
    device, reason = errand.device.target.device, f"{', '.join(suspect.names) or 'the call'} alone does not fail"
    again, history = listen_to_history(errand.subject, errand.wanted, errand.device, errand.limit_s)
    last = next(calls_of(again, device), None) if again else None
    if last is None:
        return Road(None, f"{reason}, and its arguments cannot be written down", runs + 1)
    oracle = Aimed(errand.oracle, errand.wanted, suspect.failure)
    program = find_program(read_steps(history, device), last, device, oracle, errand.say)
    if program is None:
        return Road(None, f"{reason}, nor does it with the calls that made its inputs", runs + 1)
    source = write_program(program, device)
    actual, trace = _actual(suspect.failure), oracle.traces.get(source, "")
    draft = Draft(source, Level.TRACE, last.name, actual, RETURNS, reason=reason, traceback=trace, wanted=errand.wanted)
    return Road(draft, "", runs + 1)


def _shrunk(errand: Errand, shrink: Shrink, call: Call) -> bool:
    errand.say(f"op road: {call.name}")
    if not shrink.start(call):
        return False
    shrink.shrink()
    errand.say(f"op road: {call.name}, {errand.oracle.runs} runs")
    return True


def _show_departure(errand: Errand, found: Sequence[Departure]) -> Shown | None:
    """The departure that fails as the test does; else the first that shows at all and is proven to be the cause."""
    tried = list(_failing(found, errand))
    tried.sort(key=lambda one: _strangeness(errand.wanted, one[2]))  # stable: the earliest departure stays first
    for departure, write, failure in tried:
        matches, names = same_bug(errand.wanted, failure), (departure.call.name,)
        if not matches and not prove(errand.original, errand.wanted, names, errand.device, errand.limit_s).said:
            continue
        oracle = Aimed(errand.oracle, errand.wanted if matches else sign(failure), failure)
        shrink = Shrink(write, oracle, on_better=errand.on_better)
        if _shrunk(errand, shrink, departure.call):
            return Shown(shrink, write, oracle, departure.says, "as on CPU", names, family_of(failure).kind)
    return None


def _failing(found: Sequence[Departure], errand: Errand) -> Iterator[tuple[Departure, Write, Failure]]:
    """(departure, writer of its script, how that fails), up to the first that fails as the test does."""
    for departure in found[:MOST_DEPARTURES]:
        for write in _writers(departure, errand.device.target.device):
            failure = _fails_as(write(departure.call), errand)
            if failure is not None:
                yield departure, write, failure
                if not _strangeness(errand.wanted, failure):
                    return


def _strangeness(wanted: Signature, failure: Failure) -> int:
    """0 where it fails just as the test does; all wrong numbers are one bug, but not one difference."""
    return 2 if not same_bug(wanted, failure) else int(sign(failure).family != wanted.family)


def _writers(departure: Departure, device: str) -> Iterator[Write]:
    for check in departures.checks_of(departure.kind):
        yield partial(_write_departure, departure, device, check)


def _write_departure(departure: Departure, device: str, check: str, call: Call) -> str:
    return departures.script_of(departure, call, device, check)


def _fails_as(source: str, errand: Errand) -> Failure | None:
    """How the script fails on the device, where it passes on the reference."""
    errand.oracle.runs += 2
    jobs = [
        script_job(source, runner.target.device, limit_s=errand.oracle.limit_s)
        for runner in (errand.device, errand.reference)
    ]
    run = run_once(errand.device, jobs[0])
    other = run_once(errand.reference, jobs[1])
    return run.failure if other.failure is None else None


def _explained(errand: Errand, shown: Shown, runs: int) -> Road:
    errand.say("op road: proving the cause")
    proof = prove(errand.original, errand.wanted, shown.names, errand.device, errand.limit_s, errand.elsewhere)
    errand.say("op road: when it fails")
    best = shown.shrink.best
    assert best is not None
    axes = ("dtype",) if shown.kind is Kind.MISSING_OP else AXES
    when = find_conditions(
        best,
        shown.write,
        shown.oracle.wanted,
        errand.device,
        errand.reference,
        limit_s=errand.oracle.limit_s,
        axes=axes,
    )
    return Road(_draft(shown, proof, when, tuple(errand.oracle.findings)), "", runs + proof.runs + when.runs)


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
