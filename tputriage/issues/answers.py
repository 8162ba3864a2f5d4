"""GitHub's answers as data: the few fields that are read, and nothing that has another shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from tputriage.errors import TrackerError
from tputriage.model import TrackedIssue

Value = TypeVar("Value")


class NamedAnswer(msgspec.Struct, frozen=True):
    """A user or a label, or an app by its slug."""

    login: str = ""
    name: str | None = ""
    slug: str | None = ""


class IssueAnswer(msgspec.Struct, frozen=True):
    """An issue, or a pull request where `pull_request` is there. https://docs.github.com/rest/issues"""

    number: Annotated[int, msgspec.Meta(ge=1, le=2**53)]
    title: str
    state: Literal["open", "closed"] = "open"
    created_at: str | None = None
    updated_at: str | None = None
    html_url: str = ""
    body: str | None = None
    user: NamedAnswer | None = None
    labels: tuple[NamedAnswer | str, ...] = ()
    state_reason: str | None = None
    closed_at: str | None = None
    pull_request: Mapping[str, Any] | None = None


class RepositoryAnswer(msgspec.Struct, frozen=True):
    full_name: str
    archived: bool = False
    has_issues: bool = True


class CommentAnswer(msgspec.Struct, frozen=True):
    body: str | None = None
    user: NamedAnswer | None = None


def read_answer(data: object, kind: type[Value]) -> Value:
    """The answer as `kind`; raises TrackerError where it has another shape, as a proxy's error page has."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as exc:
        raise TrackerError(f"GitHub's answer has an unexpected shape ({exc}): is --api-url right?") from exc


def tracked(answer: IssueAnswer, repository: str) -> TrackedIssue:
    return TrackedIssue(
        number=answer.number,
        title=answer.title,
        body=(answer.body or "").replace("\r\n", "\n"),
        state=answer.state,
        labels=tuple(label if isinstance(label, str) else label.name or "" for label in answer.labels),
        author=answer.user.login if answer.user else "",
        state_reason=answer.state_reason or "",
        created_s=_seconds(answer.created_at),
        updated_s=_seconds(answer.updated_at),
        closed_s=_seconds(answer.closed_at),
        url=answer.html_url,
        repository=repository,
    )


def next_page(headers: Mapping[str, Any]) -> str:
    """The address after this page (RFC 8288), or "" at the end."""
    match = re.search(r'<([^>]+)>;[^,]*\brel="next"', str(headers.get("link", "")))
    return match[1] if match else ""


def _seconds(moment: str | None) -> float:
    try:
        return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp() if moment else 0.0
    except (ValueError, OverflowError, OSError) as exc:  # the last two of years that no clock has
        raise TrackerError(f"GitHub's answer has an unexpected time ({moment!r:.40}): is --api-url right?") from exc
