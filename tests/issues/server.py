"""A GitHub of our own, over real HTTP on loopback, with the faults that the real one has.

Faults are consumed in order: each waits for the first request that its verb and path fit. What a fault does to a
write that it lets through happens before the answer is lost, as with a gateway between us and GitHub.
"""

import hashlib
import json
import re
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.issues import shapes_of_github as shapes

CONTROL = "/_world"
BODY_LIMIT, TITLE_LIMIT = 65_536, 256
VERSION_HEADERS = {"X-GitHub-Api-Version-Selected": "2022-11-28", "X-GitHub-Media-Type": "github.v3; format=json"}


@dataclass
class Fault:
    """One kind of trouble for the next `times` requests of this verb whose path has `path` in it."""

    kind: str
    verb: str = ""
    path: str = ""
    times: int = 1
    seconds: float = 0.0  # of a Retry-After, or how long a time-out hangs


@dataclass
class Account:
    login: str
    scopes: str | None = "public_repo"  # None: a fine-grained token, which has permissions and no scopes
    push: bool = True
    may_write: bool = True
    is_app_token: bool = False


@dataclass
class World:
    """Everything the server knows; tests read and change it under `lock`."""

    base: str = ""
    accounts: dict = field(default_factory=dict)  # token -> Account
    repositories: dict = field(default_factory=dict)  # owner/name -> {number: entry}
    faults: list = field(default_factory=list)
    requests: list = field(default_factory=list)  # (verb, path, body text)
    answers: list = field(default_factory=list)  # (kind of model, data), for the shapes' test
    moved: dict = field(default_factory=dict)  # former owner/name -> the present one, answered after its redirect
    facts: dict = field(default_factory=dict)  # of every repository, such as {"archived": True}
    list_lag: int = 0  # requests for which a new issue is missing in listings
    search_lag: int = 1_000_000
    clock: int = 0  # number of requests so far
    lock: threading.RLock = field(default_factory=threading.RLock)

    def add(self, repository, author, title="", body="", **more):
        """A new issue; the lowest free number, as pull requests share the row of numbers."""
        issues = self.repositories.setdefault(repository, {})
        number = more.pop("number", 0) or max(issues, default=0) + 1
        now = time.time()
        entry = {
            "number": number,
            "title": title,
            "body": body,
            "author": author,
            "state": "open",
            "state_reason": None,
            "labels": [],
            "comments": [],
            "is_pull": False,
            "closed_s": 0.0,
            "created_s": now,
            "updated_s": now,
            "born": self.clock,
        }
        issues[number] = entry | more
        return issues[number]

    def writes(self):
        return [(verb, path) for verb, path, _ in self.requests if verb != "GET"]


class RefusedError(Exception):
    def __init__(self, status, data, headers=None):
        super().__init__(status)
        self.status, self.data, self.headers = status, data, headers or {}


class GitHub:
    """A running server: `with GitHub() as hub: hub.url, hub.world`."""

    def __init__(self):
        self.world = World(accounts={"token-of-bot": Account("triage-bot")})
        world = self.world

        class Handler(_Handler):
            pass

        Handler.world = world
        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        world.base = self.url
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that was killed in the middle is what some tests are about."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    world = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two packets, and would wait 40 ms for each other

    def log_message(self, *args):
        """Nothing: what was asked is in `world.requests`."""

    def do_GET(self):
        self._serve("GET")

    def do_POST(self):
        self._serve("POST")

    def do_PATCH(self):
        self._serve("PATCH")

    def _serve(self, verb):
        given = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if self.path == CONTROL:
            self._control(json.loads(given) if given else None)
            return
        with self.world.lock:
            self.world.clock += 1
            self.world.requests.append((verb, self.path, given))
            fault = self._fault(verb)
        try:
            before = _BEFORE.get(fault.kind) if fault else None
            if before and before(self, fault):
                return
            with self.world.lock:
                status, data, headers = self._route(verb, json.loads(given) if given else {})
        except RefusedError as exc:
            status, data, headers = exc.status, exc.data, exc.headers
        after = _AFTER.get(fault.kind) if fault else None
        if after is None or not after(self, fault, status, data):
            self._answer(status, data, headers)

    def _control(self, given):
        """From another process: begin anew with these issues, faults and lag; always answers with the issues."""
        with self.world.lock:
            if given is not None:
                self.world.faults = [Fault(**fault) for fault in given.get("faults", ())]
                self.world.list_lag = given.get("list_lag", 0)
            if given is not None and "repository" in given:
                self.world.repositories = {given["repository"]: {}}
                self.world.requests, self.world.answers = [], []
                for entry in given["issues"]:
                    self.world.add(given["repository"], **entry)
            self._answer(200, self.world.repositories, {})

    def _fault(self, verb):
        for fault in self.world.faults:
            path = fault.path or ("/issues?" if fault.kind == "stale" else "")
            if fault.verb in ("", verb) and path in self.path and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    # -- the API ----------------------------------------------------------------------------------------

    def _route(self, verb, given):
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        for wanted, pattern, method in _ROUTES:
            match = re.fullmatch(pattern, url.path)
            if match and wanted == verb:
                return method(self, *match.groups(), query=query, given=given)
        raise RefusedError(404, shapes.refusal("Not Found", 404))

    def _account(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        account = self.world.accounts.get(token)
        if scheme.lower() not in ("token", "bearer") or account is None:
            raise RefusedError(401, shapes.refusal("Bad credentials", 401))
        return account

    def _issues(self, repository):
        if repository not in self.world.repositories:
            raise RefusedError(404, shapes.refusal("Not Found", 404))
        return self.world.repositories[repository]

    def _issue(self, repository, number):
        entry = self._issues(repository).get(int(number))
        if entry is None:
            raise RefusedError(404, shapes.refusal("Not Found", 404))
        if entry.get("deleted"):
            raise RefusedError(410, shapes.refusal("This issue was deleted", 410))
        return entry

    def _writer(self):
        account = self._account()
        if not account.may_write:
            if account.scopes is None:
                raise RefusedError(
                    403,
                    shapes.refusal("Resource not accessible by personal access token", 403),
                    {"X-Accepted-GitHub-Permissions": "issues=write"},
                )
            raise RefusedError(404, shapes.refusal("Not Found", 404), {"X-Accepted-OAuth-Scopes": "public_repo, repo"})
        return account

    def get_user(self, query, given):
        account = self._account()
        if account.is_app_token:
            raise RefusedError(403, shapes.refusal("Resource not accessible by integration", 403))
        return self._said("PrivateUser", shapes.private_user(self.world.base, account.login))

    def get_app(self, query, given):
        return self._said("Integration", shapes.integration(self.world.base, "triage-app"))

    def post_token(self, number, query, given):
        self.world.accounts["token-of-app"] = Account("triage-app[bot]", None, is_app_token=True)
        return self._said("InstallationToken", shapes.installation_token("token-of-app"), 201)

    def get_repository(self, repository, query, given):
        self._account()
        name = self.world.moved.get(repository, repository)
        self._issues(name)
        return self._said("FullRepository", shapes.repository(self.world.base, name, **self.world.facts))

    def get_issues(self, repository, query, given):
        self._account()
        horizon = self.world.clock - self.world.list_lag
        chosen = [entry for entry in self._issues(repository).values() if _listed(entry, query, horizon)]
        key = f"{query.get('sort', 'created')}_s"
        chosen.sort(key=lambda entry: (entry[key], entry["number"]), reverse=query.get("direction", "desc") == "desc")
        return self._page(chosen, query, lambda entry: ("Issue", shapes.issue(self.world.base, repository, entry)))

    def get_search(self, query, given):
        horizon = self.world.clock - self.world.search_lag
        found = [
            shapes.issue(self.world.base, repository, entry)
            for repository, issues in self.world.repositories.items()
            for entry in issues.values()
            if entry["born"] <= horizon and query.get("q", "").split(" ")[0] in entry["title"]
        ]
        return 200, {"total_count": len(found), "incomplete_results": False, "items": found}, {}

    def get_issue(self, repository, number, query, given):
        self._account()
        return self._said("Issue", shapes.issue(self.world.base, repository, self._issue(repository, number)))

    def post_issue(self, repository, query, given):
        account = self._writer()
        self._issues(repository)
        _check(given, "title", TITLE_LIMIT, needed=True)
        _check(given, "body", BODY_LIMIT)
        entry = self.world.add(repository, account.login, given["title"], given.get("body") or "")
        entry["labels"] = list(given.get("labels", ())) if account.push else []  # dropped without a word
        return self._said("Issue", shapes.issue(self.world.base, repository, entry), 201)

    def patch_issue(self, repository, number, query, given):
        self._writer()
        entry = self._issue(repository, number)
        _check(given, "title", TITLE_LIMIT)
        _check(given, "body", BODY_LIMIT)
        if given.get("state") not in (None, "open", "closed"):
            raise RefusedError(422, shapes.invalid("state is invalid", "state"))
        reasons = (None, "completed", "not_planned", "duplicate", "reopened")
        if given.get("state_reason") not in reasons:
            raise RefusedError(422, shapes.invalid("state_reason is invalid", "state_reason"))
        entry |= {name: given[name] for name in ("title", "body") if name in given}
        entry["updated_s"] = time.time()
        if given.get("state") and given["state"] != entry["state"]:
            closed = given["state"] == "closed"
            reason = given.get("state_reason") or ("completed" if closed else "reopened")
            closed_s = time.time() if closed else 0.0
            entry |= {"state": given["state"], "state_reason": reason, "closed_s": closed_s}
        return self._said("Issue", shapes.issue(self.world.base, repository, entry))

    def post_labels(self, repository, number, query, given):
        account = self._writer()
        entry = self._issue(repository, number)
        if not account.push:
            raise RefusedError(403, shapes.refusal("Must have admin rights to Repository.", 403))
        entry["labels"] = list(dict.fromkeys([*entry["labels"], *given["labels"]]))
        found = [shapes.label(self.world.base, repository, name) for name in entry["labels"]]
        self.world.answers += [("Label", label) for label in found]
        return 200, found, {}

    def get_comments(self, repository, number, query, given):
        self._account()
        entry = self._issue(repository, number)
        base = self.world.base
        return self._page(
            entry["comments"], query, lambda item: ("IssueComment", shapes.comment(base, repository, number, item))
        )

    def post_comment(self, repository, number, query, given):
        account = self._writer()
        entry = self._issue(repository, number)
        _check(given, "body", BODY_LIMIT, needed=True)
        item = {
            "id": len(entry["comments"]) + 1000 * int(number),
            "author": account.login,
            "body": given["body"],
            "created_s": time.time(),
        }
        entry["comments"].append(item)
        entry["updated_s"] = time.time()
        return self._said("IssueComment", shapes.comment(self.world.base, repository, number, item), 201)

    # -- answering -----------------------------------------------------------------------------------------

    def _said(self, kind, data, status=200):
        self.world.answers.append((kind, data))
        return status, data, {}

    def _page(self, items, query, shape):
        size, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        shown = [shape(item) for item in items[(page - 1) * size : page * size]]
        self.world.answers += shown
        links = []
        if page * size < len(items):
            links = [("next", page + 1), ("last", -(-len(items) // size))]
        if page > 1:
            links += [("prev", page - 1), ("first", 1)]
        path = urlsplit(self.path).path
        said = ", ".join(
            f'<{self.world.base}{path}?{urlencode(query | {"page": number})}>; rel="{rel}"' for rel, number in links
        )
        return 200, [data for _, data in shown], {"Link": said} if said else {}

    def _answer(self, status, data, headers, *, cut=None):
        text = json.dumps(data).encode()
        tag = f'W/"{hashlib.sha256(text).hexdigest()}"'
        if status == 200 and self.headers.get("If-None-Match") == tag:
            status, text = 304, b""
        account = self.world.accounts.get(self.headers.get("Authorization", "").partition(" ")[2])
        scopes = {"X-OAuth-Scopes": account.scopes} if account and account.scopes is not None else {}
        limits = {
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": "4990",
            "X-RateLimit-Reset": str(int(time.time()) + 3600),
            "X-RateLimit-Used": "10",
            "X-RateLimit-Resource": "core",
        }
        self.send_response(status)
        for name, value in {**VERSION_HEADERS, **limits, **scopes, "ETag": tag, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text if cut is None else text[:cut])
        if cut is not None:
            self._drop()

    def _drop(self):
        self.wfile.flush()
        self.close_connection = True

    def _gateway(self, status):
        text = b"<html><body>Bad gateway</body></html>"
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _listed(entry, query, horizon):
    since = query.get("since", "")
    return (
        entry["born"] <= horizon
        and not entry.get("deleted")
        and query.get("state", "open") in ("all", entry["state"])
        and query.get("creator", entry["author"]).lower() == entry["author"].lower()
        and shapes.moment(entry["updated_s"]) >= since
    )


def _check(given, name, limit, *, needed=False):
    text = given.get(name)
    if needed and not text:
        raise RefusedError(422, shapes.invalid(f"{name} can't be blank", name))
    if text and len(text) > limit:
        raise RefusedError(422, shapes.invalid(f"{name} is too long (maximum is {limit} characters)", name))


_REPOSITORY = r"(?:/api/v3)?/repos/([\w.-]+/[\w.-]+)"
_ROUTES = (
    ("GET", r"(?:/api/v3)?/user", _Handler.get_user),
    ("GET", r"(?:/api/v3)?/app", _Handler.get_app),
    ("POST", r"(?:/api/v3)?/app/installations/(\d+)/access_tokens", _Handler.post_token),
    ("GET", r"(?:/api/v3)?/search/issues", _Handler.get_search),
    ("GET", _REPOSITORY, _Handler.get_repository),
    ("GET", _REPOSITORY + "/issues", _Handler.get_issues),
    ("POST", _REPOSITORY + "/issues", _Handler.post_issue),
    ("GET", _REPOSITORY + r"/issues/(\d+)", _Handler.get_issue),
    ("PATCH", _REPOSITORY + r"/issues/(\d+)", _Handler.patch_issue),
    ("POST", _REPOSITORY + r"/issues/(\d+)/labels", _Handler.post_labels),
    ("GET", _REPOSITORY + r"/issues/(\d+)/comments", _Handler.get_comments),
    ("POST", _REPOSITORY + r"/issues/(\d+)/comments", _Handler.post_comment),
)


# -- faults: before the request is done, and after ------------------------------------------------------


def _refuse(status, message, **headers):
    def act(handler, fault):
        told = {name.replace("_", "-"): value(fault) for name, value in headers.items()}
        handler._answer(status, shapes.refusal(message, status), told)
        return True

    return act


def _hang(handler, fault):
    time.sleep(fault.seconds)
    handler._drop()
    return True


def _gateway_before(handler, fault):
    handler._gateway(500)
    return True


def _gateway_after(handler, fault, status, data):
    handler._gateway(502)
    return True


def _hang_after(handler, fault, status, data):
    return _hang(handler, fault)


def _truncate(handler, fault, status, data):
    handler._answer(status, data, {}, cut=len(json.dumps(data)) // 2)
    return True


def _garble(handler, fault, status, data):
    """Whole by its length, and half a JSON text."""
    text = json.dumps(data)[: len(json.dumps(data)) // 2].encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)
    return True


def _stale(handler, fault, status, data):
    """An old replica: a listing as it was before anything of today."""
    handler._answer(200, [], {})
    return True


_LIMIT = "API rate limit exceeded for user ID 1."
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_BEFORE = {
    "500": _gateway_before,
    "timeout-before": _hang,
    "drop-before": _hang,
    "403-retry-after": _refuse(403, _SECONDARY, Retry_After=lambda fault: f"{fault.seconds:g}"),
    "429-retry-after": _refuse(429, _SECONDARY, Retry_After=lambda fault: f"{fault.seconds:g}"),
    "secondary": _refuse(403, _SECONDARY),
    "primary": _refuse(
        403,
        _LIMIT,
        X_RateLimit_Remaining=lambda fault: "0",
        X_RateLimit_Reset=lambda fault: str(int(time.time() + fault.seconds)),
    ),
    "401": _refuse(401, "Bad credentials"),
    "410": _refuse(410, "Issues are disabled for this repo"),
    "422": _refuse(422, "Validation Failed"),
}
_AFTER = {
    "502-after": _gateway_after,
    "timeout-after": _hang_after,
    "drop-after": _hang_after,
    "truncated": _truncate,
    "garbled": _garble,
    "stale": _stale,
}
KINDS = (*_BEFORE, *_AFTER)
