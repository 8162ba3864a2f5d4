"""The ledger on the disk: committed when it returns, and read back by whoever comes next."""

import pytest

from tputriage.model import Filing, TrackedIssue
from tputriage.store import open_store
from tputriage.store.ledger import StoredLedger

FILING = Filing("create:o/r:b1", "b1", "o/r", "intent", floor=7, at_s=1.0)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def test_what_was_written_is_found_by_another_process(store, tmp_path):
    StoredLedger(store).write(FILING)
    with open_store(tmp_path) as other:
        assert StoredLedger(other).find(FILING.key) == FILING


def test_a_later_state_takes_the_place_of_an_earlier(store):
    ledger = StoredLedger(store)
    ledger.write(FILING)
    ledger.write(Filing(FILING.key, "b1", "o/r", "done", number=9))
    assert ledger.find(FILING.key).number == 9
    assert ledger.issues() == {("b1", "o/r"): 9}


def test_what_is_not_there_is_none(store):
    assert StoredLedger(store).find("create:o/r:b2") is None
    assert StoredLedger(store).issues() == {}


def test_how_an_issue_was_last_seen_is_kept_without_its_body(store):
    ledger = StoredLedger(store)
    ledger.saw({"b1": TrackedIssue(7, "title", "a long body", "open", ("bug",))}, 1.0)
    ledger.saw({"b1": TrackedIssue(7, "title", "a long body", "closed", state_reason="completed")}, 2.0)
    assert ledger.seen() == {"b1": (TrackedIssue(7, "title", "", "closed", state_reason="completed"), 2.0)}
