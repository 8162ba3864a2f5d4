"""`tputriage run`: a script or module on a target, unchanged, with the caller's own standard streams."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tputriage.config import Settings, device_switch
from tputriage.errors import InputError
from tputriage.pipeline.place import settings_for
from tputriage.targets.catalogue import ROWS, find_target
from tputriage.targets.fresh import launch


def run(program: str, arguments: Sequence[str], *, module: bool, target: str | None, plugin: str | None) -> int:
    """The program's own exit code. In a suite's folder the suite is told its device, unless the caller does that."""
    if not module and not (os.path.isfile(program) or os.path.isfile(Path(program, "__main__.py"))):
        raise InputError(f"there is no script {program or 'of an empty name'}; a module is run with -m")
    settings = settings_for(None, target=target, plugin=plugin)
    if target is None and not module and _names_a_target(arguments, settings):
        return run(program, arguments[2:], module=module, target=arguments[1], plugin=plugin)
    found = find_target(settings.target, settings)
    switch = device_switch(settings, Path.cwd())
    env = {**settings.env, **({switch: found.device} if switch else {})}
    return launch(found, (program, *arguments), module=module, env=env, redirect=settings.redirect)


def _names_a_target(arguments: Sequence[str], settings: Settings) -> bool:
    """`run repro.py --target emulator`, as people type it: ours where it names a target, else the script's own."""
    return len(arguments) > 1 and arguments[0] == "--target" and arguments[1] in (*ROWS, *settings.targets)
