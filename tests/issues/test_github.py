"""PyGithub itself over HTTP against our own server: what is repeated, what is waited for, and what is told."""

import logging
import traceback

import pytest

from tests.issues.server import Account, Fault, GitHub
from tests.issues.values import BOT, QUICK, REPOSITORY, a_tracker
from tputriage.errors import TrackerError
from tputriage.issues.github import Patience
from tputriage.issues.tracker import StoppedError, UnsureError


@pytest.fixture
def hub():
    with GitHub() as hub:
        hub.world.repositories[REPOSITORY] = {}
        yield hub


def posts(hub):
    return [path for verb, path in hub.world.writes() if verb == "POST"]


def test_every_page_is_read_and_pull_requests_are_left_out(hub):
    for number in range(250):
        hub.world.add(REPOSITORY, BOT, f"{number}", is_pull=number % 50 == 0, state="closed" if number % 2 else "open")
    assert len(a_tracker(hub).list_issues(REPOSITORY)) == 245


def test_issues_are_listed_by_creator_and_by_their_last_change(hub):
    hub.world.add(REPOSITORY, BOT, "old", updated_s=1_000.0)
    hub.world.add(REPOSITORY, BOT, "new", updated_s=2_000_000.0)
    hub.world.add(REPOSITORY, "person", "other")
    found = a_tracker(hub).list_issues(REPOSITORY, creator=BOT, since_s=1_000_000.0)
    assert [issue.title for issue in found] == ["new"]


@pytest.mark.parametrize("kind", ["500", "502-after", "drop-before", "drop-after", "truncated", "garbled"])
def test_a_post_is_never_repeated_blindly(hub, kind):
    hub.world.faults = [Fault(kind, "POST")]
    with pytest.raises(UnsureError):
        a_tracker(hub).create(REPOSITORY, "title", "body", ())
    assert len(posts(hub)) == 1


@pytest.mark.parametrize("kind", ["500", "502-after", "drop-before", "drop-after", "truncated", "garbled"])
def test_reading_and_editing_are_repeated(hub, kind):
    hub.world.add(REPOSITORY, BOT, "title")
    hub.world.faults = [Fault(kind, "GET"), Fault(kind, "PATCH")]
    tracker = a_tracker(hub)
    assert len(tracker.list_issues(REPOSITORY)) == 1
    tracker.edit(REPOSITORY, 1, body="new")
    assert hub.world.repositories[REPOSITORY][1]["body"] == "new"


@pytest.mark.parametrize("kind", ["timeout-before", "timeout-after"])
def test_a_timeout_leaves_it_open_whether_the_issue_was_made(hub, kind):
    hub.world.faults = [Fault(kind, "POST", seconds=1.5)]
    with pytest.raises(UnsureError, match="not known"):
        a_tracker(hub).create(REPOSITORY, "title", "body", ())


@pytest.mark.parametrize("kind", ["500", "garbled", "drop-before"])
def test_a_listing_that_keeps_failing_is_an_error_and_not_an_empty_list(hub, kind):
    hub.world.faults = [Fault(kind, "GET", times=99)]
    with pytest.raises(TrackerError, match="3 times"):
        a_tracker(hub).list_issues(REPOSITORY)


def test_a_listing_whose_second_page_fails_is_an_error(hub):
    for number in range(150):
        hub.world.add(REPOSITORY, BOT, f"{number}")
    hub.world.faults = [Fault("500", "GET", "page=2", times=99)]
    with pytest.raises(TrackerError):
        a_tracker(hub).list_issues(REPOSITORY)


@pytest.mark.parametrize(
    ("kind", "seconds"), [("403-retry-after", 7.0), ("429-retry-after", 7.0), ("secondary", 60.0), ("primary", 7.0)]
)
def test_limits_are_waited_for_as_long_as_github_asks(hub, kind, seconds):
    hub.world.faults = [Fault(kind, "POST", seconds=7.0)]
    waits = []
    assert a_tracker(hub, sleep=waits.append).create(REPOSITORY, "title", "body", ()).number == 1
    assert waits == [pytest.approx(seconds, abs=2.0)]


def test_a_wait_beyond_our_patience_stops_with_the_time_it_would_take(hub):
    hub.world.faults = [Fault("primary", "POST", seconds=3000.0)]
    waits = []
    with pytest.raises(StoppedError, match="rate limit asks for 300"):
        a_tracker(hub, sleep=waits.append).create(REPOSITORY, "title", "body", ())
    assert waits == []


def test_limits_without_end_are_given_up(hub):
    hub.world.faults = [Fault("429-retry-after", "GET", times=10_000, seconds=20.0)]
    waits = []
    with pytest.raises(StoppedError):
        a_tracker(hub, sleep=waits.append).list_issues(REPOSITORY)
    assert sum(waits) <= QUICK.longest_wait_s


def test_writes_are_a_second_apart_by_default():
    assert Patience().between_writes_s >= 1.0


def test_writes_are_spaced(hub):
    patience = Patience(timeout_s=5, between_requests_s=0.0, between_writes_s=0.2)
    tracker = a_tracker(hub, patience=patience)
    for _ in range(2):
        tracker.create(REPOSITORY, "title", "body", ())
    first, second = (entry["created_s"] for entry in hub.world.repositories[REPOSITORY].values())
    assert second - first >= 0.2


def test_a_missing_issue_is_none_and_so_is_a_deleted_one_and_a_pull_request(hub):
    hub.world.add(REPOSITORY, BOT, deleted=True)
    hub.world.add(REPOSITORY, BOT, is_pull=True)
    assert [a_tracker(hub).get(REPOSITORY, number) for number in (1, 2, 3)] == [None, None, None]


def test_a_missing_scope_is_named(hub):
    hub.world.accounts["token-of-bot"] = Account(BOT, scopes="read:user", may_write=False)
    with pytest.raises(TrackerError, match=r"scope public_repo or repo, and has read:user"):
        a_tracker(hub).create(REPOSITORY, "title", "body", ())


def test_a_missing_permission_of_a_fine_grained_token_is_named(hub):
    hub.world.accounts["token-of-bot"] = Account(BOT, scopes=None, may_write=False)
    with pytest.raises(TrackerError, match="permission issues=write"):
        a_tracker(hub).create(REPOSITORY, "title", "body", ())


def test_the_token_of_a_workflow_knows_its_name(hub):
    hub.world.accounts["token-of-bot"] = Account("github-actions[bot]", None, is_app_token=True)
    assert a_tracker(hub).login() == "github-actions[bot]"


@pytest.mark.parametrize("kind", ["401", "410", "422"])
def test_a_refusal_is_a_sentence_and_is_not_repeated(hub, kind):
    hub.world.faults = [Fault(kind, "POST", times=9)]
    with pytest.raises(TrackerError) as caught:
        a_tracker(hub).create(REPOSITORY, "title", "body", ())
    assert not isinstance(caught.value, UnsureError)
    assert len(posts(hub)) == 1


def test_a_repository_that_has_moved_is_an_error_with_its_new_name(hub):
    hub.world.moved["old/name"] = REPOSITORY
    with pytest.raises(TrackerError, match=f"old/name is {REPOSITORY} now"):
        a_tracker(hub).list_issues("old/name")


@pytest.mark.parametrize("facts", [{"archived": True}, {"has_issues": False}])
def test_a_repository_that_takes_no_issues_is_an_error(hub, facts):
    hub.world.facts = facts
    with pytest.raises(TrackerError, match="takes no issues"):
        a_tracker(hub).list_issues(REPOSITORY)


def test_an_enterprise_server_has_its_api_below_a_path(hub):
    hub.url += "/api/v3"
    assert a_tracker(hub).create(REPOSITORY, "title", "body", ()).number == 1


def test_an_address_that_is_no_api_is_an_error(hub):
    hub.url += "/elsewhere"
    with pytest.raises(TrackerError):
        a_tracker(hub).list_issues(REPOSITORY)


@pytest.mark.parametrize("kind", ["401", "500", "drop-before", "garbled", "secondary"])
def test_no_error_and_no_log_has_the_token(hub, kind, caplog):
    caplog.set_level(logging.DEBUG)
    hub.world.faults = [Fault(kind, times=99)]
    with pytest.raises(TrackerError) as caught:
        a_tracker(hub).create(REPOSITORY, "title", "body", ())
    told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value.__cause__)
    assert "token-of-bot" not in told
