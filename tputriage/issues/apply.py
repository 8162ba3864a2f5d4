"""Doing what the plan says, so that a crash, a lost answer or a second filer at any moment files nothing twice.

A creation: intent is committed; GitHub is asked once more; "sent" is committed; one POST; the number is committed.
Whatever finds "sent" without a number first looks: in the listing, and, since that lags, at the numbers after the
highest there was before, one by one. After a creation the same look finds a second filer's issue: the lowest number
wins, and who has the higher one closes it with a link. A comment is preceded by a look at the comments. All else
(body, state, labels) may be repeated freely.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tputriage.errors import TrackerError
from tputriage.issues.ledger import DONE, INTENT, SENT, Ledger, comment_key, creation_key
from tputriage.issues.marker import Mark, comment_mark, read_mark, replace_section, section_of
from tputriage.issues.tracker import StoppedError, Tracker, UnsureError
from tputriage.model import Action, Filing, Step, TrackedIssue

PROBED = 200  # numbers looked at after the highest known, at most
HOLES = 4  # numbers in a row that answer nothing (deleted, or the end)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a step: `done`, or `problem` says why not; `note` is what a person should know besides."""

    step: Step
    done: bool
    issue: int | None = None
    note: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Filer:
    """What applying needs at hand."""

    tracker: Tracker
    ledger: Ledger
    barred: frozenset[str] = frozenset()  # labels, in lower case, that may have come since the plan was made
    authors: frozenset[str] = frozenset()  # whose marks count, besides our own
    clock: Callable[[], float] = field(default=time.time)


def apply_plan(steps: Sequence[Step], filer: Filer) -> tuple[Result, ...]:
    """One result a step, in order; after a failure that will meet every step, the rest are not tried."""
    return tuple(apply_each(steps, filer))


def apply_each(steps: Sequence[Step], filer: Filer) -> Iterator[Result]:
    """The same, each as soon as it is done."""
    stopped = ""
    for step in steps:
        if stopped and step.action is not Action.SKIP:
            yield Result(step, done=False, issue=step.issue, problem=f"not tried: {stopped}")
            continue
        try:
            yield _apply(step, filer)
        except TrackerError as exc:
            stopped = str(exc) if isinstance(exc, StoppedError) else ""
            yield Result(step, done=False, issue=step.issue, problem=str(exc))


def _apply(step: Step, filer: Filer) -> Result:
    if step.action is Action.SKIP:
        return Result(step, done=True, issue=step.issue)
    if step.action is Action.CREATE:
        return _create(step, filer)
    return _change(step, filer)


# -- creating ------------------------------------------------------------------------------------------------


def _create(step: Step, filer: Filer) -> Result:
    filing = filer.ledger.find(creation_key(step.repository, step.bucket))
    if filing is not None and filing.state == DONE:
        return Result(step, done=True, issue=filing.number, note="filed before, as the ledger remembers")
    if filing is None or filing.state == INTENT:
        filing = _intend(step, filer)
    there = _look(step, filer, filing)
    return _keep_first(step, filer, filing, there) if there else _post(step, filer, filing)


def _intend(step: Step, filer: Filer) -> Filing:
    key = creation_key(step.repository, step.bucket)
    floor = filer.tracker.newest(step.repository)
    filing = Filing(key, step.bucket, step.repository, INTENT, floor=floor, at_s=filer.clock())
    filer.ledger.write(filing)
    return filing


def _post(step: Step, filer: Filer, filing: Filing) -> Result:
    sent = replace(filing, state=SENT, at_s=filer.clock())
    filer.ledger.write(sent)
    try:
        made = filer.tracker.create(step.repository, step.title, step.body, step.labels)
    except UnsureError as exc:
        there = _look(step, filer, sent)
        if not there:  # "sent" stays in the ledger; a request may still be on its way through a gateway
            raise UnsureError(f"{exc}; it is not there yet, and the next run looks again before it sends") from exc
        return _keep_first(step, filer, sent, there)
    except TrackerError:
        filer.ledger.write(filing)  # refused: nothing was filed
        raise
    # The number is known, so it is committed before anything else can go wrong.
    filer.ledger.write(replace(sent, state=DONE, number=made.number))
    there = _look(step, filer, sent)
    return _keep_first(step, filer, sent, there or (made,), mine=made.number)


def _keep_first(
    step: Step, filer: Filer, filing: Filing, there: Sequence[TrackedIssue], *, mine: int | None = None
) -> Result:
    """The lowest number wins, so that two filers who see both decide alike; who has another closes it."""
    first = next((issue for issue in there if issue.state == "open"), there[0])
    if mine is not None and mine != first.number:
        _close_copy(step, filer, mine, first.number)
    filer.ledger.write(replace(filing, state=DONE, number=first.number, at_s=filer.clock()))
    if mine == first.number:
        return Result(step, done=True, issue=first.number, note=_complete_labels(step, filer, first.number))
    note = f"#{first.number} is there already" + (f"; #{mine}, filed at the same time, is closed" if mine else "")
    return Result(step, done=True, issue=first.number, note=note)


def _close_copy(step: Step, filer: Filer, copy: int, first: int) -> None:
    mark = comment_mark(f"duplicate:{copy}:{first}")
    _comment_once(
        step, filer, copy, f"{mark}\nDuplicate of #{first}, which was filed at the same time. Closing this one."
    )
    filer.tracker.edit(step.repository, copy, state="closed", state_reason="duplicate")


def _complete_labels(step: Step, filer: Filer, number: int) -> str:
    """Without push access GitHub drops the labels of a new issue without a word, so it is read back once."""
    current = filer.tracker.get(step.repository, number) if step.labels else None
    missing = tuple(label for label in step.labels if current and label not in current.labels)
    if not missing:
        return ""
    try:
        filer.tracker.add_labels(step.repository, number, missing)
    except StoppedError:
        raise
    except TrackerError as exc:
        return f"without the labels {', '.join(missing)}: {exc}"
    return ""


def _look(step: Step, filer: Filer, filing: Filing) -> tuple[TrackedIssue, ...]:
    """The issues that carry the step's bucket, lowest number first."""
    wanted = read_mark(step.body)
    login = filer.tracker.login()
    listed = {issue.number: issue for issue in filer.tracker.list_issues(step.repository, creator=login)}
    found = {**listed, **_probe(step.repository, filer, filing.floor, listed)}
    authors = {author.lower() for author in (login, *filer.authors)}
    return tuple(
        found[number]
        for number in sorted(found)
        if found[number].author.lower() in authors and _carries(found[number], wanted)
    )


def _probe(repository: str, filer: Filer, floor: int, listed: Mapping[int, TrackedIssue]) -> dict[int, TrackedIssue]:
    """What came after `floor` and the listing may not show yet: numbers are given out in order."""
    found: dict[int, TrackedIssue] = {}
    holes, last = 0, max(listed, default=0)
    for number in range(floor + 1, floor + 1 + PROBED):
        issue = listed.get(number) or filer.tracker.get(repository, number)
        if issue is not None:
            found[number], holes = issue, 0
        elif number > last:
            holes += 1
        if holes == HOLES:
            break
    return found


def _carries(issue: TrackedIssue, wanted: Mark | None) -> bool:
    mark = read_mark(issue.body)
    return mark is not None and wanted is not None and bool(mark.keys & wanted.keys)


# -- changing what is there ------------------------------------------------------------------------------------


def _change(step: Step, filer: Filer) -> Result:
    assert step.issue is not None, "only a creation has no number"
    current = filer.tracker.get(step.repository, step.issue)
    kept_away = _kept_away(step, current, filer)
    if current is None or kept_away:
        return Result(step, done=True, issue=step.issue, note=kept_away)
    if step.comment:
        _comment_once(step, filer, step.issue, step.comment)
    changes = _changes(step, current)
    if changes:
        filer.tracker.edit(step.repository, step.issue, **changes)
    return Result(step, done=True, issue=step.issue)


def _kept_away(step: Step, current: TrackedIssue | None, filer: Filer) -> str:
    """What people did since the plan was made, and we respect."""
    if current is None:
        return f"#{step.issue} is gone: left alone"
    label = next((label for label in current.labels if label.lower() in filer.barred), "")
    if label:
        return f"#{step.issue} has the label `{label}` now: left alone"
    if step.action is Action.REOPEN:
        decided = current.state == "closed" and current.state_reason in ("not_planned", "duplicate")
        return f"#{step.issue} was closed as {current.state_reason} since: left alone" if decided else ""
    return f"#{step.issue} was closed since: left alone" if current.state == "closed" else ""


def _changes(step: Step, current: TrackedIssue) -> dict[str, str]:
    """Body and state go in one request, so that no crash comes between them."""
    section = section_of(step.body)
    body = replace_section(current.body, section) if section else None
    changes = {"body": body} if body and body != current.body else {}
    if step.action is Action.CLOSE:
        changes |= {"state": "closed", "state_reason": step.state_reason or "completed"}
    if step.action is Action.REOPEN and current.state == "closed":
        changes |= {"state": "open", "state_reason": "reopened"}
    return changes


def _comment_once(step: Step, filer: Filer, number: int, text: str) -> None:
    mark = text.partition("\n")[0]
    key = comment_key(step.repository, number, mark)
    filing = filer.ledger.find(key)
    if filing is not None and filing.state == DONE:
        return
    filing = Filing(key, step.bucket, step.repository, SENT, number, at_s=filer.clock())
    if not _has_comment(step.repository, filer, number, mark):
        filer.ledger.write(filing)
        try:
            filer.tracker.comment(step.repository, number, text)
        except UnsureError:
            if not _has_comment(step.repository, filer, number, mark):
                raise
    filer.ledger.write(replace(filing, state=DONE))


def _has_comment(repository: str, filer: Filer, number: int, mark: str) -> bool:
    login = filer.tracker.login().lower()
    return any(
        comment.author.lower() == login and comment.body.startswith(mark)
        for comment in filer.tracker.comments(repository, number)
    )
