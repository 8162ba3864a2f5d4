"""`tputriage doctor`: what works here, in one table."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tputriage.config import Settings
from tputriage.console import Done, shorten, table
from tputriage.doctor import Check, Rights, check_all
from tputriage.errors import TriageError
from tputriage.issues.credentials import Credentials, find_credentials
from tputriage.issues.github import GitHubTracker, Patience
from tputriage.issues.masks import cleaner_for
from tputriage.pipeline.place import settings_for
from tputriage.store import NEWEST
from tputriage.targets.catalogue import check_known
from tputriage.targets.tools import gh_token

LONGEST, MOST_SCOPES = 60, 40  # characters of a login or a scope
BRIEF = Patience(timeout_s=10, tries=1, longest_wait_s=0.0, between_requests_s=0.0)


def doctor(*, store: Path, quiet: bool, root: Path | None, **machine: Any) -> Done:
    """Exit code 1 where the target for failures is not available; raises InputError for one that nobody knows."""
    settings = settings_for(root, **machine)
    for name in (settings.target, settings.reference):
        check_known(name, settings)
    checks = check_all(settings, root, store, _rights(settings), NEWEST)
    listing = table(
        "",
        ("check", "", "found", "what to do"),
        ((check.name, "ok" if check.fine else "--", check.says, check.cure) for check in checks),
    )
    able = any(check.fine for check in checks if _is_wanted(check, settings))
    return Done({"checks": [asdict(check) for check in checks], "ready": able}, (listing,), code=0 if able else 1)


def _is_wanted(check: Check, settings: Settings) -> bool:
    names = ("tpu", "emulator") if settings.target == "auto" else (settings.target,)
    return check.name in [f"target {name}" for name in names]


def _rights(settings: Settings) -> Rights:
    """Whose token it is and what it may do, asked of GitHub once, and not for long."""
    source = ""
    try:
        found = find_credentials(os.environ, gh_token)
        if found is None:
            return Rights()
        source = _kind(found)
        tracker = GitHubTracker(found, api_url=settings.api_url, patience=BRIEF)
        scopes = tracker.scopes()
        known = None if scopes is None else tuple(map(_told, scopes[:MOST_SCOPES]))
        return Rights(source, _told(tracker.login()), known, repository=settings.repository)
    except TriageError as exc:
        return Rights(source, trouble=str(exc))


def _told(text: str) -> str:
    """A word of a server, which may be no GitHub."""
    return shorten(cleaner_for(os.environ).mask(text), LONGEST)


def _kind(found: Credentials) -> str:
    if found.is_app:
        return "a GitHub App's"
    return "a fine-grained one" if found.token.startswith("github_pat_") else "there"
