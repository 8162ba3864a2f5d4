"""`tputriage file-issues` as a person runs it, against a GitHub of our own over HTTP."""

import json
import os
import subprocess
import sys

from tests.issues.values import REPOSITORY

TOKEN = "token-of-bot"


def file_issues(folder, hub, *arguments, token=TOKEN, command="file-issues"):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GH_"))}
    environment |= {"GITHUB_TOKEN": token} if token else {"PATH": "/usr/bin:/bin"}
    url = ["--api-url", hub.url] if command == "file-issues" else []
    said = subprocess.run(
        [sys.executable, "-m", "tputriage", command, *url, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in said.stderr
    assert TOKEN not in said.stdout + said.stderr
    return said


def plan_of(said):
    return [(step["action"], step["issue"]) for step in json.loads(said.stdout)["plan"]]


def test_a_dry_run_writes_nothing_and_needs_no_token(folder, hub):
    said = file_issues(folder, hub, "--dry-run", "--json", token="")
    assert plan_of(said) == [("create", None)]
    assert hub.world.writes() == []


def test_a_bucket_is_filed_once_however_often_it_is_asked(folder, hub):
    assert plan_of(file_issues(folder, hub, "--yes", "--json")) == [("create", 1)]
    again = file_issues(folder, hub, "--yes", "--json")
    assert again.returncode == 0
    assert [action for action, _ in plan_of(again)] != ["create"]
    assert [path for verb, path in hub.world.writes() if verb == "POST" and path.endswith("/issues")] == [
        f"/repos/{REPOSITORY}/issues"
    ]


def test_without_a_terminal_nothing_is_written_unless_yes_is_said(folder, hub):
    said = file_issues(folder, hub)
    assert (said.returncode, hub.world.writes()) == (2, [])
    assert "--yes" in said.stderr


def test_without_a_token_filing_says_how_to_get_one(folder, hub):
    said = file_issues(folder, hub, "--yes", token="")
    assert (said.returncode, "GITHUB_TOKEN" in said.stderr) == (1, True)


def test_show_knows_the_issue_that_was_filed(folder, hub):
    file_issues(folder, hub, "--yes")
    said = file_issues(folder, hub, "--json", command="show")
    assert json.loads(said.stdout)["buckets"][0]["issue"] == 1


def test_the_page_knows_how_the_issue_stood_when_filing_looked_last(folder, hub):
    file_issues(folder, hub, "--yes")
    hub.world.repositories[REPOSITORY][1] |= {"state": "closed", "state_reason": "not_planned", "labels": ["wontfix"]}
    file_issues(folder, hub, "--yes")
    assert file_issues(folder, hub, command="report").returncode == 0
    page = (folder / "tputriage.html").read_text("utf-8")
    assert '"issue":1,"state":"closed"' in page
    assert "closed as not planned, labels: wontfix; as seen on " in page


def test_each_request_is_logged_for_who_asks_and_the_token_is_not(folder, hub):
    said = file_issues(folder, hub, "--yes", "-v")
    assert f"github: POST /repos/{REPOSITORY}/issues" in said.stderr
    assert "github" not in file_issues(folder, hub, "--yes", "-q").stderr
