"""Keeps pytest's explanation of a failed assert from compiling programs to print a tensor.

The explanation calls `repr` on every intermediate value, and the repr of a tensor on the device computes its
width and sign there: 4 to 13 s a failure. The numbers are fetched to the host first instead; the text is the
same. Only inside such explanations: a test that prints a tensor itself does what it always did.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def install() -> None:
    """Replaces the function by which rewritten asserts show values."""
    rewrite: Any = importlib.import_module("_pytest.assertion.rewrite")
    tensor_text = importlib.import_module("torch._tensor_str")
    rewrite._saferepr = _on_host(rewrite._saferepr, tensor_text)


def _on_host(show: Callable[[object], str], tensor_text: Any) -> Callable[[object], str]:
    original = tensor_text._tensor_str

    def fetched(tensor: Any, indent: int) -> str:
        on_device = getattr(tensor.device, "type", "") == "tpu"
        text: str = original(tensor.detach().cpu() if on_device else tensor, indent)
        return text

    def shown(value: object) -> str:
        tensor_text._tensor_str = fetched
        try:
            return show(value)
        finally:
            tensor_text._tensor_str = original

    return shown
