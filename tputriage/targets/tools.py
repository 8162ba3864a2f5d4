"""What other programs on this machine know: so far, GitHub's own command line."""

from __future__ import annotations

import shutil
import subprocess

PATIENCE_S = 10.0


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
