"""The domain's words as frozen values. Standard library only; nothing here does anything.

Progress is a new value (`dataclasses.replace`), never a changed one. "Could not tell" is a value with a
reason (`VerdictKind.UNDECIDED`, `ReproStatus.UNVERIFIED`), not an exception and not a silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum


class Outcome(StrEnum):
    """How one test ended, in pytest's words, with what pytest cannot say added at the end."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    RERUN = "rerun"
    CRASH = "crash"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"  # the run did not happen; the reason is in the failure's message

    @property
    def is_failure(self) -> bool:
        return self in (Outcome.FAILED, Outcome.ERROR, Outcome.CRASH, Outcome.TIMEOUT)

    @property
    def is_pass(self) -> bool:
        return self in (Outcome.PASSED, Outcome.XPASSED, Outcome.XFAILED)


class Phase(StrEnum):
    """Where in its life a test failed; CRASH is xdist's `???`, a process that died under the test."""

    COLLECT = "collect"
    SETUP = "setup"
    CALL = "call"
    TEARDOWN = "teardown"
    CRASH = "crash"


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback, outermost first in every tuple of frames."""

    path: str
    line: int
    function: str = ""
    text: str = ""  # the source line, where the report shows it


@dataclass(frozen=True, slots=True)
class Failure:
    """One phase of one test that did not pass."""

    test_id: str  # pytest's node id, exactly as pytest wrote it
    phase: Phase
    outcome: Outcome
    exception: str = ""  # type name, with its module where the report says it; "" where unknown
    message: str = ""  # without the type in front
    frames: tuple[Frame, ...] = ()
    text: str = ""  # the whole longrepr, without xdist's first line, cut in its middle where huge
    captured: str = ""  # stdout, stderr and log of the phase, the end kept
    duration_s: float = 0.0
    operator: str = ""  # aten or public operator, once a later step has found it
    signal: int | None = None
    causes: tuple[str, ...] = ()  # "Type: message" of chained exceptions, nearest first


@dataclass(frozen=True, slots=True)
class Report:
    """What one pytest run said."""

    source: str  # the file's name as given
    format: str  # the name of the module in formats/ that read it
    digest: str  # sha256 of the bytes, so that a report given twice counts once
    tests: Mapping[str, Outcome]  # by node id, in the order they ran
    failures: tuple[Failure, ...]
    outcomes: Mapping[str, int] = field(default_factory=dict)  # as counted by the run itself, where it does
    collected: int = 0
    root: str = ""  # pytest's rootdir on the machine of the run
    created_s: float = 0.0  # Unix time
    duration_s: float = 0.0
    exit_code: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)  # torch, torch_tpu, libtpu, python, …
    notes: tuple[str, ...] = ()  # what was odd, lost or salvaged, each a sentence for a person


@dataclass(frozen=True, slots=True)
class Signature:
    """What makes two failures the same bug. `key` is its identity; `version` names the rules that made it."""

    version: int
    family: str  # a row of signatures/families.py, or "exception"
    exception: str
    template: str  # the message, normalised
    operator: str = ""
    origin: tuple[str, ...] = ()  # file:function of the frames or the C++ trace that count
    key: str = ""  # hex digest over the above, made by signatures.sign


@dataclass(frozen=True, slots=True)
class Bucket:
    """The failures that share a signature: the unit that is compared, minimized and filed."""

    id: str  # "b" and the first ten hex digits of the key it was first stored under
    signature: Signature
    title: str  # at most 110 characters
    failures: tuple[Failure, ...]
    aliases: tuple[str, ...] = ()  # keys under which older rules, or a cause found later, know it

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(failure.test_id for failure in self.failures))

    @property
    def representative(self) -> str:
        """The test that finished fastest: the cheapest witness."""
        return min(self.failures, key=lambda failure: failure.duration_s).test_id


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of one test, or one script, on one target."""

    test_id: str
    target: str
    outcome: Outcome
    failure: Failure | None = None
    seconds: float = 0.0
    signal: int | None = None
    knobs: Mapping[str, str] = field(default_factory=dict)  # environment set for this run only
    last_words: str = ""  # end of stderr, where the process died
    command: str = ""  # what a person types to repeat it
    versions: Mapping[str, str] = field(default_factory=dict)  # as in Report, where the run was of what is installed


class VerdictKind(StrEnum):
    TPU_ONLY = "tpu-only"
    EVERYWHERE = "everywhere"
    SUITE = "suite"
    FLAKY = "flaky"
    NOT_REPRODUCED = "not-reproduced"
    INFRA = "infra"
    UNDECIDED = "undecided"  # nothing was rerun yet, or the runs do not decide; the reason says which


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the runs of a bucket say."""

    kind: VerdictKind
    reason: str  # one sentence
    runs: tuple[Run, ...] = ()
    failed: int = 0  # on the device, of `total` runs
    total: int = 0
    interval: tuple[float, float] = (0.0, 1.0)  # 95 % Wilson interval of the failure rate
    knobs: Mapping[str, str] = field(default_factory=dict)  # knob name -> outcome with that one setting
    matrix: tuple[tuple[str, str], ...] = ()  # (column, outcome in words), for people


class ReproStatus(StrEnum):
    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    NOT_REPRODUCED = "not-reproduced"


class Level(StrEnum):
    """The road that gave the repro, shortest first."""

    OP = "op"
    MODULE = "module"
    TRACE = "trace"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Repro:
    """A standalone script that fails on the target and passes on CPU, and the record of its verification."""

    bucket: str
    test_id: str
    status: ReproStatus
    level: Level
    source: str = ""  # the script's text
    script: str = ""  # where it was written
    lines: int = 0  # of code, without header, comments and blank lines
    tokens: int = 0
    oracle_runs: int = 0  # executions on any target, the capturing run included
    seconds: float = 0.0
    targets: Mapping[str, str] = field(default_factory=dict)  # target -> "pass" | "fail"
    imports: tuple[str, ...] = ()  # top-level packages outside the standard library
    reason: str = ""  # why it is not verified, or what stood in the way of a shorter road
    wanted: Signature | None = None  # what the script fails with, where not in the bucket's own words
    operator: str = ""  # the operator or public function at fault, where one is
    actual: str = ""  # last line of what happens on the device
    expected: str = ""  # what CPU does
    condition: str = ""  # when it fails, one sentence
    conditions: tuple[tuple[str, str], ...] = ()  # (variation, "fail" | "pass" | "error: …")
    traceback: str = ""
    cpp_trace: str = ""
    reliability: tuple[int, int] = (0, 0)  # fresh processes that failed as wanted, of how many
    cause_proven: str = ""  # what the counterfactual run showed; "" where none was made
    findings: tuple[Failure, ...] = ()  # failures of another kind met on the way
    versions: Mapping[str, str] = field(default_factory=dict)
    asks_device: str = ""  # how the script itself tells its device apart, so that the failure may be its own choice


class Action(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    COMMENT = "comment"
    REOPEN = "reopen"
    CLOSE = "close"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class TrackedIssue:
    """An issue as the tracker has it."""

    number: int
    title: str
    body: str
    state: str  # "open" | "closed"
    labels: tuple[str, ...] = ()
    author: str = ""
    state_reason: str = ""  # "completed" | "not_planned" | "duplicate" | "reopened" | ""
    created_s: float = 0.0
    updated_s: float = 0.0
    closed_s: float = 0.0
    url: str = ""
    repository: str = ""  # owner/name; "" for the plan's own repository
    duplicate_of: int | None = None  # where it was closed as a duplicate and says of which


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a filing plan."""

    action: Action
    bucket: str
    title: str
    reason: str
    issue: int | None = None
    labels: tuple[str, ...] = ()
    body: str = ""
    comment: str = ""  # posted beside the action, where it changes an issue's state
    repository: str = ""
    state_reason: str = ""  # of a close: "completed" | "duplicate"


@dataclass(frozen=True, slots=True)
class Filing:
    """One write to the tracker that must not happen twice, as the ledger keeps it."""

    key: str  # what is written where: "create:owner/name:bucket", "comment:owner/name:number:occasion"
    bucket: str
    repository: str
    state: str  # "intent" | "sent" (perhaps received) | "done"
    number: int | None = None  # of the issue, once it is known
    floor: int = 0  # the highest issue number there was before it was sent
    at_s: float = 0.0  # Unix time of this state


@dataclass(frozen=True, slots=True)
class Sighting:
    """A bucket met in one report: its history is a tuple of these, in the order of the versions tested."""

    report: str
    created_s: float
    versions: Mapping[str, str]
    tests: int  # how many tests of the bucket failed in it
    target: str = ""

    @property
    def place(self) -> str:
        """When, with which version and in which report, for people."""
        day = f"{datetime.fromtimestamp(self.created_s, UTC):%Y-%m-%d}, " if self.created_s else ""
        version = self.versions.get("torch_tpu", "")
        return f"{day}{f'torch_tpu {version}, ' if version else ''}{self.report.rpartition('/')[2]}"


@dataclass(frozen=True, slots=True)
class Dossier:
    """All that is known of one bucket: what showing, reporting and filing read."""

    bucket: Bucket
    verdict: Verdict | None = None
    repro: Repro | None = None
    history: tuple[Sighting, ...] = ()
    issue: int | None = None  # the number the ledger remembers
    fixed_in: str = ""  # torch_tpu version in which `verify` saw it pass
    verifications: tuple[Run, ...] = ()
