"""The settings that can make a `tpu-only` bucket pass, each a row: to add one, add a row.

Each is tried alone, in a run of its own, on the quickest test of the bucket. What makes the failure go away
says where it comes from; that a setting changes nothing says as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tputriage.compare.casebook import BLOCKING
from tputriage.compare.desk import Question, Side
from tputriage.compare.evidence import Seen, kind_of, quote, see
from tputriage.model import Run, Signature
from tputriage.signatures.families import Kind
from tputriage.targets.runs import NO_COMPILE

# Every name is read by torch or by torch_tpu 0.2.0 itself, except those with TPUTRIAGE in front: where the
# library offers a call and no variable, the worker makes the call (inside/).


# What a missing kernel refuses, it refuses under any setting but one, so it is not asked for the others.
ANY = frozenset(Kind) - {Kind.MISSING_OP}


@dataclass(frozen=True, slots=True)
class Knob:
    name: str
    env: Mapping[str, str]
    meaning: str  # half a sentence: what it says that the failure is gone with this setting
    bears_on: frozenset[Kind] = ANY  # the kinds of failure that it can make go away
    call: str = ""  # how a person makes it, where the library has no variable

    @property
    def how(self) -> str:
        """What to set, or to call, without tputriage."""
        return self.call or ", ".join(f"{name}={value}" for name, value in self.env.items())


KNOBS = (
    Knob("launch-blocking", BLOCKING, "it needs asynchronous execution"),
    Knob("no-deferral", {"TORCH_TPU_DEFER_AND_FUSE": "0"}, "it needs deferred and fused execution"),
    Knob(
        "matmul-highest",
        {"TPUTRIAGE_MATMUL_PRECISION": "highest"},
        "it is the lower float32 matmul precision, torch_tpu's default",
        frozenset({Kind.NUMERIC}),
        'torch.set_float32_matmul_precision("highest")',
    ),
    Knob(
        "cpu-fallback",
        {"TPUTRIAGE_CPU_FALLBACK": "1"},
        "it is an operator without a TPU kernel",
        frozenset(Kind),
        "torch_tpu._internal.execution_mode.enable_cpu_fallback = True",
    ),
    Knob("no-compile", NO_COMPILE, "it needs torch.compile"),
    Knob("debug-checks", {"TORCH_TPU_ENABLE_DEBUG_CHECKS": "1"}, "the debug checks change the program"),
)
# Not to make it pass: the C++ trace that torch_tpu's maintainers ask for.
CPP_TRACE: Mapping[str, str] = MappingProxyType({"TORCH_SHOW_CPP_STACKTRACES": "1"})


def knobs_for(wanted: Signature) -> tuple[Knob, ...]:
    """The settings that may bear on a bucket of this signature."""
    return tuple(knob for knob in KNOBS if kind_of(wanted) in knob.bears_on)


def questions(wanted: Signature, test_id: str, limit_s: float, *, masked: bool = False) -> list[Question]:
    """One run for each knob, and one for the C++ trace, in this order; `masked` adds launch-blocking to each."""
    settings = [*(knob.env for knob in knobs_for(wanted)), CPP_TRACE]
    always = BLOCKING if masked else {}
    return [Question(Side.DEVICE, test_id, limit_s, {**always, **env}) for env in settings]


def read(wanted: Signature, runs: Sequence[Run]) -> tuple[dict[str, str], str]:
    """({knob: what came of it}, half a sentence on what makes the failure go away) from the runs of `questions`."""
    asked = list(zip(knobs_for(wanted), runs, strict=False))
    gone = [f"{knob.name} ({knob.meaning})" for knob, run in asked if see(wanted, run) is Seen.PASSED]
    outcomes = {knob.name: _outcome(wanted, run) for knob, run in asked}
    return outcomes, f"it passes with {', '.join(gone)}" if gone else ""


def _outcome(wanted: Signature, run: Run) -> str:
    seen = see(wanted, run)
    if seen is Seen.SAME:
        return "fails alike"
    if seen is Seen.PASSED:
        return "passes"
    return f"{run.outcome.value}: {quote(run)}"
