"""The worker from our side: starts it, feeds it jobs, hands on its answers, and leaves nothing behind.

What runs in the worker is tputriage/inside/, in the target's interpreter.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tputriage.console import log
from tputriage.errors import InputError, TargetError
from tputriage.targets.chips import Hold, chips, hold_chip
from tputriage.targets.process import QUIET, Process
from tputriage.targets.seam import Answer, Ended, Job, Target

START_LIMIT_S = 900.0  # importing and collecting a large suite on a cold disk takes minutes
SLACK_S = 60.0  # a worker that is silent for so long after a job's limit is stuck itself
MOST_RESTARTS = 3


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
        self._process: Process | None = None
        self._hold: Hold | None = None
        self._starts = 0
        self._versions: Mapping[str, str] = {}
        self._config = {
            "device": target.device,
            "plugin": target.plugin,
            "root": str(self._root or ""),
            "files": [_inside(self._root, path) for path in files],
            "pytest_args": list(pytest_args),
            "slots": self._slots,
            "late": False,
            "switch": device_env,
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
        if self._hold is not None:
            self._hold.release()
            self._hold = None

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
        log(f"worker {self._target.name}", "job %d is %s, limit %g s", number, _in_words(job), job.limit_s)

    def _answers(self, flying: dict[int, tuple[Job, float]]) -> Iterator[Answer]:
        assert self._process is not None
        patience_s = max(sent + job.limit_s for job, sent in flying.values()) + SLACK_S - time.monotonic()
        message = self._process.receive(patience_s)
        if message is None:
            yield from self._lost(flying)
        elif message.get("id") in flying:
            job, _ = flying.pop(message["id"])
            self._told(message)
            yield _answer(job, message)

    def _told(self, message: Mapping[str, Any]) -> None:
        said = message["value"].get("outcome", "")
        ended = f"{message['ended']}, {said}" if said else message["ended"]
        log(f"worker {self._target.name}", "job %d: %s after %.2f s", message["id"], ended, message["seconds"])

    def _lost(self, flying: dict[int, tuple[Job, float]]) -> Iterator[Answer]:
        assert self._process is not None
        words = self._process.last_words()
        log(f"worker {self._target.name}", "is gone, with %d jobs: %s", len(flying), words[-500:])
        self.close()
        lost = list(flying.values())
        flying.clear()
        for job, sent in lost:
            yield Answer(job, Ended.LOST, {}, time.monotonic() - sent, None, words)

    def _cancel(self, flying: Mapping[int, object]) -> None:
        if flying and self._process is not None:
            for number in flying:
                self._process.send({"cancel": number})

    def _running(self) -> Process:
        if self._process is None:
            if self._starts > MOST_RESTARTS:
                raise TargetError(f"the worker on {self._target.name} died {self._starts} times and is given up")
            self._starts += 1
            if self._target.device == "tpu" and not self._target.plugin:
                self._hold = hold_chip(max(1, chips()))
            try:
                self._process = self._start()
            except BaseException:
                self.close()
                raise
        return self._process

    def _start(self) -> Process:
        log(f"worker {self._target.name}", "starts: %s, %d at once", self._target.python, self._slots)
        pinned = self._hold.env if self._hold else {}
        env = {**os.environ, **QUIET, **self._target.env, **pinned, **self._env, **self._device}
        process = Process(self._target.python, env, self._root, self._config)
        try:
            if not process.is_ready(self._target, self._start_limit_s):
                # Collecting this suite uses the device: each child has to collect for itself, slower.
                process.close()
                self._config["late"], tests = True, process.tests
                process = Process(self._target.python, env, self._root, self._config)
                process.is_ready(self._target, self._start_limit_s)
                process.tests = tests
            self._versions = process.try_device(self._target)
        except BaseException:
            process.close()
            raise
        return process


def _answer(job: Job, message: Mapping[str, Any]) -> Answer:
    return Answer(
        job, Ended(message["ended"]), message["value"], message["seconds"], message["signal"], message["last_words"]
    )


def _in_words(job: Job) -> str:
    """The kind, what it is about, and the settings of this run alone."""
    source = str(job.payload.get("source", ""))
    about = job.payload.get("test_id") or (f"of {len(source.splitlines())} lines" if source else "")
    return " ".join(map(str, (job.kind, about, *(f"{name}={value}" for name, value in job.env.items()))))


def _inside(root: Path | None, path: str) -> str:
    """The file's absolute path; raises InputError for one that leaves the suite or looks like an option."""
    if root is None:
        raise InputError(f"{path} cannot be collected without the suite's folder: name it with --root DIR")
    resolved = (root / path).resolve()
    if path.startswith("-") or not resolved.is_relative_to(root):
        raise InputError(f"{path} is not a file inside {root}")
    return str(resolved)


def _memory_share(slots: int) -> int:
    """Bytes that one child may hold: its share of four fifths of what is free now; 0 (no bound) where unknown."""
    try:
        table = Path("/proc/meminfo").read_text("ascii")
    except OSError:
        return 0
    free_kib = next((int(line.split()[1]) for line in table.splitlines() if line.startswith("MemAvailable")), 0)
    return free_kib * 1024 * 4 // 5 // slots
