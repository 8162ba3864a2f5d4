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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from tputriage.console import log
from tputriage.errors import TargetError
from tputriage.model import Failure, Outcome, Phase, Run
from tputriage.targets.chips import every_chip, hold_chip
from tputriage.targets.runs import death_message, failure_of, run_on, stack_frames
from tputriage.targets.seam import Target

ENTRY = Path(__file__).parent.parent / "inside" / "main.py"
LAST_WORDS = 16_000
_running: set[int] = set()  # process groups of scripts under way, whichever thread waits for them
START_S = 60.0  # importing torch and torch_tpu on a busy machine; comes on top of the script's own limit


def run_script(target: Target, path: Path, *, limit_s: float, times: int = 1, start_s: float = START_S) -> list[Run]:
    """The script on the target, `times` times, each in a fresh process that is told the device.

    `start_s` is for starting up, on top of the script's own limit. Raises TargetError where the interpreter
    cannot be started at all. On hardware it has one chip to itself.
    """
    hold = hold_chip(target.chips, own=True) if target.chips else None
    try:
        pinned = replace(target, env={**target.env, **hold.env}) if hold else target
        return [_run_once(pinned, path, limit_s, start_s) for _ in range(times)]
    finally:
        if hold:
            hold.release()


def end_running() -> None:
    """Ends the scripts that other threads wait for: an interrupt reaches the main thread alone."""
    for pid in tuple(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def launch(
    target: Target,
    argv: Sequence[str],
    *,
    module: bool = False,
    env: Mapping[str, str] | None = None,
    redirect: str = "",
) -> int:
    """Runs a script, or with `module` a module, with our own standard streams; its exit code, as a shell has it.

    `env` is for what the caller's own environment does not set: a suite's device switch, for one. `redirect` is
    the device's name that the suite has hard-coded, where it has. On hardware the chips are held meanwhile, so that no
    worker of ours is on them.
    """
    environ = {**(env or {}), **os.environ}
    with every_chip(target.chips), _started(target, argv, module, env=environ, redirect=redirect) as process:
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
    target: Target,
    argv: Sequence[str],
    module: bool,
    files: tuple[BinaryIO, BinaryIO, BinaryIO] | None = None,
    env: Mapping[str, str] = os.environ,
    redirect: str = "",
) -> subprocess.Popen[bytes]:
    """The process; `files` take its stdout, its stderr and the record of what it raised, else both are ours."""
    config = {"argv": list(argv), "module": module, "device": target.device, "plugin": target.plugin}
    config["redirect"] = redirect
    theirs, ours = os.pipe()
    record = [files[2].fileno()] if files else []
    try:
        process = subprocess.Popen(
            [target.python, str(ENTRY), "launch", str(theirs), *map(str, record)],
            pass_fds=(theirs, *record),
            env={**env, **target.env, **({"PYTHONFAULTHANDLER": "1"} if files else {})},
            stdin=subprocess.DEVNULL if files else None,
            stdout=files[0] if files else None,
            stderr=files[1] if files else None,
            start_new_session=files is not None,
        )
    except OSError as exc:
        os.close(ours)
        raise TargetError(f"the interpreter {target.python} cannot be started: {exc}") from exc
    finally:
        os.close(theirs)
    with contextlib.suppress(BrokenPipeError), os.fdopen(ours, "wb") as pipe:
        pipe.write(json.dumps(config).encode("ascii"))
    return process


def _run_once(target: Target, path: Path, limit_s: float, start_s: float) -> Run:
    started = time.monotonic()
    argv = (str(path.resolve()), target.device)
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as words, tempfile.TemporaryFile() as record:
        code = _wait(_started(target, argv, False, (printed, words, record)), limit_s + start_s)
        text, said, raised = _end_of(words), _end_of(printed), _end_of(record)
    outcome = _outcome(code, recorded=bool(raised))
    log(f"fresh {target.name}", "%s: %s after %.2f s", path.name, outcome, time.monotonic() - started)
    number = -code if code is not None and code < 0 else None
    run = Run(
        test_id=path.name,
        target=target.name,
        outcome=outcome,
        seconds=round(time.monotonic() - started, 4),
        signal=number,
        last_words="" if outcome is Outcome.PASSED else text,
        command=shlex.join([*run_on(target), str(path), target.device]),
    )
    if outcome is Outcome.FAILED:
        return replace(run, failure=failure_of(json.loads(raised), {"output": said, "duration_s": run.seconds}))
    return run if outcome is Outcome.PASSED else replace(run, failure=_told(run, text, code, limit_s))


def _end_of(file: BinaryIO) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_WORDS))
    return file.read().decode("utf-8", "replace")


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> int | None:
    """The exit code; None where the limit came first. The whole process group is gone afterwards."""
    _running.add(process.pid)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _running.discard(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _outcome(code: int | None, *, recorded: bool) -> Outcome:
    """What left past Python with a code of its own, as `os._exit` does, made no record: it died, as in a worker."""
    if code is None:
        return Outcome.TIMEOUT
    return Outcome.PASSED if not code else Outcome.FAILED if code > 0 and recorded else Outcome.CRASH


def _told(run: Run, text: str, code: int | None, limit_s: float) -> Failure:
    """What the end of stderr tells of a process that had no time for a record."""
    if code is None:
        message = f"did not end within {limit_s:g} s"
    else:
        left = "" if code < 0 else f"\nthe process left with exit code {code} before its result was known"
        message = death_message(text + left, run.signal)
    return Failure(
        test_id=run.test_id,
        phase=Phase.CRASH if run.outcome is Outcome.CRASH else Phase.CALL,
        outcome=run.outcome,
        message=message,
        frames=stack_frames(text),
        text=text,
        duration_s=run.seconds,
        signal=run.signal,
    )
