"""`tputriage doctor`: what works here, in one table."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tputriage.console import Done, table
from tputriage.doctor import Rights, check_all
from tputriage.errors import TriageError
from tputriage.issues.credentials import find_credentials
from tputriage.pipeline.place import settings_for
from tputriage.targets.tools import gh_token


def doctor(*, store: Path, quiet: bool, root: Path | None, **machine: Any) -> Done:
    """Exit code 1 where no target for failures is available."""
    checks = check_all(settings_for(root, **machine), root, store, _rights())
    listing = table(
        "",
        ("check", "", "found", "what to do"),
        ((check.name, "ok" if check.fine else "--", check.says, check.cure) for check in checks),
    )
    able = any(check.fine for check in checks if check.name in ("target tpu", "target emulator"))
    return Done({"checks": [asdict(check) for check in checks], "ready": able}, (listing,), code=0 if able else 1)


def _rights() -> Rights:
    """Whether a token could be had; what it may do is GitHub's to say, and nothing is asked here."""
    try:
        found = find_credentials(os.environ, gh_token)
    except TriageError as exc:
        return Rights(trouble=str(exc))
    if found is None:
        return Rights()
    return Rights("a GitHub App's" if found.is_app else "there, not tried")
