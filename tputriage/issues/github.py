"""GitHub, and the only door to PyGithub.

Why not PyGithub's own retries: by default it repeats POST on 5xx at once, below its own spacing of writes, so one
bad gateway can file three issues; and it sleeps until the reset of a limit, however far that is. Here a request
that changes nothing, or the same thing again (GET, PATCH), is repeated a few times; a POST only where GitHub has
said that it refused it for its limits; and waiting has an end. Answers are read as data of a known shape: one that
has another shape is a failure, never "no issues".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import github
import requests

from tputriage.console import log, notice
from tputriage.errors import TrackerError
from tputriage.issues.answers import (
    CommentAnswer,
    IssueAnswer,
    NamedAnswer,
    RepositoryAnswer,
    next_page,
    read_answer,
    tracked,
)
from tputriage.issues.credentials import Credentials
from tputriage.issues.refusals import limit_wait_s, refusal
from tputriage.issues.tracker import Comment, StoppedError, UnsureError
from tputriage.model import TrackedIssue

Value = TypeVar("Value")
DEFAULT_URL = "https://api.github.com"
PAGE = 100
MOST_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what, in seconds, and how often to try again."""

    timeout_s: int = 30
    between_requests_s: float = 0.1
    between_writes_s: float = 1.0  # GitHub asks for at least one second
    longest_wait_s: float = 180.0  # for limits, in all, in this run
    tries: int = 4
    backoff_s: float = 1.0  # doubled at each try


class GitHubTracker:
    """`tracker.Tracker` over GitHub's REST API; one thread only, as PyGithub's spacing is not locked."""

    def __init__(
        self,
        credentials: Credentials,
        *,
        api_url: str = DEFAULT_URL,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._patience = patience or Patience()
        self._credentials = credentials
        self._api_url = api_url.rstrip("/")
        self._sleep = sleep
        self._waited_s = 0.0
        self._login = ""
        self._known: set[str] = set()  # repositories that are where we look for them
        self._requester = self._client(_authentication(credentials)).requester

    def _client(self, auth: github.Auth.Auth) -> github.Github:
        return github.Github(
            auth=auth,
            base_url=self._api_url,
            timeout=self._patience.timeout_s,
            retry=None,
            per_page=PAGE,
            lazy=True,
            seconds_between_requests=self._patience.between_requests_s,
            seconds_between_writes=self._patience.between_writes_s,
        )

    # -- reading -------------------------------------------------------------------------------------------

    def login(self) -> str:
        if not self._login:
            self._login = self._app_login() if self._credentials.is_app else self._user_login()
        return self._login

    def scopes(self) -> tuple[str, ...] | None:
        """Of a classic token; None where GitHub tells none, as of fine-grained tokens and of Apps."""
        if self.login().endswith("[bot]"):
            return None
        told = self._send("GET", "/user")[0].get("x-oauth-scopes")
        return None if told is None else tuple(sorted(name.strip() for name in str(told).split(",") if name.strip()))

    def _user_login(self) -> str:
        try:
            return self._read("/user", NamedAnswer).login
        except StoppedError:
            raise
        except TrackerError as exc:
            # The token that a workflow is given may not ask who it is, and is always this one.
            if "by integration" in str(exc):
                return "github-actions[bot]"
            raise

    def _app_login(self) -> str:
        app = self._client(_app_authentication(self._credentials)).requester
        _, data = self._repeat(lambda: app.requestJsonAndCheck("GET", "/app"), once=False)
        return f"{read_answer(data, NamedAnswer).slug}[bot]"

    def list_issues(self, repository: str, *, creator: str = "", since_s: float = 0.0) -> tuple[TrackedIssue, ...]:
        self._check_repository(repository)
        parameters: dict[str, Any] = {"state": "all", "sort": "created", "direction": "desc", "per_page": PAGE}
        parameters |= {"creator": creator} if creator else {}
        parameters |= {"since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since_s))} if since_s else {}
        found = self._pages(f"/repos/{repository}/issues", parameters, IssueAnswer)
        # What is created while we page moves others to the next page: seen twice, and counted once.
        issues = {answer.number: tracked(answer, repository) for answer in found if answer.pull_request is None}
        return tuple(issues[number] for number in sorted(issues))

    def _check_repository(self, repository: str) -> None:
        """One that has moved is an error: PyGithub follows, and loses the question's `state=all` on the way."""
        if repository in self._known:
            return
        try:
            answer = self._read(f"/repos/{repository}", RepositoryAnswer)
        except MissingError:
            return  # the listing that follows says so
        if answer.full_name.lower() != repository.lower():
            raise TrackerError(f"{repository} is {answer.full_name} now: name that with --repo, or in the settings")
        if answer.archived or not answer.has_issues:
            raise TrackerError(f"{repository} takes no issues: it is archived, or has them switched off")
        self._known.add(repository)

    def get(self, repository: str, number: int) -> TrackedIssue | None:
        try:
            answer = self._read(f"/repos/{repository}/issues/{number}", IssueAnswer)
        except MissingError:
            return None
        return tracked(answer, repository) if answer.pull_request is None else None

    def newest(self, repository: str) -> int:
        parameters = {"state": "all", "sort": "created", "direction": "desc", "per_page": 1}
        _, data = self._send("GET", f"/repos/{repository}/issues", parameters=parameters)
        return max((answer.number for answer in read_answer(data, list[IssueAnswer])), default=0)

    def comments(self, repository: str, number: int) -> tuple[Comment, ...]:
        path = f"/repos/{repository}/issues/{number}/comments"
        found = self._pages(path, {"per_page": PAGE}, CommentAnswer)
        return tuple(Comment(answer.user.login if answer.user else "", answer.body or "") for answer in found)

    # -- writing -------------------------------------------------------------------------------------------

    def create(self, repository: str, title: str, body: str, labels: tuple[str, ...]) -> TrackedIssue:
        text = {"title": title, "body": body, "labels": list(labels)}
        _, data = self._send("POST", f"/repos/{repository}/issues", given=text)
        try:
            return tracked(read_answer(data, IssueAnswer), repository)
        except TrackerError as exc:
            raise UnsureError(f"GitHub answered the new issue in a way that cannot be read: {exc}") from exc

    def edit(self, repository: str, number: int, *, body: str = "", state: str = "", state_reason: str = "") -> None:
        wanted = {"body": body, "state": state, "state_reason": state_reason}
        changes = {name: value for name, value in wanted.items() if value}
        self._send("PATCH", f"/repos/{repository}/issues/{number}", given=changes)

    def add_labels(self, repository: str, number: int, labels: tuple[str, ...]) -> None:
        self._send("POST", f"/repos/{repository}/issues/{number}/labels", given={"labels": list(labels)})

    def comment(self, repository: str, number: int, body: str) -> None:
        self._send("POST", f"/repos/{repository}/issues/{number}/comments", given={"body": body})

    # -- one request ---------------------------------------------------------------------------------------

    def _pages(self, path: str, parameters: Mapping[str, Any], kind: type[Value]) -> list[Value]:
        found: list[Value] = []
        for _ in range(MOST_PAGES):
            headers, data = self._send("GET", path, parameters=parameters)
            found += read_answer(data, list[kind])  # type: ignore[valid-type]  # a type made at run time
            path, parameters = next_page(headers), {}
            if not path:
                return found
        raise TrackerError(f"GitHub lists more than {MOST_PAGES * PAGE} items at {path}: nothing is filed from a part")

    def _read(self, path: str, kind: type[Value]) -> Value:
        return read_answer(self._send("GET", path)[1], kind)

    def _send(
        self,
        verb: str,
        path: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        given: Mapping[str, Any] | None = None,
    ) -> tuple[Mapping[str, Any], Any]:
        def request() -> tuple[Mapping[str, Any], Any]:
            began, asked = time.monotonic(), dict(parameters or {})
            log("github", "%s %s%s", verb, path, f" {asked}" if asked else "")
            answer = self._requester.requestJsonAndCheck(verb, path, parameters=asked, input=given)
            many = f", {len(answer[1])} items" if isinstance(answer[1], list) else ""
            log("github", "%s %s: answered after %.2f s%s", verb, path, time.monotonic() - began, many)
            return answer

        return self._repeat(request, once=verb == "POST")

    def _repeat(self, request: Callable[[], Value], *, once: bool) -> Value:
        """The answer; limits are waited for, and what was not answered is asked again unless `once`."""
        attempt = 0
        while True:
            try:
                return request()
            except github.GithubException as exc:
                log("github", "answered %d", exc.status)
                if self._waits_for_limit(exc):
                    continue
                self._raise_refusal(exc, once=once)
                problem: Exception = exc
            except (requests.RequestException, ValueError, OSError, RuntimeError) as exc:
                problem = exc
                log("github", "no answer: %s", type(exc).__name__)
            attempt += 1
            if once:
                raise UnsureError(f"{_words(problem)}; whether it was done is not known") from problem
            if attempt >= self._patience.tries:
                raise TrackerError(f"{_words(problem)}, {attempt} times; try again later") from problem
            self._sleep(self._patience.backoff_s * 2.0 ** (attempt - 1))

    def _waits_for_limit(self, exc: github.GithubException) -> bool:
        """True after waiting as long as GitHub asked; a wait beyond our patience raises StoppedError."""
        wait_s = limit_wait_s(exc.status, exc.headers or {}, exc.message or str(exc.data), time.time())
        if wait_s is None:
            return False
        if self._waited_s + wait_s > self._patience.longest_wait_s:
            raise StoppedError(
                f"GitHub's rate limit asks for {wait_s:.0f} s: run this again then; what is filed already stays filed"
            ) from exc
        notice(f"GitHub's rate limit: waiting {wait_s:.0f} s")
        self._waited_s += max(wait_s, 0.05)  # the sum ends a server that asks for nothing, for ever
        self._sleep(wait_s)
        return True

    def _raise_refusal(self, exc: github.GithubException, *, once: bool) -> None:
        """Raises for what GitHub has decided; returns for its own trouble, which a later try may not meet."""
        if exc.status >= 500:
            return
        text = refusal(exc.status, exc.headers or {}, exc.message or "")
        if exc.status in (404, 410) and not once:
            raise MissingError(text) from exc
        raise (StoppedError if exc.status == 401 else TrackerError)(text) from exc


class MissingError(TrackerError):
    """There is nothing at that address, or not for us."""


def _words(exc: Exception) -> str:
    if isinstance(exc, github.GithubException):
        return f"GitHub answered {exc.status}"
    # The exception's own text may hold an address with credentials in it.
    return f"GitHub could not be reached, or broke off its answer ({type(exc).__name__})"


def _authentication(credentials: Credentials) -> github.Auth.Auth:
    if not credentials.is_app:
        return github.Auth.Token(credentials.token)
    return github.Auth.AppInstallationAuth(_app_authentication(credentials), credentials.installation)


def _app_authentication(credentials: Credentials) -> github.Auth.AppAuth:
    return github.Auth.AppAuth(credentials.app_id, credentials.private_key)
