"""The worker from our side: starts it, feeds it jobs, hands on its answers, and leaves nothing behind.

What runs in the worker is tputriage/inside/, in the target's interpreter.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from tputriage.errors import InputError, TargetError
from tputriage.targets.seam import Answer, Ended, Job, Target

ENTRY = Path(__file__).parent.parent / "inside" / "main.py"
START_LIMIT_S = 900.0  # importing and collecting a large suite on a cold disk takes minutes
SLACK_S = 60.0  # a worker that is silent for so long after a job's limit is stuck itself
MOST_RESTARTS = 3
TAG = "TPUTRIAGE_WORKER"  # in the environment of all that a worker starts, so that nothing is left behind
LAST_WORDS = 4000


class Worker:
    """A `seam.Runner` over one worker process; starts at the first job, restarts a few times where it dies."""

    def __init__(
        self,
        target: Target,
        root: Path | None = None,
        files: Sequence[str] = (),
        *,
        device_env: str = "",
        env: Mapping[str, str] | None = None,
        pytest_args: Sequence[str] = (),
        slots: int | None = None,
        memory_bytes: int | None = None,
        start_limit_s: float = START_LIMIT_S,
    ) -> None:
        self._target = target
        self._root = root.resolve() if root else None
        self._slots = slots or target.slots
        self._device = {device_env: target.device} if device_env else {}
        self._env = dict(env or {})
        self._start_limit_s = start_limit_s
        self._process: _Process | None = None
        self._starts = 0
        self._versions: Mapping[str, str] = {}
        self._config = {
            "device": target.device,
            "plugin": target.plugin,
            "root": str(self._root or ""),
            "files": [_inside(self._root, path) for path in files],
            "pytest_args": list(pytest_args),
            "slots": self._slots,
            "memory_bytes": _memory_share(self._slots) if memory_bytes is None else memory_bytes,
        }

    @property
    def target(self) -> Target:
        return self._target

    @property
    def versions(self) -> Mapping[str, str]:
        """Of python, torch, torch_tpu, …; starts the worker where it does not run yet."""
        self._running()
        return self._versions

    @property
    def tests(self) -> tuple[str, ...]:
        """Node ids collected, in pytest's order; starts the worker where it does not run yet."""
        return self._running().tests

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the worker and all it started; the next job would start another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def ask(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        """See `seam.Runner.ask`. Raises TargetError where the worker cannot be started, or dies again and again."""
        source = iter(jobs)
        flying: dict[int, tuple[Job, float]] = {}
        numbers = itertools.count(1)
        exhausted = False
        try:
            while True:
                while not exhausted and len(flying) < self._slots:
                    job = next(source, None)
                    if job is None:
                        exhausted = True
                    else:
                        number = next(numbers)
                        flying[number] = (job, time.monotonic())
                        self._send(number, job)
                if not flying:
                    return
                yield from self._answers(flying)
        finally:
            self._cancel(flying)

    def _send(self, number: int, job: Job) -> None:
        message = {
            "id": number,
            "kind": job.kind,
            "payload": dict(job.payload),
            "limit_s": job.limit_s,
            "env": dict(job.env),
        }
        self._running().send(message)

    def _answers(self, flying: dict[int, tuple[Job, float]]) -> Iterator[Answer]:
        assert self._process is not None
        patience_s = max(sent + job.limit_s for job, sent in flying.values()) + SLACK_S - time.monotonic()
        message = self._process.receive(patience_s)
        if message is None:
            yield from self._lost(flying)
        elif message.get("id") in flying:
            job, _ = flying.pop(message["id"])
            yield _answer(job, message)

    def _lost(self, flying: dict[int, tuple[Job, float]]) -> Iterator[Answer]:
        assert self._process is not None
        words = self._process.last_words()
        self.close()
        lost = list(flying.values())
        flying.clear()
        for job, sent in lost:
            yield Answer(job, Ended.LOST, {}, time.monotonic() - sent, None, words)

    def _cancel(self, flying: Mapping[int, object]) -> None:
        if flying and self._process is not None:
            for number in flying:
                self._process.send({"cancel": number})

    def _running(self) -> _Process:
        if self._process is None:
            if self._starts > MOST_RESTARTS:
                raise TargetError(f"the worker on {self._target.name} died {self._starts} times and is given up")
            self._starts += 1
            self._process = self._start()
        return self._process

    def _start(self) -> _Process:
        env = {**os.environ, **QUIET, **self._target.env, **self._env, **self._device}
        process = _Process(self._target.python, env, self._root, self._config)
        try:
            process.check_ready(self._target, self._start_limit_s)
            self._versions = process.try_device(self._target)
        except BaseException:
            process.close()
            raise
        return process


# One thread in each child: children run side by side, and libgomp's pool of the parent is gone after a fork, so
# that a parallel region would wait for it for ever.
QUIET = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1", "TOKENIZERS_PARALLELISM": "false"}


class _Process:
    """The worker's process and the two pipes to it."""

    def __init__(self, python: str, env: Mapping[str, str], root: Path | None, config: Mapping[str, Any]) -> None:
        self._scratch = tempfile.mkdtemp(prefix="tputriage-")
        self._tag = os.path.basename(self._scratch)
        self._errors: BinaryIO = open(Path(self._scratch) / "worker.log", "w+b")  # noqa: SIM115 - lives as long as we do
        ours_in, theirs_out = os.pipe()
        theirs_in, self._out = os.pipe()
        self._in = ours_in
        try:
            self._popen = subprocess.Popen(
                [python, str(ENTRY), str(theirs_in), str(theirs_out)],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                pass_fds=(theirs_in, theirs_out),
                cwd=root or self._scratch,
                env={**env, TAG: self._tag},
                start_new_session=True,
            )
        except OSError as exc:
            raise TargetError(f"the interpreter {python} cannot be started: {exc}") from exc
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._in, selectors.EVENT_READ)
        self._buffer = b""
        self._messages: list[dict[str, Any]] = []
        self.tests: tuple[str, ...] = ()
        self.send({**config, "scratch": self._scratch})

    def send(self, message: Mapping[str, Any]) -> None:
        """Writes one line; a worker that is gone is noticed when its answer is awaited."""
        line = json.dumps(message).encode("ascii") + b"\n"
        with contextlib.suppress(BrokenPipeError):
            while line:
                line = line[os.write(self._out, line) :]

    def receive(self, patience_s: float) -> dict[str, Any] | None:
        """The next message, or None where the worker is gone or silent for longer than that."""
        deadline = time.monotonic() + patience_s
        while not self._messages:
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                return None
            data = os.read(self._in, 1 << 16)
            if not data:
                return None
            *lines, self._buffer = (self._buffer + data).split(b"\n")
            self._messages += [json.loads(line) for line in lines]
        return self._messages.pop(0)

    def check_ready(self, target: Target, limit_s: float) -> None:
        """Waits for the first message; raises TargetError with the reason where the worker does not come up."""
        message = self.receive(limit_s)
        if message is None or "ready" not in message:
            reason = (message or {}).get("refused") or self.last_words() or "it said nothing"
            raise TargetError(f"the worker on {target.name} does not start: {_one_line(reason)}")
        self.tests = tuple(message["ready"]["tests"])

    def try_device(self, target: Target) -> Mapping[str, str]:
        """Versions, from a child that used the device once; raises TargetError where it cannot be used."""
        job = {"id": 0, "kind": "versions", "payload": {"touch": True}, "limit_s": 300.0, "env": {}}
        self.send(job)
        message = self.receive(360.0) or {"ended": "lost", "last_words": self.last_words()}
        if message["ended"] != Ended.DONE:
            words = _one_line(message["last_words"]) or message["ended"]
            raise TargetError(f"the device of target {target.name} cannot be used: {words}")
        versions: Mapping[str, str] = message["value"]["versions"]
        return versions

    def last_words(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - LAST_WORDS))
        return self._errors.read().decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Asks the worker to end, then ends whatever carries its tag."""
        os.close(self._out)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(5)
        self._popen.kill()
        self._popen.wait()
        _end_tagged(self._tag)
        self._selector.close()
        os.close(self._in)
        self._errors.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _end_tagged(tag: str) -> None:
    """Ends every process that inherited this worker's environment: those that left its session too."""
    mark = f"{TAG}={tag}".encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in place.read_bytes().split(b"\0"):
                os.kill(int(place.parent.name), signal.SIGKILL)


def _answer(job: Job, message: Mapping[str, Any]) -> Answer:
    return Answer(
        job, Ended(message["ended"]), message["value"], message["seconds"], message["signal"], message["last_words"]
    )


def _inside(root: Path | None, path: str) -> str:
    """The file's absolute path; raises InputError for one that leaves the suite or looks like an option."""
    if root is None:
        raise InputError(f"{path} cannot be collected without the suite's folder: name it with --root DIR")
    resolved = (root / path).resolve()
    if path.startswith("-") or not resolved.is_relative_to(root):
        raise InputError(f"{path} is not a file inside {root}")
    return str(resolved)


def _one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else ""


def _memory_share(slots: int) -> int:
    """Bytes that one child may hold: its share of four fifths of what is free now; 0 (no bound) where unknown."""
    try:
        table = Path("/proc/meminfo").read_text("ascii")
    except OSError:
        return 0
    free_kib = next((int(line.split()[1]) for line in table.splitlines() if line.startswith("MemAvailable")), 0)
    return free_kib * 1024 * 4 // 5 // slots
