"""Runs a script or module as if the target's device were part of this machine: `python launch.py CONFIG_FD`.

Standard streams are the caller's. The interpreter is left at once when the program is done: with torch_tpu its
orderly end takes 8 s. What a program registered with `atexit` still runs, and everything buffered is written.
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
from pathlib import Path
from types import ModuleType
from typing import Any

NAME = "tputriage_inside"


def load_own_package() -> ModuleType:
    """See main.py: this folder as a package of its own, and off `sys.path`."""
    folder = Path(__file__).resolve().parent
    sys.path[:] = [place for place in sys.path if not place or Path(place).resolve() != folder]
    spec = importlib.util.spec_from_file_location(
        NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    return package


def run_program(argv: list[str], module: bool) -> int:
    """The exit code with which Python itself would have left."""
    sys.argv = list(argv)
    sys.path.insert(0, os.getcwd() if module else str(Path(argv[0]).resolve().parent))
    try:
        if module:
            runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as exc:
        return _code_of(exc)
    except KeyboardInterrupt:
        return 130
    except BaseException as exc:
        _show(exc)
        return 1
    return 0


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


def _wait_for_threads() -> None:
    """As Python does before its exit handlers: non-daemon threads come to their end."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def main(fd: int) -> None:
    with os.fdopen(fd, "rb") as pipe:
        config: dict[str, Any] = json.loads(pipe.read())
    importlib.import_module(f"{NAME}.boot").bring_up(config["device"], config["plugin"])
    importlib.import_module(f"{NAME}.knobs").apply(os.environ, config["device"])
    code = run_program(config["argv"], config["module"])
    _wait_for_threads()
    atexit._run_exitfuncs()
    importlib.import_module(f"{NAME}.children").flush_output()
    os._exit(code)


if __name__ == "__main__":
    load_own_package()
    main(int(sys.argv[1]))
