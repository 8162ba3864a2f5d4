"""The loop of a worker: takes jobs, forks a child for each, ends it at its limit, and answers.

The worker itself never touches the device: a PJRT client does not survive a fork, so each child brings up its
own. One thread, one selector; nothing here waits for any child.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import knobs, record
from .children import FALLBACK, Child, fork_child
from .collecting import collect
from .wire import LineReader, LineWriter

if TYPE_CHECKING:
    from .session import Session

TICK_S = 0.1  # how often limits and memory are looked at while children run
GRACE_S = 1.5  # between SIGTERM, on which the child writes its stack, and SIGKILL
PR_SET_CHILD_SUBREAPER = 36  # what a child's own children leave behind becomes ours, to be ended
USUAL = ("test", "script")
KINDS = Path(__file__).parent / "kinds"


def serve_forever(session: Session, requests: LineReader, answers: LineWriter, ready: Mapping[str, Any]) -> None:
    """Leaves by `os._exit` when the parent closes its side, or is gone."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    for kind in USUAL:  # imported once here, and not by each child
        importlib.import_module(f".kinds.{kind}", __package__)
    gc.collect()
    gc.freeze()  # keeps the collector from touching, and so copying, the pages shared with the children
    loop = _Loop(session, requests, answers)
    try:
        answers.put({"ready": ready})
        while not requests.closed:
            loop.turn()
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        loop.end_all()
        shutil.rmtree(session.scratch, ignore_errors=True)
        os._exit(0)


class _Loop:
    def __init__(self, session: Session, requests: LineReader, answers: LineWriter) -> None:
        self._session = session
        self._requests = requests
        self._answers = answers
        self._children: dict[int, Child] = {}
        self._old = own_children()  # what collecting the suite started
        self._orphans: dict[int, set[int]] = {}  # pid -> jobs that still run and may be the ones it belongs to
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests.fd, selectors.EVENT_READ, None)

    def turn(self) -> None:
        self._watch_answers()
        for key, _ in self._selector.select(TICK_S if self._children else None):
            self._react(key)
        for child in list(self._children.values()):
            self._look_at(child)
        self._answers.flush()

    def end_all(self) -> None:
        for child in list(self._children.values()):
            self._put_away(child)

    def _watch_answers(self) -> None:
        watched = self._answers.fd in self._selector.get_map()
        if self._answers.pending and not watched:
            self._selector.register(self._answers.fd, selectors.EVENT_WRITE, None)
        elif watched and not self._answers.pending:
            self._selector.unregister(self._answers.fd)

    def _react(self, key: selectors.SelectorKey) -> None:
        child = key.data
        if child is not None:
            # One that was cancelled in this same turn is gone: its descriptors are closed, or another's by now.
            if child.id in self._children and not child.take(key.fd):
                self._selector.unregister(key.fd)
        elif key.fd == self._requests.fd:
            for message in self._requests.read():
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        if "cancel" in message:
            child = self._children.get(message["cancel"])
            if child is not None:
                self._put_away(child)
            return
        child = fork_child(
            message["id"],
            lambda: serve_one(message["kind"], message["payload"], self._session),
            limit_s=message["limit_s"],
            env=message["env"],
            scratch=Path(self._session.scratch),
        )
        self._children[child.id] = child
        for fd in child.fds:
            self._selector.register(fd, selectors.EVENT_READ, child)

    def _look_at(self, child: Child) -> None:
        if child.complete or child.reap():
            self._finish(child)
        elif child.asked_to_end_s:
            if time.monotonic() - child.asked_to_end_s > GRACE_S:
                self._finish(child)
        elif time.monotonic() - child.started_s > child.limit_s:
            self._end(child, "timeout")
        elif self._session.memory_bytes and child.resident_bytes() > self._session.memory_bytes:
            self._end(child, f"it used more than {self._session.memory_bytes >> 20} MiB of memory")

    def _end(self, child: Child, reason: str) -> None:
        child.ended_for = reason
        child.asked_to_end_s = time.monotonic()
        child.signal_group(signal.SIGTERM)

    def _finish(self, child: Child) -> None:
        self._put_away(child)
        self._answers.put(answer_of(child))

    def _put_away(self, child: Child) -> None:
        """Ends the whole group and forgets the child."""
        del self._children[child.id]
        child.signal_group(signal.SIGKILL)
        child.drain()
        for fd in child.fds:
            if fd in self._selector.get_map():
                self._selector.unregister(fd)
            os.close(fd)
        deadline = time.monotonic() + 5
        while not child.reap() and time.monotonic() < deadline:
            time.sleep(0.002)
        late = child.folder / FALLBACK
        if not child.complete and late.is_file():
            child.result[:] = late.read_bytes()
        shutil.rmtree(child.folder, ignore_errors=True)
        self._end_orphans()

    def _end_orphans(self) -> None:
        """Ends processes that left their group, once no job runs any more to which they can belong."""
        ours = {child.pid for child in self._children.values()}
        for pid in own_children() - ours - self._old:
            jobs = self._orphans.setdefault(pid, set(self._children))
            jobs &= set(self._children)
            if not jobs:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                del self._orphans[pid]


def own_children() -> set[int]:
    """Process ids of this process's children, adopted ones included."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii")
    except OSError:
        return set()
    return {int(pid) for pid in text.split()}


def serve_one(kind: str, payload: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
    """Calls the kind's `serve`; runs in the child. Raises LookupError for a kind that has no file."""
    if kind not in {path.stem for path in KINDS.glob("*.py")} or kind.startswith("_"):
        raise LookupError(f"there is no kind of job called {kind!r}")
    knobs.apply(os.environ, session.device)
    module = importlib.import_module(f".kinds.{kind}", __package__)
    if not session.late or "test_id" not in payload:
        return _checked(module.serve(payload, session))
    found: dict[str, Any] = {}
    collect(session, _files(payload, session), lambda: found.update(_checked(module.serve(payload, session))))
    return found or _checked(module.serve(payload, session))


def _checked(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


def _files(payload: Mapping[str, Any], session: Session) -> list[str]:
    """Of the session's files, those with the tests of this job."""
    ids = [payload["test_id"], *payload.get("before", ())]
    return [path for path in session.files if any(_lies_in(name, path, session.root) for name in ids)]


def _lies_in(test_id: str, path: str, root: str) -> bool:
    return os.path.relpath(path, root) == test_id.split("::", 1)[0]


def answer_of(child: Child) -> dict[str, Any]:
    """The message that goes back."""
    seconds = round(time.monotonic() - child.started_s, 4)
    words = child.err.decode("utf-8", "replace")
    base: dict[str, Any] = {"id": child.id, "seconds": seconds, "signal": None, "last_words": words, "value": {}}
    if child.complete:
        value = record_output(bytes(child.result), child)
        return base | {"ended": "done", "value": value}
    if child.ended_for == "timeout":
        return base | {"ended": "timeout"}
    return base | {"ended": "crash"} | _death(child, words)


def _death(child: Child, words: str) -> dict[str, Any]:
    status = child.status or 0
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if child.ended_for:
        return {"signal": int(signal.SIGKILL), "last_words": f"{words}\nended: {child.ended_for}"}
    if number is None:
        code = os.waitstatus_to_exitcode(status)
        return {"last_words": f"{words}\nthe process left with exit code {code} before its result was known"}
    return {"signal": number}


def record_output(line: bytes, child: Child) -> dict[str, Any]:
    """The kind's value, with what the child printed as `output` where the kind says nothing else."""
    value: dict[str, Any] = json.loads(line)
    text = child.out.decode("utf-8", "replace") + child.err.decode("utf-8", "replace")
    value.setdefault("output", record.cut_middle(text, 2 * record.LONGEST_TEXT))
    return value
