"""A script that somebody already has, reduced: it is run once to learn what it shows, then made smaller."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from tputriage.errors import InputError, TriageError
from tputriage.minimize.device_argument import argued, as_given
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.likeness import Likeness
from tputriage.minimize.names import ARGUMENT
from tputriage.minimize.reducing import reduce_source, tokens_of, tracer
from tputriage.minimize.reducing.sizes import parse
from tputriage.minimize.saying import run_script, said_by
from tputriage.minimize.steady import reduced_steadily
from tputriage.minimize.tidying import tidy
from tputriage.model import Failure, Outcome
from tputriage.signatures import sign
from tputriage.targets.seam import Runner

PARSES = "; it is run with its device as its only argument, so its parser must take that one, or be given no arguments"


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A script and what making it took."""

    source: str
    likeness: Likeness
    failure: Failure
    runs: int
    seconds: float
    tokens_before: int
    tokens: int
    findings: tuple[Failure, ...] = ()
    exhausted: bool = False  # whether the budget ended before the reducer did


def shrink_script(
    source: str,
    device: Runner,
    reference: Runner,
    *,
    limit_s: float,
    budget_s: float,
    on_better: Callable[[str], None] = lambda source: None,
    seed: int = 0,
    max_runs: int | None = None,
) -> Shrunk:
    """The smallest script found that fails on the device as this one does and passes on the reference.

    `limit_s` is for one run, `budget_s` for all. Raises InputError where the script cannot be told its device,
    TriageError where it does not fail on the device, or fails on the reference too.
    """
    started = time.monotonic()
    name = device.target.device
    check_compiles(source)
    start = argued(source, name)
    if start is None:
        raise InputError(f'the script must take its device as {ARGUMENT}, or say "{name}" in one place')
    failure = _failing(start, device, reference, limit_s)
    left_s = budget_s - (time.monotonic() - started)
    oracle = Interesting(
        sign(failure), device, reference, limit_s=limit_s, deadline_s=left_s, max_runs=max_runs, shown=failure
    )
    oracle.runs = 2
    trace, rounds = tracer(device, limit_s=limit_s, counted=lambda: counted(oracle)), count()

    def reduce(script: str, told: Callable[[str], None]) -> str:
        def better(smaller: str) -> None:
            told(smaller)
            on_better(as_given(smaller, name, source))

        if next(rounds):  # the way went back, behind what was the best so far
            on_better(as_given(script, name, source))
        return reduce_source(script, oracle, on_better=better, seed=seed, trace=trace)

    found = reduced_steadily(start, oracle, reduce)
    found = tidy(as_given(found, name, source))
    return Shrunk(
        found,
        oracle.likeness,
        failure,
        oracle.runs,
        time.monotonic() - started,
        tokens_of(source),
        tokens_of(found),
        tuple(oracle.findings),
        oracle.exhausted,
    )


def check_compiles(source: str) -> None:
    """Raises InputError; asked before anything is started."""
    if parse(source) is None:
        raise InputError("the script is no Python that compiles here: nothing to shrink")


def counted(oracle: Interesting) -> None:
    """A run that the oracle did not make, a trace, counts as one."""
    oracle.runs += 1


def _failing(source: str, device: Runner, reference: Runner, limit_s: float) -> Failure:
    found = run_script(source, device, limit_s)
    if found.failure is None or not found.outcome.is_failure:
        raise TriageError(f"the script does not fail on {device.target.name}: nothing to shrink")
    other = run_script(source, reference, limit_s)
    if other.outcome is not Outcome.PASSED:
        said = said_by(other.failure) if other.failure else other.last_words[-200:]
        advice = PARSES if "parse_args" in source and said.startswith("SystemExit") else ""
        raise TriageError(f"the script fails on {reference.target.name} too, so it shows no difference: {said}{advice}")
    return found.failure
