"""How the issue of each bucket stands: what a plan met, and what applying it changed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tputriage.issues.apply import Result
from tputriage.issues.policy import Policy
from tputriage.model import Action, Step, TrackedIssue


def states_met(
    steps: Sequence[Step], existing: Sequence[TrackedIssue] | None, policy: Policy
) -> dict[str, TrackedIssue]:
    """{bucket: its own issue}: not the copies that are closed beside it, nor what people filed."""
    ours = {author.lower() for author in policy.authors}
    known = {
        (issue.repository or policy.repository, issue.number): issue
        for issue in existing or ()
        if issue.author.lower() in ours
    }
    found: dict[str, TrackedIssue] = {}
    for step in steps:
        issue = known.get((step.repository, step.issue or 0))
        if issue is not None:
            found.setdefault(step.bucket, replace(issue, repository=step.repository))
    return found


def states_left(results: Sequence[Result], met: Mapping[str, TrackedIssue]) -> dict[str, TrackedIssue]:
    """The same after the plan was applied: what was filed, reopened or closed is so now."""
    found = dict(met)
    for result in results:
        step = result.step
        if not result.done or result.issue is None or step.state_reason == "duplicate":
            continue
        if step.action is Action.CREATE:
            found[step.bucket] = TrackedIssue(
                result.issue, step.title, "", "open", labels=step.labels, repository=step.repository
            )
        elif step.action in (Action.REOPEN, Action.CLOSE) and step.bucket in found:
            state = "open" if step.action is Action.REOPEN else "closed"
            found[step.bucket] = replace(found[step.bucket], state=state, state_reason=step.state_reason)
    return found
