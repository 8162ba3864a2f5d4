"""What is on the tracker, as complete as the plan needs it."""

from dataclasses import replace

import pytest

from tests.issues.server import GitHub
from tests.issues.values import BOT, POLICY, REPOSITORY, a_ready_dossier, a_tracker
from tputriage.issues.survey import survey


@pytest.fixture
def hub():
    with GitHub() as hub:
        hub.world.repositories[REPOSITORY] = {}
        yield hub


def test_our_old_issues_are_listed_though_peoples_are_only_read_since_a_date(hub):
    hub.world.add(REPOSITORY, BOT, "ours", updated_s=1.0)
    hub.world.add(REPOSITORY, "person", "old", updated_s=1.0)
    hub.world.add(REPOSITORY, "person", "new", updated_s=3_000_000.0)
    found = survey(a_tracker(hub), [a_ready_dossier()], POLICY, people_since_s=2_000_000.0)
    assert [issue.title for issue in found] == ["ours", "new"]


def test_the_ledgers_issue_is_asked_for_where_the_listing_lags(hub):
    hub.world.list_lag = 1000
    hub.world.add(REPOSITORY, BOT, "ours")
    found = survey(a_tracker(hub), [a_ready_dossier(issue=1)], POLICY)
    assert [issue.number for issue in found] == [1]


@pytest.mark.parametrize("text", ["Duplicate of #2", "duplicate of https://github.com/o/r/issues/2"])
def test_a_closed_duplicate_says_of_which(hub, text):
    comment = {"id": 1, "author": "person", "body": text, "created_s": 1.0}
    closed = {"state": "closed", "state_reason": "duplicate"}
    hub.world.add(REPOSITORY, BOT, "ours", comments=[comment], **closed)
    hub.world.add(REPOSITORY, "person", "the original", body="duplicate of #1", **closed)
    found = survey(a_tracker(hub), [a_ready_dossier()], POLICY)
    assert [issue.duplicate_of for issue in found] == [2, 1]


def test_both_repositories_are_looked_at(hub):
    hub.world.add("huggingface/diffusers", BOT, "theirs")
    hub.world.add(REPOSITORY, BOT, "ours")
    everywhere = a_ready_dossier(number=1)
    verdict = replace(everywhere.verdict, kind="everywhere")
    policy = replace(POLICY, upstream="huggingface/diffusers")
    found = survey(a_tracker(hub), [a_ready_dossier(), replace(everywhere, verdict=verdict)], policy)
    assert [issue.repository for issue in found] == [REPOSITORY, "huggingface/diffusers"]
