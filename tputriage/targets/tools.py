"""What other programs on this machine know: GitHub's own command line, and another Python."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping

from tputriage.errors import TargetError

PATIENCE_S = 10.0
ASK_VERSIONS = """
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def gh_token() -> str:
    """What `gh auth token` says; "" where gh is not installed or not logged in."""
    program = shutil.which("gh")
    if program is None:
        return ""
    try:
        said = subprocess.run(
            [program, "auth", "token"], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def versions_in(python: str, packages: tuple[str, ...]) -> Mapping[str, str]:
    """{"python" and each package that is installed there: version}; raises TargetError where it is no Python."""
    try:
        said = subprocess.run(
            [python, "-c", ASK_VERSIONS, *packages], capture_output=True, text=True, timeout=PATIENCE_S, check=True
        )
        found: Mapping[str, str] = json.loads(said.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as exc:
        raise TargetError(f"the interpreter {python} cannot be run: {type(exc).__name__}") from exc
    return found
