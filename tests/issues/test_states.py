"""How each bucket's issue stands, before and after a plan was applied."""

from dataclasses import replace

from tests.issues.values import BOT, POLICY, REPOSITORY
from tputriage.issues.apply import Result
from tputriage.issues.states import states_left, states_met
from tputriage.model import Action, Step, TrackedIssue

OURS = TrackedIssue(7, "ours", "body", "open", ("bug",), author=BOT)
THEIRS = TrackedIssue(8, "theirs", "body", "open", author="person")


def a_step(action=Action.SKIP, issue=7, **changes):
    return Step(action, "b1", "title", "why", issue=issue, repository=REPOSITORY, **changes)


def test_an_issue_of_ours_is_met_and_one_of_other_people_is_not():
    assert states_met([a_step()], [OURS, THEIRS], POLICY) == {"b1": replace(OURS, repository=REPOSITORY)}
    assert states_met([a_step(issue=8)], [OURS, THEIRS], POLICY) == {}


def test_a_copy_that_is_closed_beside_it_does_not_stand_for_it():
    copy = replace(OURS, number=9)
    steps = [a_step(), a_step(Action.CLOSE, 9, state_reason="duplicate")]
    met = states_met(steps, [OURS, copy], POLICY)
    assert met["b1"].number == 7
    assert states_left([Result(steps[1], done=True, issue=9)], met)["b1"].state == "open"


def test_where_nobody_was_asked_nothing_is_known():
    assert states_met([a_step()], None, POLICY) == {}


def test_what_was_filed_closed_or_reopened_is_so_from_then_on():
    made = states_left([Result(a_step(Action.CREATE, None, labels=("tpu",)), done=True, issue=11)], {})
    assert (made["b1"].number, made["b1"].state, made["b1"].labels) == (11, "open", ("tpu",))
    closed = states_left([Result(a_step(Action.CLOSE, state_reason="completed"), done=True, issue=7)], {"b1": OURS})
    assert (closed["b1"].state, closed["b1"].state_reason) == ("closed", "completed")
    assert states_left([Result(a_step(Action.REOPEN), done=True, issue=7)], closed)["b1"].state == "open"


def test_what_was_not_done_changes_nothing():
    assert states_left([Result(a_step(Action.CREATE, None), done=False, problem="refused")], {}) == {}
