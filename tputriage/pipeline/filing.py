"""`tputriage file-issues`: what is known -> a plan, shown; applied where it was confirmed."""

from __future__ import annotations

import getpass
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tputriage.config import Settings
from tputriage.console import Done, table
from tputriage.errors import InputError
from tputriage.issues.masks import cleaner_for
from tputriage.issues.plan import make_plan
from tputriage.issues.policy import Policy
from tputriage.model import Action, Step
from tputriage.pipeline.place import installed_versions, settings_for
from tputriage.store import open_store


def file_issues(
    *,
    dry_run: bool,
    yes: bool,
    allow_emulator: bool,
    close_fixed: bool,
    store: Path,
    quiet: bool,
    **given: Any,
) -> Done:
    """Shows the plan with each issue's title and body, and stops there with `dry_run`."""
    settings = settings_for(None, **given)
    policy = policy_for(settings, allow_emulator=allow_emulator, close_fixed=close_fixed)
    with open_store(store, create=False) as opened:
        steps = make_plan(opened.dossiers(), None, policy)
    if not dry_run:
        raise InputError("filing needs --dry-run in this version: copy the texts it shows, nothing was filed")
    return Done({"plan": [_row(step) for step in steps]}, (_listing(steps), *_texts(steps)))


def policy_for(settings: Settings, *, allow_emulator: bool, close_fixed: bool) -> Policy:
    """What the settings and the command line decide about filing."""
    return Policy(
        repository=settings.repository,
        upstream=settings.upstream,
        allow_emulator=allow_emulator,
        close_fixed=close_fixed,
        max_new=settings.max_new,
        labels=settings.labels,
        veto_label=settings.veto_label,
        authors=frozenset(settings.authors),
        versions=installed_versions(),
        templates=Path(settings.templates) if settings.templates else None,
        cleaner=cleaner_for(os.environ, user=_user(), host=platform.node(), home=str(Path.home())),
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user in this container: then there is no name to mask
        return ""


def _row(step: Step) -> Mapping[str, Any]:
    row: Mapping[str, Any] = msgspec.to_builtins(step)
    return row


def _listing(steps: Sequence[Step]) -> Any:
    rows = (
        (step.action.value, step.bucket, f"#{step.issue}" if step.issue else "", step.title, step.reason)
        for step in steps
    )
    return table("", ("action", "bucket", "issue", "title", "why"), rows) if steps else "nothing is stored"


def _texts(steps: Sequence[Step]) -> list[str]:
    shown = [step for step in steps if step.action is not Action.SKIP]
    return [part for step in shown for part in ("", "─" * 80, step.title, "", step.body or step.comment)]
