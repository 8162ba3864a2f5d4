"""Tests that need several chips: how one says so that was given a single one. To add a way, add a row.

A suite skips such a test where it counts too few devices, or the test fails when it names a device that is not
there; both are only this machine's own doing, where each worker sees one chip.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tputriage.targets.seam import Answer, Ended


@dataclass(frozen=True, slots=True)
class Say:
    """A way to say it; the example must match, the counterexample must not."""

    pattern: re.Pattern[str]
    example: str
    counterexample: str


_DEVICES = r"(?:torch |tpu |cuda |hardware )?(?:accelerator|device|gpu|tpu|xpu|chip)s"
SAYS = (
    Say(  # transformers, diffusers, accelerate, peft
        re.compile(rf"\brequires (?:multiple|several|at least [2-9]) {_DEVICES}\b", re.I),
        "test requires multiple hardware accelerators",
        "test requires a hardware accelerator",
    ),
    Say(  # PyTorch's device-generic tests
        re.compile(rf"\bfewer than [2-9] {_DEVICES}\b", re.I),
        "fewer than 2 devices detected",
        "fewer than 2 arguments given",
    ),
    Say(  # PyTorch's distributed tests
        re.compile(rf"\bneed(?:s)? at least [2-9] {_DEVICES}\b", re.I),
        "Need at least 2 CUDA devices",
        "need at least 2 tensors",
    ),
    Say(
        re.compile(r"\binvalid device ordinal\b", re.I),
        "invalid device ordinal",
        "invalid dimension",
    ),
    Say(  # torch_tpu
        re.compile(r"\binvalid world_size configuration: expected 1 or\b", re.I),
        "Invalid world_size configuration: expected 1 or 4, but got 2. Please check your environment variables.",
        "world_size must be positive",
    ),
)


def is_named(test: str, patterns: Sequence[str]) -> bool:
    """Whether one of the settings' patterns is about this node id; a bracket is a bracket, as ids are full of them."""
    return any(fnmatch.fnmatchcase(test, pattern.replace("[", "[[]")) for pattern in patterns)


def needs_several(answer: Answer) -> bool:
    """Whether what came of a job on one chip says that it wants more of them."""
    if answer.ended is not Ended.DONE or answer.value.get("outcome") not in ("skipped", "failed", "error"):
        return False
    told = [str(answer.value.get("reason", "")), *(str(one["message"]) for one in answer.value.get("failures", ()))]
    return any(say.pattern.search(text) for say in SAYS for text in told)
