"""What a server says of an issue, where it is no GitHub or lies."""

import pytest

from tputriage.errors import TrackerError
from tputriage.issues.answers import IssueAnswer, read_answer, tracked

PLAIN = {"number": 1, "title": "t"}


@pytest.mark.parametrize(
    "lie",
    [
        {"number": 2**70},  # more than the store's database can hold
        {"number": 0},
        {"state": "<script>alert(1)</script>"},
        {"created_at": "yesterday"},
        {"updated_at": "0000-00-00T00:00:00Z"},
        {"title": None},
        {"labels": [{"name": 1}]},
    ],
    ids=str,
)
def test_an_answer_that_cannot_be_is_one_sentence(lie):
    with pytest.raises(TrackerError, match="GitHub's answer has an unexpected"):
        tracked(read_answer(PLAIN | lie, IssueAnswer), "owner/name")


def test_an_answer_with_the_least_that_is_needed_is_read():
    assert tracked(read_answer(PLAIN, IssueAnswer), "owner/name").number == 1
