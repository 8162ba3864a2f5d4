"""One script: {"source", "argv": [what it is told, the device first], "name"}."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..running import run_script

if TYPE_CHECKING:
    from ..session import Session


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    """{"outcome": passed | failed, "failures", "duration_s"}, see `running.run_script`.

    It is told its device, so no name is redirected in it.
    """
    if session.redirect and session.redirect != session.device:
        importlib.import_module("..redirect", __package__).lift()
    argv = payload.get("argv", [session.device])
    return run_script(payload["source"], name=payload.get("name", "repro.py"), argv=argv, without=session.switch)
