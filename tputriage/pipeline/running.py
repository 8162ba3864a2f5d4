"""`tputriage run`: a script or module on a target, unchanged, with the caller's own standard streams."""

from __future__ import annotations

from collections.abc import Sequence

from tputriage.pipeline.place import settings_for
from tputriage.targets.catalogue import find_target
from tputriage.targets.fresh import launch


def run(program: str, arguments: Sequence[str], *, module: bool, target: str | None, plugin: str | None) -> int:
    """The program's own exit code."""
    settings = settings_for(None, target=target, plugin=plugin)
    return launch(find_target(settings.target, settings), (program, *arguments), module=module)
