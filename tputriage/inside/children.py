"""One forked child: how it is started, listened to, and ended together with everything it started.

A child is a process group of its own. It has three pipes: stdout, stderr (the end of each is kept) and its
result, one JSON line. A result that is complete is the result, even where the process then hangs at exit. Where
the test closed the result's descriptor, the result lies in a file in the job's folder instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import fcntl
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .wire import CHUNK, encode

KEPT_BYTES = 64_000  # of the end of each output stream
HIGH_FD = 700  # where the result pipe lies: out of the way of tests that close low descriptors
FALLBACK = "result.json"
PR_SET_PDEATHSIG = 1
Serve = Callable[[], Mapping[str, Any]]


@dataclass
class Child:
    """A job that runs."""

    id: int
    pid: int
    folder: Path
    limit_s: float
    result_fd: int
    out_fd: int
    err_fd: int
    started_s: float = field(default_factory=time.monotonic)
    asked_to_end_s: float = 0.0  # when the group was sent SIGTERM; 0.0 while it may run
    ended_for: str = ""  # why we ended it, in words
    result: bytearray = field(default_factory=bytearray)
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)
    status: int | None = None  # wait status, once reaped

    @property
    def complete(self) -> bool:
        return self.result.endswith(b"\n")

    @property
    def fds(self) -> tuple[int, int, int]:
        return self.result_fd, self.out_fd, self.err_fd

    def take(self, fd: int) -> bool:
        """Reads what `fd` has now; False at its end."""
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return True
        if fd == self.result_fd:
            self.result += data
        else:
            kept = self.out if fd == self.out_fd else self.err
            kept += data
            del kept[:-KEPT_BYTES]
        return bool(data)

    def drain(self) -> None:
        """Takes what is left without waiting for grandchildren that hold the pipes open."""
        for fd in self.fds:
            for _ in range(64):
                before = len(self.result), bytes(self.out[-64:]), bytes(self.err[-64:])
                if not self.take(fd) or before == (len(self.result), bytes(self.out[-64:]), bytes(self.err[-64:])):
                    break

    def signal_group(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def reap(self) -> bool:
        """True once the process is gone."""
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # the suite's own SIGCHLD handling took it
                pid, status = self.pid, 0
            if pid:
                self.status = status
        return self.status is not None

    def resident_bytes(self) -> int:
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * resource.getpagesize()


def fork_child(number: int, serve: Serve, *, limit_s: float, env: Mapping[str, str], scratch: Path) -> Child:
    """Starts `serve` in a child; its return value becomes the child's result."""
    folder = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=scratch))
    result, out, err = os.pipe(), os.pipe(), os.pipe()
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Threads that imports started do not exist in the child, and nothing of ours waits for them.
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        _live(serve, parent, folder, (result[1], out[1], err[1]), env)
    for fd in (result[1], out[1], err[1]):
        os.close(fd)
    for fd in (result[0], out[0], err[0]):
        os.set_blocking(fd, False)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)  # both sides do it, so that neither acts before it is true
    return Child(number, pid, folder, limit_s, result[0], out[0], err[0])


def _live(serve: Serve, parent: int, folder: Path, fds: tuple[int, int, int], env: Mapping[str, str]) -> None:
    """The child from fork to exit; never returns, and never runs the parent's exit handlers."""
    code = 70
    try:
        result_fd = _settle(parent, folder, fds, env)
        line = encode(dict(serve()))
        flush_output()
        _hand_over(line, result_fd, folder)
        code = 0
    except BaseException as exc:
        os.write(2, f"the worker's child failed: {type(exc).__name__}: {exc}\n".encode(errors="replace"))
    finally:
        os._exit(code)


def _settle(parent: int, folder: Path, fds: tuple[int, int, int], env: Mapping[str, str]) -> int:
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(70)
    result_fd = fcntl.fcntl(fds[0], fcntl.F_DUPFD_CLOEXEC, HIGH_FD)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(fds[1], 1)
    os.dup2(fds[2], 2)
    for fd in fds:
        os.close(fd)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _volunteer_for_the_oom_killer()
    os.environ.update(env)
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # so that TMPDIR is looked at again
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.enable(2, all_threads=True)
    faulthandler.register(signal.SIGTERM, 2, all_threads=True, chain=True)
    return result_fd


def _volunteer_for_the_oom_killer() -> None:
    try:
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
    except OSError:
        return


def flush_output() -> None:
    """Python's buffers and C's."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    ctypes.CDLL(None).fflush(None)


def _hand_over(line: bytes, fd: int, folder: Path) -> None:
    try:
        while line:
            line = line[os.write(fd, line) :]
    except OSError:
        part = folder / f"{FALLBACK}.part"
        part.write_bytes(line)
        part.rename(folder / FALLBACK)
