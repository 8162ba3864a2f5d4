"""How the issue of each bucket was last seen, out of the store, for the terminal and the page."""

from __future__ import annotations

from tputriage.dashboard import IssueState
from tputriage.store import Store
from tputriage.store.ledger import StoredLedger


def issue_states(store: Store) -> dict[str, IssueState]:
    """{bucket id: its issue as filing last saw it}."""
    return {
        bucket: IssueState(issue.number, issue.state, issue.state_reason, issue.labels, seen_s)
        for bucket, (issue, seen_s) in StoredLedger(store).seen().items()
    }
