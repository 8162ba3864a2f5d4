"""Runs a script or module as if the target's device were part of this machine: `python main.py launch CONFIG_FD`.

The program brings the device up by importing torch, as on a TPU VM. Standard streams are the caller's. The
interpreter is left at once when the program is done: with torch_tpu its orderly end takes 8 s. What a program
registered with `atexit` still runs, and everything buffered is written.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import json
import os
import runpy
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from . import knobs
from .boot import AUTOLOAD, for_subprocesses
from .children import flush_output
from .record import script_failure
from .wire import encode


def run_program(argv: list[str], module: bool, note: Callable[[BaseException], None]) -> int:
    """The exit code with which Python itself would have left; `note` gets what made it other than 0."""
    sys.argv = list(argv)
    sys.path.insert(0, os.getcwd() if module else str(Path(argv[0]).resolve().parent))
    try:
        if module:
            _check_module(argv[0])
            runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(argv[0], run_name="__main__")
    except _MissingModule as exc:
        print(f"tputriage: {exc}", file=sys.stderr)
        return 2
    except SystemExit as exc:
        code = _code_of(exc)
        if code:
            note(exc)
        return code
    except KeyboardInterrupt:
        return 130
    except BaseException as exc:
        note(exc)
        _show(exc)
        return 1
    return 0


class _MissingModule(Exception):  # noqa: N818 -- never leaves this file
    pass


def _check_module(name: str) -> None:
    """As `python -m` says it, without a traceback."""
    try:
        found = importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        found = False
    if not found:
        raise _MissingModule(f"no module named {name} in {sys.executable}: install it there, or name another")


def _code_of(exc: SystemExit) -> int:
    if exc.code is None or isinstance(exc.code, int):
        return int(exc.code or 0) & 0xFF
    print(exc.code, file=sys.stderr)
    return 1


def _show(exc: BaseException) -> None:
    """The traceback without our own frames and runpy's."""
    trace = exc.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    traceback.print_exception(type(exc), exc, trace)


def _note(fd: int, path: str, exc: BaseException) -> None:
    if fd >= 0:
        folder, name = os.path.split(path)
        os.write(fd, encode(script_failure(exc, name, folder)))


def _wait_for_threads() -> None:
    """As Python does before its exit handlers: non-daemon threads come to their end."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def run(fd: int, record_fd: int = -1) -> None:
    """Runs what the JSON on `fd` names, and leaves with its exit code; a failure is recorded on `record_fd`."""
    with os.fdopen(fd, "rb") as pipe:
        config: dict[str, Any] = json.loads(pipe.read())
    if config["plugin"]:
        os.environ.update(for_subprocesses(config["plugin"], os.environ))
        sys.path.insert(0, AUTOLOAD)  # PYTHONPATH is read by the next Python only
    knobs.apply(os.environ, config["device"])
    if config["redirect"] not in ("", config["device"]):
        importlib.import_module(".redirect", __package__).install(config["redirect"], config["device"])
    code = run_program(config["argv"], config["module"], partial(_note, record_fd, config["argv"][0]))
    _wait_for_threads()
    atexit._run_exitfuncs()
    flush_output()
    os._exit(code)
