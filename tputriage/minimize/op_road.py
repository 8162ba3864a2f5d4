"""The op road: the one call that fails, found while the test runs, and shrunk to lines a person would write.

The test runs once with every torch call listened to. The call that raised the wanted error is written from the
highest level that reproduces it: public function, the forward call whose backward failed, a public function
of the operator's name, the aten operator itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tputriage.minimize.arguments import Call, read_call
from tputriage.minimize.draft import Draft, Road
from tputriage.minimize.shrinking import Oracle, Shrink
from tputriage.minimize.writing import script_of
from tputriage.model import Failure, Level, Outcome, Phase, Signature
from tputriage.signatures import Kind, family_of, same_bug, sign
from tputriage.targets.runs import failure_of
from tputriage.targets.seam import Ended, Job, Runner

BLOCKING: Mapping[str, str] = {"TORCH_TPU_LAUNCH_BLOCKING": "1"}
# Public calls that only start the backward pass: the call to blame is one of the forward pass.
STARTERS = ("backward", "grad")
Retarget = Callable[[Signature], Oracle]


@dataclass(frozen=True, slots=True)
class Suspect:
    """An error that a call raised while the test ran."""

    failure: Failure
    record: Mapping[str, Any]  # an entry of "raised", see inside/kinds/capture.py
    deferred: bool = False  # it only shows where the device is made to finish each call


@dataclass(frozen=True, slots=True)
class Capture:
    """What listening to one run of the test gave."""

    suspects: tuple[Suspect, ...]
    failure: Failure | None
    reason: str = ""  # why nothing was captured
    calls: int = 0


def take_op_road(
    test_id: str,
    wanted: Signature,
    device: Runner,
    oracle: Oracle,
    *,
    limit_s: float = 120.0,
    retarget: Retarget | None = None,
    on_progress: Callable[[str], None] = lambda said: None,
) -> Road:
    """The shortest script that one captured call of the test gives, or why there is none.

    `retarget` makes an oracle for another signature: a secondary error names no cause, and the cause found
    with launch-blocking is what is minimized then.
    """
    on_progress("op road: listening to the test")
    suspect, runs, reason = find_suspect(test_id, wanted, device, limit_s)
    if suspect is None:
        return Road(None, reason, runs)
    ask = oracle
    if suspect.deferred and retarget is not None and not same_bug(wanted, suspect.failure):
        ask = retarget(sign(suspect.failure))
    for call, level in levels(suspect, device.target.device):
        shrink = Shrink(lambda call: script_of(call, device.target.device), ask)
        on_progress(f"op road: {call.name}")
        if shrink.start(call):
            shrink.shrink()
            return Road(_draft(shrink, suspect, level), runs=runs)
    called = ", ".join(dict.fromkeys(call["name"] for call in suspect.record["calls"] if call["name"]))
    return Road(None, f"{called or 'the failing call'} alone does not fail with the captured arguments", runs)


def find_suspect(test_id: str, wanted: Signature, device: Runner, limit_s: float) -> tuple[Suspect | None, int, str]:
    """(the call that raised the wanted error, runs this took, why there is none)."""
    first = capture(test_id, device, limit_s)
    for suspect in first.suspects:
        if same_bug(wanted, suspect.failure):
            return suspect, 1, ""
    if first.reason:
        return None, 1, first.reason
    blocked = capture(test_id, device, limit_s, BLOCKING)
    for suspect in blocked.suspects:
        cause = family_of(suspect.failure).kind is not Kind.SECONDARY
        if same_bug(wanted, suspect.failure) or (cause and _is_secondary(wanted)):
            return replace(suspect, deferred=True), 2, ""
    return None, 2, "no torch call of the test raised the wanted error"


def _is_secondary(wanted: Signature) -> bool:
    return wanted.family.startswith("secondary")


def capture(test_id: str, device: Runner, limit_s: float, env: Mapping[str, str] | None = None) -> Capture:
    """One run of the test with every torch call listened to."""
    job = Job("capture", {"test_id": test_id}, limit_s, dict(env or {}))
    answer = next(iter(device.ask([job])))
    if answer.ended is not Ended.DONE:
        last = _last(answer.last_words)
        return Capture((), None, f"the test ended by {answer.ended} while it was listened to: {last}")
    value = answer.value
    failures = [failure_of(record, value) for record in value["failures"]]
    suspects = tuple(Suspect(_told(record, failures, test_id), record) for record in value["raised"])
    return Capture(suspects, failures[0] if failures else None, "", value["calls"])


def _told(record: Mapping[str, Any], failures: Sequence[Failure], test_id: str) -> Failure:
    """The failure with frames where the error reached the end of a phase; else what is known of it."""
    for failure in failures:
        if (failure.exception, failure.message) == (record["exception"], record["message"]):
            return failure
    return Failure(test_id, Phase.CALL, Outcome.FAILED, record["exception"], record["message"])


def levels(suspect: Suspect, device: str) -> Iterator[tuple[Call, Level]]:
    """What could be written, the highest level first."""
    for record in _written_down(suspect.record):
        call = read_call(record, device)
        if call.is_expressible:
            yield replace(call, then=record.get("then", ".cpu()" if suspect.deferred else "")), Level.OP


def _written_down(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    by_level = {call["level"]: call for call in record["calls"]}
    public, aten, forward = by_level.get("public"), by_level.get("aten"), record["forward"]
    if public is not None and not public["name"].endswith(STARTERS):
        yield public
    if forward is not None:
        yield {**forward, "then": "backward"}
    if aten is not None:
        for name in aten["also"]:
            yield {**aten, "name": name}
        yield aten


def _draft(shrink: Shrink, suspect: Suspect, level: Level) -> Draft:
    assert shrink.best is not None
    message = suspect.failure.message.strip().splitlines() or [""]
    return Draft(
        source=shrink.source,
        level=level,
        operator=shrink.best.name,
        actual=f"{suspect.failure.exception}: {message[0]}",
        expected="the call returns, as it does on CPU",
        traceback=suspect.failure.text,
    )


def _last(words: str) -> str:
    lines = words.strip().splitlines()
    return lines[-1] if lines else "no word was left"
