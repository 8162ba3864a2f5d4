"""Proof of cause: the original test once more with only the suspected call done on CPU.

What must go away is the wanted failure, not every failure: where another follows, it is a finding of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tputriage.model import Failure, Signature
from tputriage.signatures import same_bug, spoken
from tputriage.targets.runs import Subject, asked, failure_of
from tputriage.targets.seam import Ended, Job, Runner


@dataclass(frozen=True, slots=True)
class Proof:
    """What the counterfactual run showed."""

    said: str  # "" where it proves nothing
    name: str = ""  # the call that was done on CPU
    findings: tuple[Failure, ...] = ()
    runs: int = 0


def prove(
    subject: Subject,
    wanted: Signature,
    names: Sequence[str],
    device: Runner,
    limit_s: float,
    also: Sequence[str] = (),
) -> Proof:
    """The first of `names` whose calls, done on CPU, make the wanted failure go away.

    `also` are calls done there anyway, where the failure is one behind another.
    """
    for number, name in enumerate(names, 1):
        job = Job("counterfactual", {**subject, "name": name, "also": list(also)}, limit_s)
        answer = asked(device, job)
        if answer.ended is not Ended.DONE or not answer.value["moved"]:
            continue
        failures = [failure_of(record, answer.value) for record in answer.value["failures"]]
        if any(same_bug(wanted, failure) for failure in failures):
            continue
        return Proof(_said(name, answer.value["moved"], failures), name, tuple(failures), number)
    return Proof("", runs=len(names))


def _said(name: str, moved: int, failures: Sequence[Failure]) -> str:
    times = "call" if moved == 1 else f"{moved} calls"
    called = spoken(name)
    done = f"with only the test's {times} to {called if called in name else f'`{called}`'} done on CPU, it"
    if not failures:
        return f"{done} passes"
    first = (failures[0].message.strip().splitlines() or [""])[0][:160]
    return f"{done} no longer fails so; it then stops at {failures[0].exception}: {first}"
