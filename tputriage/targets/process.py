"""A worker's process and the two pipes to it: started with the target's interpreter, ended with all it started."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from tputriage.errors import TargetError
from tputriage.targets.seam import Ended, Target

ENTRY = Path(__file__).parent.parent / "inside" / "main.py"
LOG = "worker.log"  # inside/collecting.py reads it too
TAG = "TPUTRIAGE_WORKER"  # in the environment of all that a worker starts, so that nothing is left behind
LAST_WORDS = 4000
# One thread in each child: children run side by side, and libgomp's pool of the parent is gone after a fork, so
# that a parallel region would wait for it for ever.
QUIET = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1", "TOKENIZERS_PARALLELISM": "false"}


class Closing(ABC):
    """A context that ends with `close`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End it, and all it started."""


class Process:
    """The worker's process and the two pipes to it."""

    def __init__(self, python: str, env: Mapping[str, str], root: Path | None, config: Mapping[str, Any]) -> None:
        self._scratch = tempfile.mkdtemp(prefix="tputriage-")
        self._tag = os.path.basename(self._scratch)
        self._errors: BinaryIO = open(Path(self._scratch) / LOG, "w+b")  # noqa: SIM115 - lives as long as we do
        ours_in, theirs_out = os.pipe()
        theirs_in, self._out = os.pipe()
        self._in = ours_in
        try:
            self._popen = subprocess.Popen(
                [python, str(ENTRY), "session", str(theirs_in), str(theirs_out)],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                pass_fds=(theirs_in, theirs_out),
                cwd=root or self._scratch,
                env={**env, TAG: self._tag},
                start_new_session=True,
            )
        except OSError as exc:
            self._put_away(ours_in, self._out)
            raise TargetError(f"the interpreter {python} cannot be started: {exc}") from exc
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._in, selectors.EVENT_READ)
        self._closed = False
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
            if not self._selector.select(max(0.0, deadline - time.monotonic())) or not self._read():
                return None
        return self._messages.pop(0)

    @property
    def fd(self) -> int:
        """To wait for, before `arrived`."""
        return self._in

    def arrived(self) -> list[dict[str, Any]] | None:
        """The messages that are here, without waiting for more; None once the worker is gone and all are taken."""
        alive = not self._selector.select(0) or self._read()
        messages, self._messages = self._messages, []
        return messages if messages or alive else None

    def _read(self) -> bool:
        """Takes in what is there; False at the end of the stream."""
        data = os.read(self._in, 1 << 16)
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._messages += [json.loads(line) for line in lines]
        return bool(data)

    def is_ready(self, target: Target, limit_s: float) -> bool:
        """Waits for the first message; False where the worker is not fit to fork, having used the device.

        Raises TargetError with the reason where the worker does not come up.
        """
        message = self.receive(limit_s) or {}
        if "ready" not in message and "touched" not in message:
            reason = message.get("refused") or self.last_words() or "it said nothing"
            raise TargetError(f"the worker on {target.name} does not start: {one_line(reason)}")
        self.tests = tuple(message["ready"]["tests"] if "ready" in message else message["touched"])
        return "ready" in message

    def try_device(self, target: Target) -> Mapping[str, str]:
        """Versions, from a child that used the device once; raises TargetError where it cannot be used."""
        job = {"id": 0, "kind": "versions", "payload": {"touch": True}, "limit_s": 300.0, "env": {}}
        self.send(job)
        message = self.receive(360.0) or {"ended": "lost", "last_words": self.last_words()}
        if message["ended"] != Ended.DONE:
            words = one_line(message["last_words"]) or message["ended"]
            raise TargetError(f"the device of target {target.name} cannot be used: {words}")
        versions: Mapping[str, str] = message["value"]["versions"]
        return versions

    def last_words(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - LAST_WORDS))
        return self._errors.read().decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """Ends the worker at once, from any thread: whoever waits for its answers learns that it is gone."""
        self._popen.kill()

    def close(self) -> None:
        """Asks the worker to end, then ends whatever carries its tag; once is enough."""
        if self._closed:
            return
        self._closed = True
        os.close(self._out)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(5)
        self._popen.kill()
        self._popen.wait()
        end_tagged(self._tag)
        self._selector.close()
        self._put_away(self._in)

    def _put_away(self, *fds: int) -> None:
        for fd in fds:
            os.close(fd)
        self._errors.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def wait_for(processes: Iterable[Process], patience_s: float) -> None:
    """Returns once one of them has said something or is gone, or when patience ends."""
    with selectors.DefaultSelector() as selector:
        for process in processes:
            selector.register(process.fd, selectors.EVENT_READ)
        selector.select(max(0.0, patience_s))


def end_tagged(tag: str) -> None:
    """Ends every process that inherited this worker's environment: those that left its session too."""
    mark = f"{TAG}={tag}".encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in place.read_bytes().split(b"\0"):
                os.kill(int(place.parent.name), signal.SIGKILL)


def one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else ""
