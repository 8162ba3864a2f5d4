"""The emulator for every Python that a program on it starts: pytest-xdist's workers, spawned processes.

On a TPU VM `import torch` brings up the device by itself, through the entry point of torch_tpu. This folder on
PYTHONPATH is an installed package to Python, with an entry point of the same group, so that the same import
brings up the emulator: TPUTRIAGE_PLUGIN names the PJRT plugin. Without that variable it does nothing.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from pathlib import Path

ENTRY = Path(__file__).resolve().parent.parent / "main.py"


def load() -> None:
    """What torch calls at the end of its own import."""
    plugin = os.environ.get("TPUTRIAGE_PLUGIN")
    if not plugin:
        return
    if "tputriage_inside" not in sys.modules:
        runpy.run_path(str(ENTRY), run_name="tputriage_entry")["load_own_package"]()
    importlib.import_module("tputriage_inside.boot").bring_up_emulator(plugin)
