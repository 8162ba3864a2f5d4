"""A pytest plugin for runs that may die: a line, flushed, as each test starts and as each phase ends.

    pytest -p tputriage.journal --tputriage-journal=journal.jsonl

A native crash or a hard kill leaves no JSON report at all; the journal then names the test that was running.
Loaded without its option it does nothing. faulthandler writes into the journal too, so that a fatal signal
leaves its name and the Python stack behind the last line. Under xdist each worker writes FILE.gwN.
Stands alone: it runs in the suite's interpreter, where nothing but pytest is certain.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import pytest

VERSION = 1
LONGEST_TEXT = 24_000
_PACKAGES = ("torch", "torch-tpu", "libtpu", "pytest", "diffusers", "transformers", "accelerate", "kornia", "peft")
_NAME = "tputriage-journal-writer"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tputriage-journal",
        metavar="FILE",
        default="",
        help="write a line to FILE as each test starts and as each phase ends, for `tputriage collect FILE`",
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--tputriage-journal")
    # Asked of xdist itself: its variable of the environment reaches the pytest that a test starts too.
    worker = getattr(config, "workerinput", {}).get("workerid", "")
    # With xdist the controller sees reports, not tests; its workers write.
    if path and (worker or not _is_controller(config)):
        config.pluginmanager.register(Journal(Path(f"{path}.{worker}" if worker else path), config), _NAME)


def _is_controller(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "numprocesses", 0)) or getattr(config.option, "dist", "no") != "no"


class Journal:
    """Writes the file; registered only where a journal was asked for."""

    def __init__(self, path: Path, config: pytest.Config) -> None:
        self._file: IO[str] = path.open("w", encoding="utf-8", errors="backslashreplace")
        self._write(
            journal=VERSION, at=time.time(), root=str(config.rootpath), pid=os.getpid(), versions=dict(_versions())
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        # Last, since pytest's own plugin has pointed it at stderr by now.
        faulthandler.enable(self._file)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._write(collected=len(session.items))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(id=report.nodeid, phase="collect", outcome="failed", text=_cut(report.longreprtext))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._write(start=item.nodeid, at=time.time())
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
        said = {"text": _cut(report.longreprtext), "captured": report.capstderr[-4_000:]} if report.failed else {}
        self._write(id=report.nodeid, phase=report.when, outcome=outcome, seconds=report.duration, **said)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._write(finished=int(exitstatus), at=time.time())

    def pytest_unconfigure(self) -> None:
        # Back to where crash reports went, since the journal's file is about to close.
        with contextlib.suppress(ValueError, OSError, AttributeError):
            faulthandler.enable(sys.__stderr__ or sys.stderr)
        self._file.close()

    def _write(self, **line: Any) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()


def _versions() -> Iterator[tuple[str, str]]:
    yield "python", platform.python_version()
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield name.replace("-", "_"), metadata.version(name)


def _cut(text: str) -> str:
    half = LONGEST_TEXT // 2
    return text if len(text) <= LONGEST_TEXT else f"{text[:half]}\n…\n{text[-half:]}"
