"""Whose check raised a failure: the suite's or library's own check of the device, or a call into torch.

A check is a `raise` or `assert` statement in Python code outside torch, whose words are about which devices
are supported. It passes on CPU because CPU is among them, and still is no bug of TorchTPU's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tputriage.model import Bucket, Failure, Frame, Run
from tputriage.signatures import family_of
from tputriage.signatures.families import Kind

_TORCH = re.compile(r"(^|[/\\])(torch|torch_tpu|functorch)[/\\](?!.*[/\\]tests?[/\\])")
_STATEMENT = re.compile(r"\s*>?\s*(raise|assert|self\.(assert\w+|fail)|pytest\.fail)\b")
# What C++ says about other devices is torch's answer to a call, whatever line made it.
_NATIVE = re.compile(r"could not run 'aten::|operator 'aten::|expected all tensors to be on the same device", re.I)
_NATIVE_TYPES = frozenset({"RuntimeError", "NotImplementedError", "IndexError"})
LINE_SHOWN = 200


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """A way in which suites check the device; `example` is a message it must match."""

    name: str
    pattern: re.Pattern[str]
    example: str


_TPU = r"(?:device\(type=)?'tpu(?::\d+)?'(?:, index=\d+)?\)?"
CHECKS = (
    DeviceCheck(
        "knows only other accelerators",
        re.compile(r"\b(cuda|xpu|mps|npu|rocm|hpu|gpus?)\b", re.I),
        "Using streams for data transfer requires a CUDA device, or an Intel XPU device.",
    ),
    DeviceCheck(
        "finds no accelerator",
        re.compile(
            r"\baccelerator\b.*\b(not found|not available|required)|\b(no|requires? an?) accelerator\b", re.I | re.S
        ),
        "`enable_model_cpu_offload` requires accelerator, but not found",
    ),
    DeviceCheck(
        "does not know this device",
        re.compile(
            r"\b(unsupported|unknown|invalid|unrecognized|unexpected) (device|backend|accelerator)\b"
            r"|\b(device|backend)\b.*\bnot (supported|recognized|known|implemented)\b"
            r"|\btpu\b.*\bnot (supported|recognized|known)\b",
            re.I | re.S,
        ),
        "Unsupported device: tpu",
    ),
    DeviceCheck(
        "compares a device with and without its number",
        re.compile(rf"{_TPU}\s*(==|!=|is not|is)\s*{_TPU}"),
        "assert device(type='tpu', index=0) == device(type='tpu')",
    ),
)


def deciding_line(bucket: Bucket, runs: Sequence[Run] = ()) -> str:
    """ "path:line: source (what the check does)" of the check that raised; "" where none did."""
    seen = [run.failure for run in runs if run.failure is not None]
    for failure in (*seen, *bucket.failures):
        line = _line(failure)
        if line:
            return line
    return ""


def _line(failure: Failure) -> str:
    frame = failure.frames[-1] if failure.frames else None
    kind = family_of(failure).kind
    if kind is Kind.SUITE:
        return _place(frame, failure, "the message is known for one")
    # A mismatch may name the devices whose results it compares; what is wrong is the numbers.
    if kind is Kind.NUMERIC or not _is_check(frame, failure):
        return ""
    words = f"{failure.message}\n{frame.text if frame else ''}"
    check = next((check for check in CHECKS if check.pattern.search(words)), None)
    return _place(frame, failure, check.name) if check else ""


def _is_check(frame: Frame | None, failure: Failure) -> bool:
    """Raised by a statement of Python code outside torch; without a traceback nothing is said."""
    if frame is None or _TORCH.search(frame.path) or _NATIVE.search(failure.message):
        return False
    return _STATEMENT.match(frame.text) is not None if frame.text else True


def _place(frame: Frame | None, failure: Failure, why: str) -> str:
    if frame is None:
        return f"{failure.message.strip().splitlines()[0][:LINE_SHOWN]} ({why})"
    text = frame.text.strip().removeprefix(">").strip() or f"{failure.exception}: {failure.message}".split("\n")[0]
    return f"{frame.path}:{frame.line}: {text[:LINE_SHOWN]} ({why})"


def raised_in_torch(runs: Sequence[Run]) -> str:
    """Where torch, or a call into it, raised the failure; "" where a statement of other code did."""
    for run in runs:
        failure = run.failure
        if failure is None or not failure.frames:
            continue
        frame = failure.frames[-1]
        text = frame.text.strip().removeprefix(">").strip()
        native = failure.exception.rpartition(".")[2] in _NATIVE_TYPES and text and not _STATEMENT.match(text)
        if _TORCH.search(frame.path) or native:
            return f"{frame.path}:{frame.line}: {text[:LINE_SHOWN]}".rstrip(": ")
    return ""
