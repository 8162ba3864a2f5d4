"""What runs here: {"touch": bool}. With `touch` the device is used once, so that one held or broken says so."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..session import Session


def serve(payload: Mapping[str, Any], session: Session) -> dict[str, Any]:
    """{"versions": {...}, "device", "plugin"}; raises what torch raises where the device cannot be used."""
    if payload.get("touch"):
        torch = importlib.import_module("torch")
        assert torch.ones(2, device=session.device).sum().item() == 2.0
    found = importlib.import_module("..session", __package__).versions()
    return {"versions": found, "device": session.device, "plugin": session.plugin}
