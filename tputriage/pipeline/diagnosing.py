"""`tputriage doctor`: what works here, in one table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from tputriage.console import Done, table
from tputriage.doctor import check_all
from tputriage.pipeline.place import settings_for


def doctor(*, store: Path, quiet: bool, root: Path | None, **machine: Any) -> Done:
    """Exit code 1 where no target for failures is available."""
    checks = check_all(settings_for(root, **machine), root, store)
    listing = table(
        "",
        ("check", "", "found", "what to do"),
        ((check.name, "ok" if check.fine else "--", check.says, check.cure) for check in checks),
    )
    able = any(check.fine for check in checks if check.name in ("target tpu", "target emulator"))
    return Done({"checks": [asdict(check) for check in checks], "ready": able}, (listing,), code=0 if able else 1)
