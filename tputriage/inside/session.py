"""What a worker holds while it serves: the device's name, the collected tests, and what broke collecting them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import platform
import shutil
import sys
import threading
import warnings
from dataclasses import dataclass, field
from select import POLLHUP, poll
from typing import Any

from . import boot, record
from .collecting import collect
from .wire import LineReader, LineWriter
from .worker import serve_forever


@dataclass
class Session:
    """One worker's state before any fork; children inherit it and may do with their copy what they like."""

    device: str  # what torch calls the device under test
    plugin: str  # path of the PJRT plugin, "" on hardware and CPU
    root: str  # pytest's rootdir, "" where only scripts are run
    files: list[str]  # to be collected, absolute
    pytest_args: list[str]
    slots: int
    memory_bytes: int  # resident memory at which a child is ended; 0 for none
    scratch: str  # a folder for the children's temporary folders
    switch: str  # the variable that tells the suite its device; scripts run without it, "" where there is none
    redirect: str  # the device's name that the suite has hard-coded, to be redirected to `device`; "" for none
    preload: list[str]  # import statements that scripts will make, so that no child pays for them
    late: bool  # each child collects for itself: collecting this suite uses the device, which no fork survives
    items: dict[str, Any] = field(default_factory=dict)  # pytest items by node id, in collection order
    broken: dict[str, dict[str, Any]] = field(default_factory=dict)  # collection failures by node id
    path: list[str] = field(default_factory=lambda: list(sys.path))  # before pytest adds the suite's folders


def run(requests_fd: int, answers_fd: int) -> None:
    """The worker's whole life. Leaves by `os._exit`: an interpreter that used the device takes 8 s to end."""
    os.set_inheritable(requests_fd, False)
    os.set_inheritable(answers_fd, False)
    requests, answers = LineReader(requests_fd), LineWriter(answers_fd)
    config = requests.read_one()
    if config is None:
        os._exit(0)
    collected = threading.Event()
    threading.Thread(target=_leave_with_parent, args=(requests_fd, collected, config["scratch"]), daemon=True).start()
    session = Session(**config)
    _prepare(session, answers)

    def serve() -> None:
        collected.set()
        if session.device != "cpu" and device_is_used():
            answers.put({"touched": list(session.items)})
            os._exit(0)
        serve_forever(session, requests, answers, {"tests": list(session.items)})

    if not session.late:
        _preload(session.preload)
    if session.files and not session.late:
        collect(session, session.files, serve)
    serve()


def _prepare(session: Session, answers: LineWriter) -> None:
    """Brings up the device and looks for pytest; ends the worker with the reason where one is not there."""
    try:
        boot.bring_up(session.device, session.plugin)
        if session.redirect and session.redirect != session.device:
            importlib.import_module(".redirect", __package__).install(session.redirect, session.device)
        if session.files and importlib.util.find_spec("pytest") is None:
            raise ModuleNotFoundError(f"{sys.executable} has no pytest: install it there")
    except BaseException as exc:
        answers.put({"refused": f"{record.type_name(exc)}: {record.message_of(exc)}"})
        os._exit(1)


def _preload(statements: list[str]) -> None:
    """What cannot be imported is the script's to report."""
    for statement in statements:
        with contextlib.suppress(BaseException):
            exec(compile(statement, "preload", "exec"), {})


def device_is_used() -> bool:
    """Whether this process already holds the device, or has readied it, so that a forked child could not use it."""
    module = getattr(importlib.import_module("torch"), "tpu", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return module is not None and (bool(module.is_initialized()) or _refuses_forks(module))


def _refuses_forks(module: Any) -> bool:
    """torch_tpu marks a process before it has a client, and says so in a forked child only: so one is asked."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = int(bool(getattr(module, "_is_in_bad_fork", bool)()))
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] != 0


def _leave_with_parent(fd: int, done: threading.Event, scratch: str) -> None:
    """Ends this process when the parent goes while torch is imported or tests are collected; later the loop sees it."""
    poller = poll()
    poller.register(fd, POLLHUP)
    while not done.is_set():
        gone = any(event & POLLHUP for _, event in poller.poll(1000))
        if gone and not done.is_set():
            shutil.rmtree(scratch, ignore_errors=True)
            os._exit(0)


def versions() -> dict[str, str]:
    """Of Python and of every package that can be at fault."""
    found = {"python": platform.python_version(), "platform": platform.platform(terse=True)}
    metadata = importlib.import_module("importlib.metadata")
    for key, name in (("torch_tpu", "torch-tpu"), ("libtpu", "libtpu"), ("pytest", "pytest")):
        try:
            found[key] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    found["torch"] = str(importlib.import_module("torch").__version__)
    return found
