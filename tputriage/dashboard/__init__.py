"""The page, the step summary, model_results.json: pure functions of dossiers and of the store's report rows.

Nothing here reads the store or a clock. What tests printed is hostile: it reaches the page as JSON that the page's
script writes as text alone, and the summary as escaped text.
"""

from tputriage.dashboard.entries import issue_in_words
from tputriage.dashboard.numbers import Board, board_of, issue_of
from tputriage.dashboard.page import page
from tputriage.dashboard.quoting import IssueState, Links
from tputriage.dashboard.results import model_results
from tputriage.dashboard.summary import summary

__all__ = ["Board", "IssueState", "Links", "board_of", "issue_in_words", "issue_of", "model_results", "page", "summary"]
