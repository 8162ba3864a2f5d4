"""Scripts in processes of their own, without a fork server: what verifies a repro, and `tputriage run`."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from tputriage.errors import TargetError
from tputriage.model import Failure, Frame, Outcome, Phase, Run
from tputriage.targets.runs import death_message, stack_frames
from tputriage.targets.seam import Target

ENTRY = Path(__file__).parent.parent / "inside" / "main.py"
LAST_WORDS = 16_000
START_S = 60.0  # importing torch and torch_tpu on a busy machine; comes on top of the script's own limit


def run_script(target: Target, path: Path, *, limit_s: float, times: int = 1) -> list[Run]:
    """The script on the target, `times` times, each in a fresh process that is told the device.

    Raises TargetError where the interpreter cannot be started at all.
    """
    return [_run_once(target, path, limit_s) for _ in range(times)]


def launch(target: Target, argv: Sequence[str], *, module: bool = False) -> int:
    """Runs a script, or with `module` a module, with our own standard streams; its exit code, as a shell has it."""
    with _started(target, argv, module) as process:
        code = _wait_through_interrupts(process)
    return code if code >= 0 else 128 - code


def _wait_through_interrupts(process: subprocess.Popen[bytes]) -> int:
    """Ctrl-C reaches the program too, which is in our process group: it decides what happens."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def _started(
    target: Target, argv: Sequence[str], module: bool, streams: tuple[BinaryIO, BinaryIO] | None = None
) -> subprocess.Popen[bytes]:
    config = {"argv": list(argv), "module": module, "device": target.device, "plugin": target.plugin}
    theirs, ours = os.pipe()
    try:
        process = subprocess.Popen(
            [target.python, str(ENTRY), "launch", str(theirs)],
            pass_fds=(theirs,),
            env={**os.environ, **target.env, **({"PYTHONFAULTHANDLER": "1"} if streams else {})},
            stdin=subprocess.DEVNULL if streams else None,
            stdout=streams[0] if streams else None,
            stderr=streams[1] if streams else None,
            start_new_session=streams is not None,
        )
    except OSError as exc:
        os.close(ours)
        raise TargetError(f"the interpreter {target.python} cannot be started: {exc}") from exc
    finally:
        os.close(theirs)
    with contextlib.suppress(BrokenPipeError), os.fdopen(ours, "wb") as pipe:
        pipe.write(json.dumps(config).encode("ascii"))
    return process


def _run_once(target: Target, path: Path, limit_s: float) -> Run:
    started = time.monotonic()
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as words:
        process = _started(target, (str(path.resolve()), target.device), False, (printed, words))
        code = _wait(process, limit_s + START_S)
        text = _end_of(words)
    outcome = _outcome(code)
    number = -code if code is not None and code < 0 else None
    return Run(
        test_id=path.name,
        target=target.name,
        outcome=outcome,
        failure=None if outcome is Outcome.PASSED else _failure(path.name, outcome, text, number, limit_s),
        seconds=round(time.monotonic() - started, 4),
        signal=number,
        last_words=text if outcome is not Outcome.PASSED else "",
        command=shlex.join(["tputriage", "run", "--target", target.name, str(path), target.device]),
    )


def _end_of(file: BinaryIO) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_WORDS))
    return file.read().decode("utf-8", "replace")


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> int | None:
    """The exit code; None where the limit came first. The whole process group is gone afterwards."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _outcome(code: int | None) -> Outcome:
    if code is None:
        return Outcome.TIMEOUT
    return Outcome.CRASH if code < 0 else Outcome.FAILED if code else Outcome.PASSED


def _failure(test_id: str, outcome: Outcome, text: str, number: int | None, limit_s: float) -> Failure:
    """Told from the traceback, or the native dump, at the end of the output."""
    if outcome is Outcome.FAILED:
        exception, message = _last_exception(text)
    else:
        exception = ""
        message = death_message(text, number) if outcome is Outcome.CRASH else f"did not end within {limit_s:g} s"
    return Failure(
        test_id=test_id,
        phase=Phase.CRASH if outcome is Outcome.CRASH else Phase.CALL,
        outcome=outcome,
        exception=exception,
        message=message,
        frames=stack_frames(text) if outcome is not Outcome.FAILED else _traceback(text),
        text=text,
        signal=number,
    )


def _last_exception(text: str) -> tuple[str, str]:
    """(type, message) of the last traceback; the last line where there is none, as after `sys.exit("…")`."""
    _, found, rest = text.rpartition("Traceback (most recent call last):\n")
    lines = rest.splitlines()
    first = next((number for number, line in enumerate(lines) if line and not line.startswith(" ")), None)
    if not found or first is None:
        return "", text.strip().rpartition("\n")[2]
    exception, _, message = lines[first].partition(": ")
    return exception, "\n".join([message, *lines[first + 1 :]]).strip()


def _traceback(text: str) -> tuple[Frame, ...]:
    _, _, rest = text.rpartition("Traceback (most recent call last):\n")
    frames = []
    lines = rest.splitlines()
    for place, following in zip(lines, [*lines[1:], ""], strict=True):
        parts = place.strip().split('"')
        if place.startswith('  File "') and len(parts) == 3:
            line, _, function = parts[2].removeprefix(", line ").partition(", in ")
            frames.append(Frame(parts[1], int(line), function, following.strip()))
    return tuple(frames)
