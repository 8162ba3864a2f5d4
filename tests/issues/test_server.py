"""Our own GitHub is no mirror of our assumptions: its answers have the shape that GitHub's OpenAPI description has."""

import json
import urllib.error
import urllib.request
from collections import defaultdict

import pytest
from githubkit_schemas.latest import models

from tests.issues.server import Account, GitHub
from tests.issues.values import BOT, REPOSITORY, a_tracker
from tputriage.issues.credentials import Credentials
from tputriage.issues.github import GitHubTracker


@pytest.fixture(scope="module")
def answers():
    """{model: answers} after each kind of request was made once by PyGithub."""
    with GitHub() as hub:
        hub.world.add(REPOSITORY, "person", "a change", is_pull=True)
        tracker = a_tracker(hub)
        tracker.login()
        made = tracker.create(REPOSITORY, "title", "body", ("bug",))
        tracker.edit(REPOSITORY, made.number, body="other", state="closed", state_reason="duplicate")
        tracker.add_labels(REPOSITORY, made.number, ("bug", "tpu"))
        tracker.comment(REPOSITORY, made.number, "a comment")
        tracker.comments(REPOSITORY, made.number)
        tracker.list_issues(REPOSITORY)
        found = defaultdict(list)
        for kind, answer in hub.world.answers:
            found[kind].append(answer)
    return found


@pytest.mark.parametrize("kind", ["Issue", "IssueComment", "Label", "PrivateUser", "FullRepository"])
def test_answers_have_the_shape_of_githubs_description(answers, kind):
    assert answers[kind]
    for answer in answers[kind]:
        getattr(models, kind).model_validate(json.loads(json.dumps(answer)))


def test_an_app_and_its_token_have_the_shape_of_githubs_description(app_key):
    with GitHub() as hub:
        hub.world.repositories[REPOSITORY] = {}
        app = Credentials(app_id="7", private_key=app_key, installation=12)
        tracker = GitHubTracker(app, api_url=hub.url)
        # The App's own address needs its JWT, which the server does not check.
        assert tracker.login() == "triage-app[bot]"
        assert tracker.create(REPOSITORY, "title", "body", ()).author == "triage-app[bot]"
        for kind, answer in hub.world.answers:
            getattr(models, kind).model_validate(json.loads(json.dumps(answer)))


@pytest.fixture(scope="module")
def app_key():
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    ).decode()


def asked(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return answer.status, dict(answer.headers), json.load(answer)


def test_pages_are_linked_and_mix_issues_with_pull_requests():
    with GitHub() as hub:
        for number in range(5):
            hub.world.add(REPOSITORY, BOT, f"{number}", is_pull=number == 2)
        _, headers, found = asked(
            f"{hub.url}/repos/{REPOSITORY}/issues?per_page=2&page=2", Authorization="token token-of-bot"
        )
        assert [item["number"] for item in found] == [3, 2]
        assert 'rel="next"' in headers["Link"]
        assert "X-RateLimit-Remaining" in headers


def test_a_known_etag_is_answered_with_304():
    with GitHub() as hub:
        hub.world.add(REPOSITORY, BOT, "one")
        url = f"{hub.url}/repos/{REPOSITORY}/issues/1"
        _, headers, _ = asked(url, Authorization="token token-of-bot")
        with pytest.raises(urllib.error.HTTPError) as caught:
            asked(url, Authorization="token token-of-bot", **{"If-None-Match": headers["ETag"]})
        caught.value.close()
        assert caught.value.code == 304


def test_the_search_index_lags_behind_the_listing():
    with GitHub() as hub:
        tracker = a_tracker(hub)
        hub.world.repositories[REPOSITORY] = {}
        tracker.create(REPOSITORY, "a title", "body", ())
        _, _, found = asked(f"{hub.url}/search/issues?q=title")
        assert (found["total_count"], len(tracker.list_issues(REPOSITORY))) == (0, 1)


def test_labels_of_one_without_push_access_are_dropped_without_a_word():
    with GitHub() as hub:
        hub.world.accounts["token-of-bot"] = Account(BOT, push=False)
        hub.world.repositories[REPOSITORY] = {}
        assert a_tracker(hub).create(REPOSITORY, "title", "body", ("bug",)).labels == ()
