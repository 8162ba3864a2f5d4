"""Answers in the shape of GitHub's REST API; test_server.py holds them against the models made from its OpenAPI."""

import base64
import time


def moment(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else None


def node_id(kind, number):
    return base64.b64encode(f"{kind}:{number}".encode()).decode()


def user(base, login):
    here = f"{base}/users/{login}"
    links = ("followers", "gists", "starred", "subscriptions", "orgs", "repos", "events", "received_events")
    names = {"orgs": "organizations"}
    return {
        "login": login,
        "id": sum(map(ord, login)),
        "node_id": node_id("User", login),
        "avatar_url": f"{base}/avatars/{login}",
        "gravatar_id": "",
        "url": here,
        "html_url": f"{base}/{login}",
        "following_url": f"{here}/following{{/other_user}}",
        "type": "Bot" if login.endswith("[bot]") else "User",
        "site_admin": False,
    } | {f"{names.get(link, link)}_url": f"{here}/{link}" for link in links}


def private_user(base, login):
    nobody = dict.fromkeys(("name", "company", "blog", "location", "email", "hireable", "bio"))
    counts = dict.fromkeys(
        [
            "public_repos",
            "public_gists",
            "followers",
            "following",
            "private_gists",
            "total_private_repos",
            "owned_private_repos",
            "disk_usage",
            "collaborators",
        ],
        0,
    )
    dates = {"created_at": moment(1), "updated_at": moment(1)}
    return user(base, login) | nobody | counts | dates | {"two_factor_authentication": True}


def label(base, repository, name):
    return {
        "id": sum(map(ord, name)),
        "node_id": node_id("Label", name),
        "url": f"{base}/repos/{repository}/labels/{name}",
        "name": name,
        "description": None,
        "color": "ededed",
        "default": False,
        "archived_at": None,
        "archived_by": None,
    }


def issue(base, repository, entry):
    here = f"{base}/repos/{repository}/issues/{entry['number']}"
    answer = {
        "id": 10_000 + entry["number"],
        "node_id": node_id("Issue", entry["number"]),
        "url": here,
        "repository_url": f"{base}/repos/{repository}",
        "labels_url": f"{here}/labels{{/name}}",
        "comments_url": f"{here}/comments",
        "events_url": f"{here}/events",
        "html_url": f"{base}/{repository}/issues/{entry['number']}",
        "number": entry["number"],
        "state": entry["state"],
        "state_reason": entry["state_reason"],
        "title": entry["title"],
        "body": entry["body"],
        "user": user(base, entry["author"]),
        "labels": [label(base, repository, name) for name in entry["labels"]],
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": len(entry["comments"]),
        "closed_at": moment(entry["closed_s"]),
        "created_at": moment(entry["created_s"]),
        "updated_at": moment(entry["updated_s"]),
        "author_association": "NONE",
    }
    if entry["is_pull"]:
        pull = f"{base}/repos/{repository}/pulls/{entry['number']}"
        answer["pull_request"] = {
            "url": pull,
            "html_url": pull,
            "diff_url": f"{pull}.diff",
            "patch_url": f"{pull}.patch",
            "merged_at": None,
        }
    return answer


def comment(base, repository, number, entry):
    here = f"{base}/repos/{repository}/issues/comments/{entry['id']}"
    return {
        "id": entry["id"],
        "node_id": node_id("IssueComment", entry["id"]),
        "url": here,
        "html_url": f"{base}/{repository}/issues/{number}#issuecomment-{entry['id']}",
        "body": entry["body"],
        "user": user(base, entry["author"]),
        "created_at": moment(entry["created_s"]),
        "updated_at": moment(entry["created_s"]),
        "issue_url": f"{base}/repos/{repository}/issues/{number}",
        "author_association": "NONE",
    }


def integration(base, slug):
    return {
        "id": 7,
        "slug": slug,
        "node_id": node_id("Integration", 7),
        "owner": user(base, "owner"),
        "name": slug,
        "description": None,
        "external_url": base,
        "html_url": f"{base}/apps/{slug}",
        "created_at": moment(1),
        "updated_at": moment(1),
        "permissions": {"issues": "write", "metadata": "read"},
        "events": [],
    }


def installation_token(token):
    return {"token": token, "expires_at": moment(time.time() + 3600), "permissions": {"issues": "write"}}


def refusal(message, status):
    return {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}


def invalid(message, field):
    error = {"resource": "Issue", "field": field, "code": "custom", "message": message}
    return {"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest", "errors": [error]}


_LINKS = (
    "archive assignees blobs branches collaborators comments commits compare contents contributors deployments"
    " downloads events forks git_commits git_refs git_tags git issue_comment issue_events issues keys labels"
    " languages merges milestones notifications pulls releases ssh stargazers statuses subscribers subscription"
    " tags teams trees clone mirror hooks svn html"
)
_COUNTS = (
    "forks_count stargazers_count watchers_count size open_issues_count subscribers_count network_count forks"
    " open_issues watchers"
)


def repository(base, name, **changes):
    here = f"{base}/repos/{name}"
    facts = {
        "id": 99,
        "node_id": node_id("Repository", 99),
        "name": name.partition("/")[2],
        "full_name": name,
        "owner": user(base, name.partition("/")[0]),
        "private": False,
        "url": here,
        "default_branch": "main",
        "has_issues": True,
        "archived": False,
        "disabled": False,
    }
    flags = dict.fromkeys(("fork", "has_projects", "has_wiki", "has_pages", "has_discussions"), False)
    empty = dict.fromkeys(("description", "homepage", "language", "license"))
    dates = {name: moment(1) for name in ("pushed_at", "created_at", "updated_at")}
    links = {f"{link}_url": f"{here}/{link}" for link in _LINKS.split(" ")}
    return facts | flags | empty | dates | links | dict.fromkeys(_COUNTS.split(" "), 0) | changes
