"""A pytest session that collects once and then serves instead of running its tests.

The plugin takes over `pytest_runtestloop`. Whatever breaks on the way there (a conftest, an import, an option)
becomes a failure in phase `collect` that answers every test asked for, and the worker goes on living.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import quick_repr, record

if TYPE_CHECKING:
    from .session import Session

try:
    import pytest
except ImportError:  # scripts alone need no pytest
    pytest = None  # type: ignore[assignment]

LOG = "worker.log"  # in the scratch folder: the worker's own output
EVERYTHING = ""  # the key in Session.broken of what keeps every test from being collected


def collect(session: Session, files: Sequence[str], serve: Callable[[], None]) -> None:
    """Calls `serve` from inside a pytest session over `files`; returns only where there could be none."""
    here = [path for path in files if os.path.exists(path)]
    for path in set(files) - set(here):
        name = os.path.relpath(path, session.root)
        session.broken[name] = _error(f"{name} is not in the suite's folder", name)
    if not here:
        return
    sys.path.insert(0, session.root)  # as `python -m pytest` does
    quick_repr.install()
    try:
        code = pytest.main(arguments(session.root, here, session.pytest_args), plugins=[Plugin(session, serve)])
        session.broken.setdefault(EVERYTHING, _error(f"pytest ended with code {int(code)}: {_last_word(session)}", ""))
    except BaseException as exc:
        broken = record.failure(exc, test_id="", phase="collect", outcome="error", root=session.root)
        session.broken.setdefault(EVERYTHING, broken)


def _error(message: str, test_id: str) -> dict[str, Any]:
    return record.plain_failure(message, test_id=test_id, phase="collect", outcome="error")


def _last_word(session: Session) -> str:
    """What pytest wrote last: a usage error stands there and nowhere else."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        lines = (Path(session.scratch) / LOG).read_text("utf-8", "replace").splitlines()
    except OSError:
        return "its reason is not known"
    said = [line.strip() for line in lines if line.strip()]
    telling = [line for line in said if "error:" in line] or [line for line in said if line.startswith("ERROR")]
    return (telling or said or ["it said nothing"])[-1]


def arguments(root: str, files: Sequence[str], extra: Sequence[str]) -> list[str]:
    """pytest's command line. Later options win over the suite's own addopts.

    Capture is off because forked children would share one capture file and its position; each child has
    pipes of its own instead. `--tb=native` because other styles call repr on tensors. No cache is written
    into the suite's folder, and xdist, where the suite asks for it, is told to stay in this process.
    """
    ours = ["--capture=no", "--tb=native", "-p", "no:cacheprovider"]
    if importlib.util.find_spec("xdist") and not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        ours.append("-n0")
    return [f"--rootdir={root}", *extra, *ours, "--", *files]


if pytest is not None:

    class Plugin:
        """Notes what cannot be collected, and serves in the place of the run."""

        def __init__(self, session: Session, serve: Callable[[], None]) -> None:
            self._session = session
            self._serve = serve

        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self) -> Iterator[None]:
            outcome: Any = yield
            if outcome.excinfo is not None:
                exc = outcome.excinfo[1]
                cause = getattr(exc, "cause", exc)  # pytest wraps what a conftest raises
                about = {"test_id": "", "phase": "collect", "outcome": "error"}
                self._session.broken[EVERYTHING] = record.failure(cause, root=self._session.root, **about)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
            outcome: Any = yield
            report = outcome.get_result()
            if report.outcome == "failed":
                self._session.broken[report.nodeid] = self._failure(report)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: Any) -> bool:
            for item in session.items:
                self._session.items.setdefault(item.nodeid, item)
            self._serve()
            return True

        def _failure(self, report: Any) -> dict[str, Any]:
            call = getattr(report, "call", None)
            about = {"test_id": report.nodeid, "phase": "collect", "outcome": "error"}
            if call is None or call.excinfo is None:
                return record.plain_failure(str(report.longrepr), **about)
            exc = call.excinfo.value
            found = record.failure(exc.__cause__ or exc, root=self._session.root, **about)
            return found | {"text": record.cut_middle(str(report.longrepr), record.LONGEST_TEXT)}
