"""Running a test or a script in a child, and recording what it raised: what the kinds of job have in common."""

from __future__ import annotations

import difflib
import os
import sys
import tempfile
import time
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import CodeType
from typing import TYPE_CHECKING, Any

from . import record
from .collecting import EVERYTHING
from .twins import twin

if TYPE_CHECKING:
    from .session import Session

try:
    import pytest
except ImportError:  # scripts alone need no pytest
    pytest = None  # type: ignore[assignment]

Around = Callable[[], AbstractContextManager[Any]]
Caught = Callable[[BaseException], None]
Value = dict[str, Any]


def run_named(session: Session, payload: Mapping[str, Any]) -> Value:
    """The test that a payload names, or the script that it holds: {"test_id"} or {"source"}."""
    if "source" in payload:
        return run_script(payload["source"], argv=[session.device], without=session.switch)
    return run_test(session, payload["test_id"])


def run_test(
    session: Session,
    test_id: str,
    *,
    before: Sequence[str] = (),
    around: Around = nullcontext,
    caught: Caught = lambda exc: None,
) -> Value:
    """Setup, call and teardown of one test, after the tests `before` it; `around` is entered for its call alone.

    `caught` gets each exception of the test before it becomes a record.

    {"outcome", "failures": [...], "duration_s", "reason", "ran_as"}: outcome in pytest's words, or `unavailable` with
    the reason where there is no such test. Failures of the tests before it do not count.
    """
    asked, before, test_id = test_id, [twin(name, session) for name in before], twin(test_id, session)
    missing = [name for name in (*before, test_id) if name not in session.items]
    if missing:
        return _not_there(session, missing[0], asked)
    recorder = Recorder(session, test_id, around, caught)
    config = session.items[test_id].config
    config.pluginmanager.register(recorder)
    run = [*(name for name in before if name != test_id), test_id]
    started = time.perf_counter()
    try:
        for name, following in zip(run, [*run[1:], None], strict=True):
            started = time.perf_counter()
            item = session.items[name]
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=session.items[following] if following else None
            )
    except BaseException as exc:  # pytest.exit(), KeyboardInterrupt: they end a pytest session
        recorder.note("call", "failed", exc)
    return {
        "outcome": recorder.outcome(),
        "failures": recorder.failures,
        "duration_s": round(time.perf_counter() - started, 6),
        "reason": recorder.reason,
        "ran_as": test_id,
    }


def run_script(
    source: str,
    *,
    name: str = "repro.py",
    argv: Sequence[str] = (),
    without: str = "",
    around: Around = nullcontext,
    caught: Caught = lambda exc: None,
    compiled: Callable[[str, str], CodeType] = lambda source, path: compile(source, path, "exec"),
) -> Value:
    """The script as a fresh `__main__` in an empty folder of its own: {"outcome", "failures", "duration_s"}.

    It passes if it comes to its end or leaves with code 0, as for a shell. The variable `without` is taken from
    its environment: the suite's switch tells a script nothing where people run it.
    """
    os.environ.pop(without, None)
    folder = tempfile.mkdtemp(prefix="script-")
    os.chdir(folder)
    path = os.path.join(folder, os.path.basename(name) or "script.py")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(source)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    sys.argv = [path, *argv]
    sys.path.insert(0, folder)
    started = time.perf_counter()
    failures: list[Value] = []
    try:
        with around():
            exec(compiled(source, path), module.__dict__)
    except SystemExit as exc:
        if exc.code not in (None, 0):
            caught(exc)
            failures = [record.script_failure(exc, name, folder)]
    except BaseException as exc:
        caught(exc)
        failures = [record.script_failure(exc, name, folder)]
    return {
        "outcome": "failed" if failures else "passed",
        "failures": failures,
        "duration_s": round(time.perf_counter() - started, 6),
    }


def _not_there(session: Session, name: str, test_id: str) -> Value:
    """A collection failure of its file where there is one, else an unavailable test with the nearest ids."""
    broken = session.broken.get(EVERYTHING) or _broken_parent(session.broken, name)
    if broken is not None:
        found = {**broken, "test_id": test_id}
        return {"outcome": "error", "failures": [found], "duration_s": 0.0, "reason": found["message"]}
    near = difflib.get_close_matches(name, list(session.items), 3, 0.6)
    hint = f"; near it: {', '.join(near)}" if near else ""
    reason = f"no test is called {name} among the {len(session.items)} collected{hint}"
    failure = record.plain_failure(reason, test_id=test_id, phase="collect", outcome="unavailable")
    return {"outcome": "unavailable", "failures": [failure], "duration_s": 0.0, "reason": reason}


def _broken_parent(broken: Mapping[str, Value], name: str) -> Value | None:
    """The failure of the longest collector that `name` lies in."""
    fitting = [key for key in broken if name == key or name.startswith((f"{key}::", f"{key}/"))]
    return broken[max(fitting, key=len)] if fitting else None


class Recorder:
    """A pytest plugin that listens to one test's reports and exceptions."""

    def __init__(self, session: Session, test_id: str, around: Around, caught: Caught) -> None:
        self._session = session
        self._test_id = test_id
        self._around = around
        self._caught = caught
        self.failures: list[Value] = []
        self.reason = ""
        self._words: list[str] = []  # outcomes by phase, in order

    def note(self, phase: str, outcome: str, exc: BaseException) -> None:
        self._caught(exc)
        self._words.append("error" if phase != "call" else outcome)
        self.failures.append(
            record.failure(exc, test_id=self._test_id, phase=phase, outcome=self._words[-1], root=self._session.root)
        )

    def outcome(self) -> str:
        """As pytest-json-report has it: a failed call stands before an error, an error before anything else."""
        for word in ("failed", "error", "skipped", "xfailed", "xpassed"):
            if word in self._words:
                return word
        return "passed" if self._words else "unavailable"

    if pytest is not None:

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
            outcome: Any = yield
            if item.nodeid == self._test_id:
                self._hear(outcome.get_result(), call)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_call(self, item: Any) -> Any:
            if item.nodeid != self._test_id:
                yield
                return
            with self._around():
                yield

    def _hear(self, report: Any, call: Any) -> None:
        if report.outcome == "failed":
            if call.excinfo is not None:
                self.note(report.when, "failed", call.excinfo.value)
            else:
                self._hear_refusal(report)
            return
        expected = hasattr(report, "wasxfail")
        if report.outcome == "skipped":
            self._words.append("xfailed" if expected else "skipped")
            self.reason = report.wasxfail if expected else str(report.longrepr[-1])
        else:
            self._words.append("xpassed" if expected else "passed")

    def _hear_refusal(self, report: Any) -> None:
        """A failure that pytest declares without an exception: a strict xfail that passed."""
        self._words.append("failed")
        self.failures.append(
            record.plain_failure(str(report.longrepr), test_id=self._test_id, phase=report.when, outcome="failed")
        )
