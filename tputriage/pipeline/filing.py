"""`tputriage file-issues`: what is known -> a plan, shown; applied through the ledger where it was confirmed."""

from __future__ import annotations

import getpass
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from rich.console import RenderableType

from tputriage.compare.knobs import KNOBS
from tputriage.config import Settings
from tputriage.console import Done, confirm, plural, progress, stoppable, table, tell
from tputriage.issues.apply import Filer, Result, apply_each
from tputriage.issues.credentials import find_credentials, need_credentials
from tputriage.issues.github import GitHubTracker
from tputriage.issues.masks import cleaner_for
from tputriage.issues.plan import make_plan
from tputriage.issues.policy import Policy
from tputriage.issues.states import states_left, states_met
from tputriage.issues.survey import survey
from tputriage.model import Action, Step, TrackedIssue
from tputriage.pipeline.place import installed_versions, settings_for
from tputriage.store import Store, open_store
from tputriage.store.ledger import StoredLedger
from tputriage.targets.catalogue import emulators
from tputriage.targets.tools import gh_token

PEOPLE_S = 365 * 86_400.0  # how far back issues that people filed are compared; ours are read from the beginning


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
    """The plan with each issue's title and body, and unless `dry_run`, what became of it.

    Exit code 1 where a step was tried and did not succeed. Raises InputError where nobody can be asked and `yes`
    was not given, TrackerError where GitHub cannot be listed: then nothing is filed.
    """
    settings = settings_for(None, **given)
    policy = policy_for(settings, allow_emulator=allow_emulator, close_fixed=close_fixed)
    with open_store(store, create=False) as opened:
        if dry_run:
            return _planned(_plan(opened, _tracker_if_any(settings), policy, quiet=quiet)[0])
        tracker = GitHubTracker(need_credentials(os.environ, gh_token), api_url=settings.api_url)
        steps, met = _plan(opened, tracker, policy, quiet=quiet)
        if not _agreed(steps, yes):
            return _planned(steps)
        filer = Filer(tracker, StoredLedger(opened), barred=policy.barred, authors=policy.authors)
        return _applied(_apply(steps, filer, StoredLedger(opened), met, quiet=quiet))


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
        distinct=frozenset(settings.distinct),
        emulators=frozenset(emulators(settings)),
        versions=installed_versions(),
        settings={knob.name: knob.how for knob in KNOBS},
        templates=Path(settings.templates) if settings.templates else None,
        cleaner=cleaner_for(os.environ, user=_user(), host=platform.node(), home=str(Path.home())),
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user in this container: then there is no name to mask
        return ""


def _tracker_if_any(settings: Settings) -> GitHubTracker | None:
    """A dry run looks at GitHub where it may, and plans from what the store remembers where it may not."""
    credentials = find_credentials(os.environ, gh_token)
    return GitHubTracker(credentials, api_url=settings.api_url) if credentials else None


def _plan(
    store: Store, tracker: GitHubTracker | None, policy: Policy, *, quiet: bool
) -> tuple[tuple[Step, ...], dict[str, TrackedIssue]]:
    """(the plan, the issue of each bucket as GitHub has it now), the latter remembered for the page."""
    dossiers = store.dossiers()
    if tracker is None:
        return make_plan(dossiers, None, policy), {}
    with (
        stoppable(lambda: "nothing was written, to GitHub or here: the same command starts anew"),
        progress("filing", quiet=quiet) as step,
    ):
        step(0, 1, f"reading the issues of {policy.repository}")
        policy = replace(policy, authors=policy.authors | {tracker.login()})
        existing = survey(tracker, dossiers, policy, people_since_s=time.time() - PEOPLE_S)
    steps = make_plan(dossiers, existing, policy)
    met = states_met(steps, existing, policy)
    StoredLedger(store).saw(met, time.time())
    return steps, met


def _apply(
    steps: Sequence[Step], filer: Filer, ledger: StoredLedger, met: Mapping[str, TrackedIssue], *, quiet: bool
) -> tuple[Result, ...]:
    """What became of each step, in order; how the issues stand then is remembered, stopped or not."""
    results: list[Result] = []
    writes = [step for step in steps if step.action is not Action.SKIP]
    try:
        with stoppable(lambda: _kept(results, writes)), progress("filing", quiet=quiet) as tell_step:
            for result in apply_each(steps, filer):
                results.append(result)
                tell_step(_written(results), len(writes), result.step.title)
    finally:
        ledger.saw(states_left(results, met), filer.clock())
    return tuple(results)


def _written(results: Sequence[Result]) -> int:
    return sum(result.step.action is not Action.SKIP for result in results)


def _kept(results: Sequence[Result], writes: Sequence[Step]) -> str:
    return (
        f"{_written(results)} of {plural(len(writes), 'change')} done, and the ledger knows what may have been sent:"
        " the same command goes on, and files nothing twice"
    )


def _agreed(steps: Sequence[Step], yes: bool) -> bool:
    writes = [step for step in steps if step.action is not Action.SKIP]
    if not writes or yes:
        return bool(writes)
    for step in writes:
        number = f" #{step.issue}" if step.issue else ""
        tell(f"{step.action}{number}: {step.title}\n    {step.reason}")
    return confirm(f"write {plural(len(writes), 'change')} to GitHub?")


def _planned(steps: Sequence[Step]) -> Done:
    return Done({"plan": [_row(step) for step in steps]}, (_listing(steps), *_texts(steps)))


def _applied(results: Sequence[Result]) -> Done:
    rows = [
        {
            **_row(result.step),
            "done": result.done,
            "issue": result.issue,
            "note": result.note,
            "problem": result.problem,
        }
        for result in results
    ]
    shown = (
        (
            result.step.action.value,
            result.step.bucket,
            f"#{result.issue}" if result.issue else "",
            result.step.title,
            result.problem or result.note or ("done" if result.done else result.step.reason),
        )
        for result in results
    )
    listing = table("", ("action", "bucket", "issue", "title", "what became of it"), shown)
    return Done({"plan": rows}, (listing,), code=int(any(result.problem for result in results)))


def _row(step: Step) -> Mapping[str, Any]:
    row: Mapping[str, Any] = msgspec.to_builtins(step)
    return row


def _listing(steps: Sequence[Step]) -> RenderableType:
    rows = (
        (step.action.value, step.bucket, f"#{step.issue}" if step.issue else "", step.title, step.reason)
        for step in steps
    )
    return table("", ("action", "bucket", "issue", "title", "why"), rows) if steps else "nothing is stored"


def _texts(steps: Sequence[Step]) -> list[str]:
    shown = [step for step in steps if step.action is not Action.SKIP]
    return [part for step in shown for part in ("", "─" * 80, step.title, "", step.body or step.comment)]


def _outcome(result: Result) -> dict[str, object]:
    return {"done": result.done, "issue": result.issue, "note": result.note, "problem": result.problem}
