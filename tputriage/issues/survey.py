"""What is on the tracker already, as complete as the plan needs it: our issues, people's, and where duplicates lead.

A listing that fails raises, and nothing is planned: an issue that was not seen would be filed again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tputriage.issues.gates import repository_for
from tputriage.issues.match import FOLLOWED
from tputriage.issues.policy import Policy
from tputriage.issues.tracker import Tracker
from tputriage.model import Dossier, TrackedIssue

_DUPLICATE = re.compile(r"\bduplicate of\s+(?:\S*?/issues/|#)(\d+)", re.IGNORECASE)


def survey(
    tracker: Tracker, dossiers: Sequence[Dossier], policy: Policy, *, people_since_s: float = 0.0
) -> tuple[TrackedIssue, ...]:
    """The issues for `make_plan`: ours from the beginning, people's as far as changed since `people_since_s`."""
    places = {repository_for(dossier, policy) or policy.repository for dossier in dossiers}
    return tuple(
        issue for place in sorted(places) for issue in _in_repository(tracker, dossiers, policy, place, people_since_s)
    )


def _in_repository(
    tracker: Tracker, dossiers: Sequence[Dossier], policy: Policy, repository: str, since_s: float
) -> list[TrackedIssue]:
    issues = {issue.number: issue for issue in tracker.list_issues(repository, since_s=since_s)}
    # Where the first listing went back to the beginning, it had ours too.
    for author in sorted(policy.authors) if since_s else ():
        issues |= {issue.number: issue for issue in tracker.list_issues(repository, creator=author)}
    _add_remembered(tracker, dossiers, policy, repository, issues)
    _follow_duplicates(tracker, repository, policy, issues)
    return [issues[number] for number in sorted(issues)]


def _add_remembered(
    tracker: Tracker,
    dossiers: Sequence[Dossier],
    policy: Policy,
    repository: str,
    issues: dict[int, TrackedIssue],
) -> None:
    """The listing may lag behind what the ledger knows; asking for one number does not."""
    for dossier in dossiers:
        here = (repository_for(dossier, policy) or policy.repository) == repository
        if here and dossier.issue is not None and dossier.issue not in issues:
            issue = tracker.get(repository, dossier.issue)
            if issue is not None:
                issues[issue.number] = issue


def _follow_duplicates(tracker: Tracker, repository: str, policy: Policy, issues: dict[int, TrackedIssue]) -> None:
    """Say of our closed duplicates, and of what they lead to, which issue they duplicate; bounded, cycles or not."""
    ours = {author.lower() for author in policy.authors}
    numbers = [number for number, issue in issues.items() if issue.author.lower() in ours and _is_duplicate(issue)]
    for number in numbers:
        here: int | None = number
        for _ in range(FOLLOWED):
            here = _follow_one(tracker, repository, issues, here) if here is not None else None


def _follow_one(tracker: Tracker, repository: str, issues: dict[int, TrackedIssue], number: int) -> int | None:
    issue = issues.get(number) or tracker.get(repository, number)
    if issue is None:
        return None
    issues[number] = issue
    if not _is_duplicate(issue) or issue.duplicate_of is not None:
        return None
    texts = [comment.body for comment in tracker.comments(repository, number)]
    named = [int(match[1]) for text in (issue.body, *texts) for match in _DUPLICATE.finditer(text)]
    original = next((other for other in reversed(named) if other != number), None)
    issues[number] = replace(issue, duplicate_of=original)
    return original


def _is_duplicate(issue: TrackedIssue) -> bool:
    return issue.state == "closed" and issue.state_reason == "duplicate"
