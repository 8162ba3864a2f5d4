"""Which issue already carries a bucket: ours by their marks, people's by operator and message. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tputriage.issues.marker import Mark, read_mark
from tputriage.issues.policy import Policy
from tputriage.model import Dossier, Signature, TrackedIssue

FOLLOWED = 5  # steps along "duplicate of" before giving up
NEAR = 0.6  # share of the message's words that a person's issue must have, beside the operator
NEAR_ALONE = 0.85  # where no operator is known
FEWEST_WORDS = 4  # a message of fewer words says too little to compare
BODY_READ = 20_000  # characters of a person's issue that are compared


@dataclass(frozen=True, slots=True)
class Found:
    """The issue to act on, if any; `spare` are open copies of it; `reason` says why to stay away from it."""

    issue: TrackedIssue | None = None
    mark: Mark | None = None
    spare: tuple[TrackedIssue, ...] = ()
    reason: str = ""


def find_own(dossier: Dossier, issues: Sequence[TrackedIssue], policy: Policy) -> Found:
    """The issue of ours that carries the bucket, duplicates followed."""
    ours = [issue for issue in issues if _is_ours(issue, dossier, policy)]
    open_ones = sorted((issue for issue in ours if issue.state == "open"), key=lambda issue: issue.number)
    if open_ones:
        return _found(open_ones[0], tuple(open_ones[1:]), policy)
    if ours:
        return _closed(ours, {issue.number: issue for issue in issues}, policy)
    return _lost(dossier, issues)


def _is_ours(issue: TrackedIssue, dossier: Dossier, policy: Policy) -> bool:
    """A mark counts only in an issue whose author may set one, so that pasting it takes nothing over."""
    if issue.author.lower() not in {author.lower() for author in policy.authors}:
        return False
    mark = read_mark(issue.body)
    if mark is None:
        return issue.number == dossier.issue
    return bool(mark.keys & {dossier.bucket.signature.key, *dossier.bucket.aliases})


def _found(issue: TrackedIssue, spare: tuple[TrackedIssue, ...], policy: Policy) -> Found:
    return Found(issue, read_mark(issue.body), spare, _barred(issue, policy))


def _barred(issue: TrackedIssue, policy: Policy) -> str:
    label = next((label for label in issue.labels if label.lower() in policy.barred), "")
    if label:
        return f"#{issue.number} has the label `{label}`, which is respected for good"
    if issue.state == "closed" and issue.state_reason == "not_planned":
        return f"#{issue.number} was closed as not planned, which is respected for good"
    return ""


def _closed(ours: Sequence[TrackedIssue], by_number: Mapping[int, TrackedIssue], policy: Policy) -> Found:
    last = max(ours, key=lambda issue: issue.number)
    barred = next((issue for issue in ours if _barred(issue, policy) and issue.state_reason != "duplicate"), None)
    if barred is not None:
        return _found(barred, (), policy)
    real = [issue for issue in ours if issue.state_reason != "duplicate"]
    if real:
        return _found(max(real, key=lambda issue: issue.number), (), policy)
    return Found(last, read_mark(last.body), (), follow_duplicates(last, by_number))


def follow_duplicates(issue: TrackedIssue, by_number: Mapping[int, TrackedIssue]) -> str:
    """Where the trail of "duplicate of" ends, as the reason to file nothing."""
    trail = [issue.number]
    here = issue
    while here.state_reason == "duplicate" and here.duplicate_of is not None:
        number = here.duplicate_of
        if number in trail or len(trail) > FOLLOWED:
            return (
                f"#{issue.number} was closed as a duplicate, and following that goes round in circles: left to people"
            )
        trail.append(number)
        if number not in by_number:
            break
        here = by_number[number]
    if len(trail) == 1:
        return f"#{issue.number} was closed as a duplicate without saying of which: left to people"
    return f"#{issue.number} was closed as a duplicate of #{trail[-1]}, where the bug is tracked"


def _lost(dossier: Dossier, issues: Sequence[TrackedIssue]) -> Found:
    if dossier.issue is None:
        return Found()
    there = next((issue for issue in issues if issue.number == dossier.issue), None)
    if there is not None:
        reason = f"the ledger remembers #{dossier.issue}, whose author is not one whose marks count: see `authors`"
    else:
        reason = f"the ledger remembers #{dossier.issue}, which GitHub does not list: deleted, moved, or not listed yet"
    return Found(there, None, (), f"{reason}; nothing is filed twice")


# -- what people filed ---------------------------------------------------------------------------------


def near_duplicates(signature: Signature, operator: str, issues: Iterable[TrackedIssue]) -> tuple[TrackedIssue, ...]:
    """Issues that may be the same bug, the likeliest first; closed ones only where people decided against it."""
    alive = (issue for issue in issues if issue.state == "open" or issue.state_reason == "not_planned")
    scored = [(likeness(signature, operator, issue), issue) for issue in alive]
    likely = [(score, issue) for score, issue in scored if score > 0]
    return tuple(issue for _, issue in sorted(likely, key=lambda item: (-item[0], item[1].number)))


def likeness(signature: Signature, operator: str, issue: TrackedIssue) -> float:
    """0 for another bug; else how much of the message's words the issue has, its title counted twice."""
    text = f"{issue.title}\n{issue.body[:BODY_READ]}"
    names = {name for given in (operator, signature.operator) if (name := _bare(given))}
    if names and not any(re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text) for name in names):
        return 0.0
    words = _words(signature.template) - names
    share = len(words & _words(text)) / len(words) if words else 0.0
    if len(words) < FEWEST_WORDS or share < (NEAR if names else NEAR_ALONE):
        return 0.0
    return (share + len(words & _words(issue.title)) / len(words)) / 2


def _bare(operator: str) -> str:
    """`aten::native_group_norm.out` and `torch.nn.functional.group_norm` both end as `group_norm`."""
    name = operator.partition("::")[2].partition(".")[0] if "::" in operator else operator.rpartition(".")[2]
    return name.removeprefix("native_").strip("_")


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Za-z][A-Za-z_]{2,}", text)}
