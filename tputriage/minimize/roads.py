"""The roads in order, shortest first, and what makes their draft a repro: fresh processes on both targets."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tputriage.minimize.compile_road import Seen, needs_compile, take_compile_road
from tputriage.minimize.draft import Draft, Road
from tputriage.minimize.errand import Errand
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.measure import code_lines, code_tokens, third_party_imports
from tputriage.minimize.memory import Memory
from tputriage.minimize.names import tells_the_device
from tputriage.minimize.randomness import REASON, asks_chance, fails_by_chance
from tputriage.minimize.shortcut import call_road
from tputriage.minimize.test_road import take_test_road
from tputriage.model import Bucket, Failure, Level, Repro, ReproStatus, Run, Signature
from tputriage.signatures import Kind, same_bug, sign
from tputriage.signatures.families import BY_NAME
from tputriage.targets.seam import Runner

VERIFICATIONS = 3  # fresh processes on the device: 3 of 3 puts a failure's rate over 37 % with 95 % confidence
TRACEBACK = "Traceback (most recent call last):"
SCRIPT = re.compile(r'File "[^"]*/repros/[^"/]+\.py"')
OP_SHARE = 0.5  # of the budget, so that the longer roads have a turn


@dataclass(frozen=True, slots=True)
class Case:
    """What is to be shrunk, and where."""

    test_id: str
    wanted: Signature
    device: Runner
    reference: Runner
    limit_s: float
    budget_s: float
    on_progress: Callable[[str], None] = lambda said: None
    on_better: Callable[[str], None] = lambda source: None
    memory: Memory = field(default_factory=Memory)
    asks: int = 1  # how often a script that passes is asked, where the failure is a flake: see `flakes`
    elsewhere: tuple[str, ...] = ()  # calls done on CPU: the failure is one that the test comes to behind them
    compiles: Seen = Seen.NO  # whether torch.compile takes part in the failure


@dataclass
class Trip:
    """How far one case has come: counted across its roads."""

    case: Case
    runs: int = 0
    reasons: list[str] = field(default_factory=list)
    findings: dict[str, Failure] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    def oracle(self, share: float) -> Interesting:
        """An oracle with its share of what is left of the budget."""
        case = self.case
        left = max(1.0, case.budget_s - (time.monotonic() - self.started))
        return Interesting(
            case.wanted,
            case.device,
            case.reference,
            limit_s=case.limit_s,
            deadline_s=left * share,
            asks=case.asks,
            memory=case.memory,
        )

    def errand(self, oracle: Interesting) -> Errand:
        """One road's, with an oracle of its own."""
        case = self.case
        return Errand(
            case.test_id,
            case.wanted,
            case.device,
            case.reference,
            oracle,
            case.limit_s,
            case.on_progress,
            case.on_better,
            case.elsewhere,
        )


def take_roads(case: Case) -> tuple[Draft | None, Trip]:
    """The first road's draft that fails as wanted; None where no road gave one, the trip says why."""
    trip = Trip(case)
    for road, share in _roads(trip):
        oracle = trip.oracle(share)
        taken = road(trip.errand(oracle))
        trip.runs += taken.runs + oracle.runs
        trip.findings |= {finding.message: finding for finding in oracle.findings}
        if taken.draft is not None:
            return replace(taken.draft, reason="; ".join(trip.reasons) or taken.draft.reason), trip
        trip.reasons.append(taken.reason)
        if _by_chance(trip):
            break
    return None, trip


def _by_chance(trip: Trip) -> bool:
    """A script that only shows that two devices draw different numbers is no repro."""
    case = trip.case
    if not asks_chance(trip.reasons[-1]):
        return False
    trip.runs += 1
    found = fails_by_chance(case.test_id, case.device, case.limit_s)
    trip.reasons += [REASON] if found else []
    return found


def _roads(trip: Trip) -> tuple[tuple[Callable[[Errand], Road], float], ...]:
    """The roads with their shares of what is left; listening to single calls switches torch.compile off."""
    case = trip.case
    if case.elsewhere or case.compiles is Seen.NO or not _only_compiled(trip):
        return (call_road, OP_SHARE), (_test_road, 1.0)
    return (take_compile_road, OP_SHARE), (_compiled_test_road, 1.0)


def _only_compiled(trip: Trip) -> bool:
    case = trip.case
    if case.compiles is Seen.NEEDED:
        return True
    trip.runs += 1
    return needs_compile(case.test_id, case.wanted, case.device, case.limit_s)


def _test_road(errand: Errand) -> Road:
    if errand.elsewhere:
        return Road(None, "the test as a script stops at the failure before this one")
    return take_test_road(errand)


def _compiled_test_road(errand: Errand) -> Road:
    return take_test_road(errand, calls=False)


def _wanted(case: Case, draft: Draft, runs: Sequence[Run]) -> Signature:
    """What the script fails with: its own words where it has some, the error shown where the bucket names no cause."""
    family = BY_NAME.get(case.wanted.family)
    failure = next((run.failure for run in runs if run.failure is not None), None)
    if draft.wanted is not None or not failure or not family or family.kind is not Kind.SECONDARY:
        return draft.wanted or case.wanted
    return sign(failure)


def judge_fresh(wanted: Signature, runs: Sequence[Run]) -> str:
    """ "fail" where every run failed as wanted, "pass" where every run passed, else "other"."""
    failed = [run.failure is not None and same_bug(wanted, run.failure) for run in runs]
    if runs and all(failed):
        return "fail"
    return "pass" if runs and all(run.outcome.is_pass for run in runs) else "other"


def settle(
    bucket: Bucket, draft: Draft, trip: Trip, source: str, device_runs: Sequence[Run], reference_runs: Sequence[Run]
) -> Repro:
    """The repro that a draft is once its script was run in fresh processes."""
    case, wanted = trip.case, _wanted(trip.case, draft, device_runs)
    targets = {
        case.device.target.name: _word(judge_fresh(wanted, device_runs), device_runs),
        case.reference.target.name: _word(judge_fresh(wanted, reference_runs), reference_runs),
    }
    verified = list(targets.values()) == ["fail", "pass"] and judge_fresh(wanted, device_runs) == "fail"
    failing = sum(run.failure is not None and same_bug(wanted, run.failure) for run in device_runs)
    return Repro(
        bucket=bucket.id,
        test_id=case.test_id,
        status=ReproStatus.VERIFIED if verified else ReproStatus.UNVERIFIED,
        level=draft.level,
        source=source,
        lines=code_lines(source),
        tokens=code_tokens(source),
        oracle_runs=trip.runs + len(device_runs) + len(reference_runs),
        seconds=round(time.monotonic() - trip.started, 1),
        targets=targets,
        imports=third_party_imports(source),
        reason=draft.reason if verified else _why_unverified(device_runs, reference_runs, wanted),
        wanted=wanted,
        operator=draft.operator,
        actual=draft.actual,
        expected=draft.expected,
        condition=draft.condition,
        conditions=draft.conditions,
        # The script's own traceback is what whoever pastes it will see.
        traceback=next((_traceback(run) for run in device_runs if run.failure), draft.traceback),
        reliability=(failing, len(device_runs)),
        cause_proven=draft.cause_proven,
        asks_device=tells_the_device(source, case.device.target.device) if draft.level is Level.TEST else "",
        findings=tuple(draft.findings) or tuple(trip.findings.values()),
    )


def _traceback(run: Run) -> str:
    """What the script printed from its last traceback on, without the chatter before it and the folder it lay in."""
    text = run.failure.text if run.failure else ""
    start = text.rfind(TRACEBACK)
    return SCRIPT.sub('File "repro.py"', text[max(start, 0) :])


def not_reproduced(bucket: Bucket, trip: Trip) -> Repro:
    """What is kept where no road gave a script: the reasons, so that nobody has to ask."""
    return Repro(
        bucket=bucket.id,
        test_id=trip.case.test_id,
        status=ReproStatus.NOT_REPRODUCED,
        level=Level.TEST,
        oracle_runs=trip.runs,
        seconds=round(time.monotonic() - trip.started, 1),
        reason="; ".join(reason for reason in trip.reasons if reason),
        wanted=bucket.signature,
        findings=tuple(trip.findings.values()),
    )


def _word(judged: str, runs: Sequence[Run]) -> str:
    """ "pass" or "fail": a run that failed in another way failed."""
    return "pass" if judged == "pass" or not any(run.outcome.is_failure for run in runs) else "fail"


def _why_unverified(device_runs: Sequence[Run], reference_runs: Sequence[Run], wanted: Signature) -> str:
    passed = sum(run.outcome.is_pass for run in device_runs)
    if any(not run.outcome.is_pass for run in reference_runs):
        failure = next((run.failure for run in reference_runs if run.failure), None)
        return f"in a fresh process it fails on the reference too: {failure.message[:200] if failure else 'no word'}"
    if passed:
        return f"in fresh processes it passed {passed} of {len(device_runs)} times on the device"
    other = next((run.failure for run in device_runs if run.failure and not same_bug(wanted, run.failure)), None)
    return f"in a fresh process it fails in another way: {other.message[:200] if other else 'no word'}"
