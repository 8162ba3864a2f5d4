"""Which call of a test is to blame: for errors by listening to one run, for wrong results by comparing each call.

A suspect is a captured call and the words to say about it; whether it fails alone is for the oracle to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tputriage.minimize.arguments import Call
from tputriage.minimize.reading import read_call
from tputriage.model import Failure, Outcome, Phase, Signature
from tputriage.signatures import Kind, family_of, same_bug
from tputriage.targets.runs import Subject, asked, death_message, failure_of
from tputriage.targets.seam import Answer, Ended, Job, Runner

# Public calls that only start the backward pass: the call to blame is one of the forward pass.
STARTERS = ("backward", "torch.autograd.grad")
INDICES = "_with_indices"  # of the functions behind `F.max_pool2d(x, 2, return_indices=True)`
# Calls that read a result: an error that comes up in one was made by an earlier call.
READERS = (".cpu", ".item", ".tolist", ".numpy", ".to", "__bool__", "__float__", "__int__", "__repr__", "__index__")


@dataclass(frozen=True, slots=True)
class Suspect:
    """An error that a call raised while the test ran."""

    failure: Failure
    record: Mapping[str, Any]  # an entry of "raised", see inside/kinds/capture.py
    deferred: bool = False  # it only shows where the device is made to finish each call

    @property
    def is_reader(self) -> bool:
        return any(call["level"] == "public" and call["name"].endswith(READERS) for call in self.record["calls"])

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the test called it, the outermost first."""
        ordered = sorted(self.record["calls"], key=lambda call: call["level"] != "public")
        return tuple(call["name"] for call in ordered if call["name"] and not call["name"].endswith(STARTERS))


@dataclass(frozen=True, slots=True)
class Found:
    """What listening gave: the suspect, or why there is none; and how many runs it took."""

    suspect: Suspect | None
    runs: int
    reason: str = ""
    crashed: bool = False  # the test took the process with it


def find_suspect(
    subject: Subject, wanted: Signature, device: Runner, limit_s: float, elsewhere: Sequence[str] = ()
) -> Found:
    """The call that raised the wanted error. A late error is looked for once more with launch-blocking.

    Calls `elsewhere` are done on CPU, so that the test comes to what is behind them.
    """
    answer = asked(device, Job("capture", {**subject, "elsewhere": list(elsewhere)}, limit_s))
    suspects, reason = _heard(answer, subject)
    runs, first = 1, _match(suspects, wanted)
    if first is None and not reason and suspects:
        # Errors came up, but others: some functions take another way where a dispatch mode looks on.
        suspects, reason = listen(subject, device, limit_s, operators=False, elsewhere=list(elsewhere))
        runs, first = 2, _match(suspects, wanted)
    if reason:
        return Found(None, runs, reason, crashed=answer.ended is Ended.CRASH)
    if first is None:
        return Found(None, runs, "no torch call of the test raised the wanted error")
    if not first.is_reader and not _is_secondary(first.failure):
        return Found(first, runs)
    blocked, _ = listen(subject, device, limit_s, blocking=True, elsewhere=list(elsewhere))
    causes = (suspect for suspect in blocked if not _is_secondary(suspect.failure) and not suspect.is_reader)
    cause = next(causes, None)
    return Found(replace(cause, deferred=True) if cause else first, runs + 1)


def _match(suspects: Sequence[Suspect], wanted: Signature) -> Suspect | None:
    return next((suspect for suspect in suspects if same_bug(wanted, suspect.failure)), None)


def _is_secondary(failure: Failure) -> bool:
    return family_of(failure).kind is Kind.SECONDARY


def listen(subject: Subject, device: Runner, limit_s: float, **how: bool | list[str]) -> tuple[list[Suspect], str]:
    """(errors that calls raised in one run of the test, why there is nothing)."""
    return _heard(asked(device, Job("capture", {**subject, **how}, limit_s)), subject)


def _heard(answer: Answer, subject: Subject) -> tuple[list[Suspect], str]:
    if answer.ended is not Ended.DONE:
        return [], ended_badly(answer)
    return _suspects(answer, subject), ""


def _suspects(answer: Answer, subject: Subject) -> list[Suspect]:
    failures = [failure_of(record, answer.value) for record in answer.value["failures"]]
    return [Suspect(_told(record, failures, subject), record) for record in answer.value["raised"]]


def listen_to_history(
    subject: Subject, wanted: Signature, device: Runner, limit_s: float
) -> tuple[Suspect | None, list[Mapping[str, Any]]]:
    """The suspect once more, with the last public calls before it and what each made, all numbered in one run."""
    answer = asked(device, Job("capture", {**subject, "history": True}, limit_s))
    if answer.ended is not Ended.DONE:
        return None, []
    return _match(_suspects(answer, subject), wanted), list(answer.value["history"])


def ended_badly(answer: Answer) -> str:
    last = death_message(answer.last_words, answer.signal) if answer.ended is Ended.CRASH else answer.last_words
    said = (last.strip().splitlines() or ["no word was left"])[-1]
    return f"the test ended by {answer.ended} while it was listened to: {said}"


def _told(record: Mapping[str, Any], failures: Sequence[Failure], subject: Subject) -> Failure:
    """The failure with frames where the error reached the end of a phase; else what is known of it."""
    for failure in failures:
        if (failure.exception, failure.message) == (record["exception"], record["message"]):
            return failure
    return Failure(str(subject.get("test_id", "")), Phase.CALL, Outcome.FAILED, record["exception"], record["message"])


def calls_of(suspect: Suspect, device: str) -> Iterator[Call]:
    """What could be written for the suspect, the highest level first."""
    for record in _written_down(suspect.record):
        call = read_call(record, device)
        if call.is_expressible:
            then = record.get("then", ".cpu()" if suspect.deferred else "")
            yield replace(call, then=then, index=record.get("index", -1))


def _without_indices(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The public function, which gives the values alone."""
    names = list(record["parameters"])
    end = names.index("return_indices") if "return_indices" in names else len(names)
    kwargs = {key: value for key, value in record["kwargs"].items() if key != "return_indices"}
    name = record["name"].removesuffix(INDICES)
    return {**record, "name": name, "args": record["args"][:end], "kwargs": kwargs}


def _differentiable(made: Any) -> int:
    """Which of several results a gradient goes through; -1 where there is one."""
    if not isinstance(made, Mapping) or made["is"] not in ("tuple", "list"):
        return -1
    grown = [isinstance(item, Mapping) and bool(item.get("requires_grad")) for item in made["items"]]
    return grown.index(True) if True in grown else -1


def _written_down(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    by_level = {call["level"]: call for call in record["calls"]}
    public, aten, forward = by_level.get("public"), by_level.get("aten"), record["forward"]
    if public is not None and not public["name"].endswith(STARTERS):
        if public["name"].endswith(INDICES):
            yield _without_indices(public)
        yield public
    if forward is not None:
        if forward["name"].endswith(INDICES):  # not public: what gives the values alone is
            yield {**_without_indices(forward), "then": "backward"}
        yield {**forward, "then": "backward", "index": _differentiable(forward.get("made"))}
    if aten is not None:
        for name in aten["also"]:
            yield {**aten, "name": name}
        yield aten
