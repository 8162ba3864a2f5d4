"""The worker from our side: starts it, feeds it jobs, hands on its answers, and leaves nothing behind.

What runs in the worker is tputriage/inside/, in the target's interpreter.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tputriage.console import log
from tputriage.errors import InputError, TargetError
from tputriage.targets.chips import Hold, hold_chip
from tputriage.targets.process import QUIET, Closing, Process, wait_for
from tputriage.targets.seam import Answer, Ended, Job, Target

START_LIMIT_S = 900.0  # importing and collecting a large suite on a cold disk takes minutes
SLACK_S = 60.0  # a worker that is silent for so long after a job's limit is stuck itself
MOST_RESTARTS = 3


class Worker(Closing):
    """A `seam.Runner` over one worker process; starts at the first job, restarts a few times where it dies.

    On hardware it is pinned to the first chip that nobody holds, unless `own_chip` is False: then it sees all.
    """

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
        own_chip: bool = True,
        redirect: str = "",
        start_limit_s: float = START_LIMIT_S,
        preload: Sequence[str] = (),
    ) -> None:
        self._target = target
        self._root = root.resolve() if root else None
        self._slots = slots or max(1, target.slots // target.workers)
        self._device = {device_env: target.device} if device_env else {}
        self._env = dict(env or {})
        self._start_limit_s = start_limit_s
        self.process: Process | None = None  # None where it does not run
        self._coming: Process | None = None  # one that is being started
        self._abandoned = False
        self._own_chip = own_chip
        self._hold: Hold | None = None
        self._starts = 0
        self._numbers = itertools.count(1)  # over all questions: an answer that comes late is nobody else's
        self._flying: dict[int, tuple[Job, float]] = {}
        self._versions: Mapping[str, str] = {}
        self._config = {
            "device": target.device,
            "plugin": target.plugin,
            "root": str(self._root or ""),
            "files": [_inside(self._root, path) for path in files],
            "pytest_args": list(pytest_args),
            "slots": self._slots,
            "redirect": redirect,
            "preload": list(preload),
            "late": False,
            "switch": device_env,
            "memory_bytes": memory_share(self._slots) if memory_bytes is None else memory_bytes,
        }

    @property
    def target(self) -> Target:
        return self._target

    @property
    def versions(self) -> Mapping[str, str]:
        """Of python, torch, torch_tpu, …; starts the worker where it does not run yet."""
        self.start()
        return self._versions

    @property
    def tests(self) -> tuple[str, ...]:
        """Node ids collected, in pytest's order; starts the worker where it does not run yet."""
        return self.start().tests

    def close(self) -> None:
        """Ends the worker and all it started; the next job would start another."""
        if self.process is not None:
            self.process.close()
            self.process = None
        if self._hold is not None:
            self._hold.release()
            self._hold = None

    def ask(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        """See `seam.Runner.ask`. Raises TargetError where the worker cannot be started, or dies again and again."""
        source = iter(jobs)
        exhausted = False
        try:
            while True:
                while not exhausted and self.free:
                    job = next(source, None)
                    if job is None:
                        exhausted = True
                    else:
                        self.begin(job)
                if not self.busy:
                    return
                assert self.process is not None
                wait_for([self.process], self.patience_s)
                yield from self.answers()
        finally:
            self.cancel()

    @property
    def free(self) -> int:
        """How many more jobs may begin now."""
        return self._slots - len(self._flying)

    @property
    def busy(self) -> bool:
        return bool(self._flying)

    @property
    def patience_s(self) -> float:
        """From now until a worker that says nothing must be stuck itself."""
        latest = max((sent + job.limit_s for job, sent in self._flying.values()), default=time.monotonic())
        return latest + SLACK_S - time.monotonic()

    def begin(self, job: Job) -> None:
        """Send a job to the worker, which is started where it does not run."""
        process = self.start()
        number = next(self._numbers)
        self._flying[number] = (job, time.monotonic())
        message = {"kind": job.kind, "payload": dict(job.payload), "limit_s": job.limit_s, "env": dict(job.env)}
        process.send({"id": number, **message})
        log(f"worker {self._target.name}", "job %d is %s, limit %g s", number, _in_words(job), job.limit_s)

    def answers(self) -> list[Answer]:
        """What has been answered by now; LOST for all jobs under way where the worker is gone or stuck."""
        if self.process is None or not self._flying:
            return []
        messages = self.process.arrived()
        if messages is None or (not messages and self.patience_s <= 0):
            return self._lost()
        # An id of a job that was cancelled when its answer was on its way is no longer known.
        known = [message for message in messages if message.get("id") in self._flying]
        for message in known:
            self._told(message)
        return [_answer(self._flying.pop(message["id"])[0], message) for message in known]

    def _told(self, message: Mapping[str, Any]) -> None:
        said = message["value"].get("outcome", "")
        ended = f"{message['ended']}, {said}" if said else message["ended"]
        log(f"worker {self._target.name}", "job %d: %s after %.2f s", message["id"], ended, message["seconds"])

    def _lost(self) -> list[Answer]:
        assert self.process is not None
        words = self.process.last_words()
        log(f"worker {self._target.name}", "is gone, with %d jobs: %s", len(self._flying), words[-500:])
        self.close()
        lost = list(self._flying.values())
        self._flying.clear()
        return [Answer(job, Ended.LOST, {}, time.monotonic() - sent, None, words) for job, sent in lost]

    def cancel(self) -> None:
        """Ends the jobs under way; nobody gets their answers."""
        for number in self._flying:
            if self.process is not None:
                self.process.send({"cancel": number})
        self._flying.clear()

    def reserve(self) -> None:
        """Holds this worker's chip, where it is to have one, before it is started."""
        if self._target.chips and self._own_chip and self._hold is None:
            self._hold = hold_chip(self._target.chips)

    def start(self) -> Process:
        """The worker's process, started and with its device tried where that is not done yet."""
        if self.process is None:
            if self._starts > MOST_RESTARTS:
                raise TargetError(f"the worker on {self._target.name} died {self._starts} times and is given up")
            self._starts += 1
            try:
                self.reserve()
                self.process = self._started()
            except BaseException:
                self.close()
                raise
        return self.process

    def abandon(self) -> None:
        """Makes a start that is under way in another thread come to an end."""
        self._abandoned = True
        if self._coming is not None:
            self._coming.kill()

    def _started(self) -> Process:
        log(f"worker {self._target.name}", "starts: %s, %d at once", self._target.python, self._slots)
        pinned = self._hold.env if self._hold else {}
        env = {**os.environ, **QUIET, **self._target.env, **pinned, **self._env, **self._device}
        process = self._launched(env)
        try:
            if not process.is_ready(self._target, self._start_limit_s):
                # Collecting this suite uses the device: each child has to collect for itself, slower.
                process.close()
                self._config["late"], tests = True, process.tests
                process = self._launched(env)
                process.is_ready(self._target, self._start_limit_s)
                process.tests = tests
            self._versions = process.try_device(self._target)
        except BaseException:
            process.close()
            raise
        finally:
            self._coming = None
        return process

    def _launched(self, env: Mapping[str, str]) -> Process:
        process = Process(self._target.python, env, self._root, self._config)
        self._coming = process
        if self._abandoned:
            process.kill()
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


def memory_share(slots: int) -> int:
    """Bytes that one child may hold: its share of four fifths of what is free now; 0 (no bound) where unknown."""
    try:
        table = Path("/proc/meminfo").read_text("ascii")
    except OSError:
        return 0
    free_kib = next((int(line.split()[1]) for line in table.splitlines() if line.startswith("MemAvailable")), 0)
    return free_kib * 1024 * 4 // 5 // slots
