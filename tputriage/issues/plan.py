"""The filing plan: for each bucket what to do with its issue, and why. Pure: nothing here asks GitHub or the store.

A bucket that is left alone is a step too, since "why was this not filed?" is the question people have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tputriage.issues.comments import Change, draft_comment
from tputriage.issues.gates import newest_failing, repository_for, why_not, why_not_fixed
from tputriage.issues.marker import Mark, replace_section, section_of
from tputriage.issues.match import Found, find_own, near_duplicates
from tputriage.issues.policy import DEVICE_VERSION, Policy, is_newer, newest
from tputriage.issues.text import draft_issue
from tputriage.model import Action, Bucket, Dossier, Step, TrackedIssue


def make_plan(dossiers: Sequence[Dossier], existing: Sequence[TrackedIssue] | None, policy: Policy) -> tuple[Step, ...]:
    """At least one step for each dossier, in their order.

    `existing` are the issues of every repository concerned (`TrackedIssue.repository` says which; "" is
    `policy.repository`), complete: a listing that failed must not come here. None plans from what the store remembers.
    """
    steps: list[Step] = []
    for dossier, also in _units(dossiers):
        steps += _Case(dossier, policy, _of(existing, dossier, policy)).steps()
        steps += [_joined(other, dossier) for other in also]
    order = {dossier.bucket.id: place for place, dossier in enumerate(dossiers)}
    return _capped(sorted(steps, key=lambda step: order[step.bucket]), policy)


def _units(dossiers: Sequence[Dossier]) -> list[tuple[Dossier, tuple[Dossier, ...]]]:
    """One issue a missing operator: buckets that miss the same one are filed as the one best known."""
    groups: dict[str, list[Dossier]] = {}
    for dossier in dossiers:
        groups.setdefault(_unit(dossier.bucket), []).append(dossier)
    return [_merged(group) for group in groups.values()]


def _unit(bucket: Bucket) -> str:
    signature = bucket.signature
    missing = signature.family == "missing-op" and signature.operator
    return f"missing {signature.operator.partition('::')[2].partition('.')[0]}" if missing else bucket.id


def _merged(group: Sequence[Dossier]) -> tuple[Dossier, tuple[Dossier, ...]]:
    if len(group) == 1:
        return group[0], ()
    first = min(group, key=lambda dossier: (dossier.issue is None, dossier.repro is None, -len(dossier.bucket.tests)))
    others = tuple(dossier for dossier in group if dossier is not first)
    keys = (first.bucket.aliases, *((other.bucket.signature.key, *other.bucket.aliases) for other in others))
    failures = first.bucket.failures + tuple(failure for other in others for failure in other.bucket.failures)
    aliases = tuple(dict.fromkeys(key for known in keys for key in known))
    return replace(first, bucket=replace(first.bucket, failures=failures, aliases=aliases)), others


def _joined(other: Dossier, first: Dossier) -> Step:
    reason = f"the same missing operator as {first.bucket.id}, whose issue lists its tests"
    return Step(Action.SKIP, other.bucket.id, other.bucket.title, reason)


def _of(existing: Sequence[TrackedIssue] | None, dossier: Dossier, policy: Policy) -> tuple[TrackedIssue, ...] | None:
    if existing is None:
        return None
    where = repository_for(dossier, policy) or policy.repository
    return tuple(issue for issue in existing if (issue.repository or policy.repository) == where)


def _capped(steps: Sequence[Step], policy: Policy) -> tuple[Step, ...]:
    """The first `max_new` creations stay; those who read issues are people."""
    kept, left = [], policy.max_new
    for step in steps:
        if step.action is Action.CREATE and left <= 0:
            reason = f"the limit of {policy.max_new} new issues a run is reached: the next run, or --max-new, files it"
            step = replace(step, action=Action.SKIP, reason=reason)
        left -= step.action is Action.CREATE
        kept.append(step)
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class _Case:
    """One bucket, and the issues of the repository where it belongs; None for those was nobody asked."""

    dossier: Dossier
    policy: Policy
    issues: tuple[TrackedIssue, ...] | None

    def steps(self) -> list[Step]:
        if self.issues is None:
            return [self._unasked()]
        found = find_own(self.dossier, self.issues, self.policy)
        if found.reason:
            return [self._skip(found.reason, found.issue)]
        if found.issue is None:
            return [self._new(self.issues)]
        act = self._open if found.issue.state == "open" else self._closed
        return [act(found, found.issue), *(self._spare(spare, found.issue) for spare in found.spare)]

    # -- nothing is filed yet, or nobody was asked --------------------------------------------------------

    def _unasked(self) -> Step:
        refused = why_not(self.dossier, self.policy)
        if refused:
            return self._skip(refused)
        if self.dossier.issue is None:
            return self._draft(Action.CREATE, f"{self._evidence()}; GitHub was not asked whether it is filed already")
        step = self._draft(Action.UPDATE, "the ledger remembers its issue; GitHub was not asked how that stands")
        return replace(step, issue=self.dossier.issue)

    def _new(self, issues: Sequence[TrackedIssue]) -> Step:
        refused = why_not(self.dossier, self.policy)
        if refused:
            return self._skip(refused)
        near = () if self.dossier.bucket.id in self.policy.distinct else self._near(issues)
        if near:
            others = f" (or of {', '.join(f'#{issue.number}' for issue in near[1:4])})" if near[1:] else ""
            return self._skip(
                f"possible duplicate of #{near[0].number}{others}, which people filed: if it is another bug, name"
                f" {self.dossier.bucket.id} in `distinct` in the settings",
                near[0],
            )
        return self._draft(Action.CREATE, self._evidence())

    def _near(self, issues: Sequence[TrackedIssue]) -> tuple[TrackedIssue, ...]:
        repro = self.dossier.repro
        people = [issue for issue in issues if issue.author not in self.policy.authors]
        return near_duplicates(self.dossier.bucket.signature, repro.operator if repro else "", people)

    def _evidence(self) -> str:
        verdict, repro = self.dossier.verdict, self.dossier.repro
        said = f"{verdict.kind.value}: {verdict.reason}" if verdict else ""
        return f"{said}; its {repro.lines}-line repro is verified" if repro and repro.source else said

    # -- its issue is open ----------------------------------------------------------------------------------

    def _open(self, found: Found, issue: TrackedIssue) -> Step:
        mark = found.mark
        if not why_not_fixed(self.dossier, self.policy):
            return self._fixed(issue, mark)
        refused = why_not(self.dossier, self.policy)
        if refused:
            return self._skip(f"#{issue.number} stays as it is: {refused}", issue)
        if mark and mark.fixed and is_newer(newest_failing(self.dossier), mark.fixed):
            reason = f"said to be fixed in torch_tpu {mark.fixed}, and fails again with {newest_failing(self.dossier)}"
            return self._change(Action.COMMENT, "back", reason, issue, mark)
        return self._updated(issue, mark)

    def _updated(self, issue: TrackedIssue, mark: Mark | None) -> Step:
        _, section = draft_issue(self.dossier, self.policy, former=mark, fixed=mark.fixed if mark else "")
        body = replace_section(issue.body, section)
        if body is None:
            return self._skip(
                f"#{issue.number} has lost the marks around our section: its body is left to people", issue
            )
        if section_of(issue.body) == section:
            return self._skip(f"#{issue.number} says all of this already", issue)
        step = self._step(Action.UPDATE, "tests, versions or evidence have changed since", issue)
        return replace(step, body=body)

    def _fixed(self, issue: TrackedIssue, mark: Mark | None) -> Step:
        version = self.dossier.fixed_in
        reason = f"the repro passes with torch_tpu {version}, everywhere it failed"
        if self.policy.close_fixed:
            step = self._change(Action.CLOSE, "closed", reason, issue, mark, fixed=version)
            return replace(step, state_reason="completed")
        if mark and mark.fixed:
            return self._skip(f"#{issue.number} says so already: {reason}; `--close-fixed` closes it", issue)
        return self._change(Action.COMMENT, "fixed", f"{reason}; proposed for closing", issue, mark, fixed=version)

    def _spare(self, spare: TrackedIssue, first: TrackedIssue) -> Step:
        step = self._step(Action.CLOSE, f"the same bucket is tracked in #{first.number}, which is older", spare)
        comment = draft_comment(self.dossier, self.policy, Change("duplicate", original=first.number))
        return replace(step, comment=comment, state_reason="duplicate")

    # -- its issue is closed ----------------------------------------------------------------------------------

    def _closed(self, found: Found, issue: TrackedIssue) -> Step:
        failing, fixed = newest_failing(self.dossier), self._fixing_version(found, issue)
        if not fixed:
            return self._skip(f"#{issue.number} is closed, and nothing newer has failed since", issue)
        if not is_newer(failing, fixed):
            older = f"the newest version that fails, {failing or 'unknown'}, is not newer than {fixed}"
            return self._skip(f"#{issue.number} is closed, and {older}", issue)
        refused = why_not(self.dossier, self.policy)
        if refused:
            return self._skip(f"#{issue.number} stays closed: {refused}", issue)
        reason = f"fixed in torch_tpu {fixed}, and fails again with {failing}"
        return self._change(Action.REOPEN, "back", reason, issue, found.mark)

    def _fixing_version(self, found: Found, issue: TrackedIssue) -> str:
        """Where a person closed it without a version, the fix came after the last version that we saw fail."""
        told = newest((found.mark.fixed if found.mark else "", self.dossier.fixed_in))
        if told:
            return told
        later = [item for item in self.dossier.history if item.created_s > issue.closed_s]
        failing = newest(tuple(item.versions.get(DEVICE_VERSION, "") for item in later))
        return found.mark.seen if found.mark and is_newer(failing, found.mark.seen) else ""

    # -- steps --------------------------------------------------------------------------------------------------

    def _step(self, action: Action, reason: str, issue: TrackedIssue | None = None) -> Step:
        return Step(
            action,
            self.dossier.bucket.id,
            issue.title if issue else self.policy.cleaner.mask(self.dossier.bucket.title),
            self.policy.cleaner.mask(reason),  # it quotes messages, and plans end up in the logs of workflows
            issue=issue.number if issue else None,
            repository=repository_for(self.dossier, self.policy) or self.policy.repository,
        )

    def _skip(self, reason: str, issue: TrackedIssue | None = None) -> Step:
        return self._step(Action.SKIP, reason, issue)

    def _draft(self, action: Action, reason: str) -> Step:
        title, body = draft_issue(self.dossier, self.policy)
        return replace(self._step(action, reason), title=title, body=body, labels=self.policy.labels)

    def _change(
        self, action: Action, occasion: str, reason: str, issue: TrackedIssue, mark: Mark | None, *, fixed: str = ""
    ) -> Step:
        """A change of state: the one occasion for a comment, with the body brought up to date beside it."""
        _, section = draft_issue(self.dossier, self.policy, former=mark, fixed=fixed)
        comment = draft_comment(self.dossier, self.policy, Change(occasion, reason))
        step = self._step(action, reason, issue)
        return replace(step, body=replace_section(issue.body, section) or issue.body, comment=comment)
