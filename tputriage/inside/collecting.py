"""A pytest session that collects once and then serves instead of running its tests.

The plugin takes over `pytest_runtestloop`. Whatever breaks on the way there (a conftest, an import, an option)
becomes a failure in phase `collect` that answers every test asked for, and the worker goes on living.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import record

if TYPE_CHECKING:
    from .session import Session

try:
    import pytest
except ImportError:  # scripts alone need no pytest
    pytest = None  # type: ignore[assignment]

EVERYTHING = ""  # the key in Session.broken of what keeps every test from being collected


def collect(session: Session, files: Sequence[str], extra: Sequence[str], serve: Callable[[], None]) -> None:
    """Calls `serve` from inside a pytest session over `files`; returns only where there could be none."""
    try:
        code = pytest.main(arguments(session.root, files, extra), plugins=[Plugin(session, serve)])
        reason = f"pytest could not collect and ended with code {int(code)}"
        broken = record.plain_failure(reason, test_id="", phase="collect", outcome="error")
    except BaseException as exc:
        broken = record.failure(exc, test_id="", phase="collect", outcome="error", root=session.root)
    session.broken.setdefault(EVERYTHING, broken)


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
