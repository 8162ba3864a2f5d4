"""Each bucket gets a step with its reason in words."""

import itertools
import re
from dataclasses import replace

import pytest

from tests.issues.values import (
    A_VERDICT,
    BOT,
    POLICY,
    TEMPLATE,
    a_filed_failure,
    a_fixed_dossier,
    a_passing_run,
    a_ready_bucket,
    a_ready_dossier,
    a_ready_repro,
    a_sighting,
    an_issue,
)
from tputriage.issues.marker import read_mark
from tputriage.issues.plan import make_plan
from tputriage.issues.text import draft_issue
from tputriage.model import Action, Outcome, ReproStatus, VerdictKind

UPSTREAM = replace(POLICY, upstream="huggingface/diffusers")


def plan_of(dossier, issues=(), policy=POLICY):
    """The one step of the one bucket."""
    (step,) = make_plan([dossier], issues, policy)
    return step


def filed(dossier, number=1, fixed="", **changes):
    """The bucket's issue as we filed it."""
    title, body = draft_issue(dossier, POLICY, fixed=fixed)
    return an_issue(number, title=title, body=body, **changes)


def closed(dossier, number=1, fixed="0.3.0", reason="completed", **changes):
    return filed(dossier, number, fixed, state="closed", state_reason=reason, closed_s=2.0, **changes)


# -- what is filed, and where ------------------------------------------------------------------------------


def test_a_verified_bucket_that_fails_on_tpu_only_is_created():
    step = plan_of(a_ready_dossier(), policy=replace(POLICY, labels=("bug",)))
    assert (step.action, step.repository, step.labels) == (Action.CREATE, POLICY.repository, ("bug",))
    assert step.body.startswith("<!-- tputriage")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"verdict": None}, "nothing was rerun yet"),
        ({"repro": None}, "tputriage minimize b"),
        ({"verdict": replace(A_VERDICT, kind=VerdictKind.INFRA, reason="hub offline")}, "infra.*hub offline"),
        ({"verdict": replace(A_VERDICT, kind=VerdictKind.NOT_REPRODUCED)}, "not reproduced"),
        ({"verdict": replace(A_VERDICT, kind=VerdictKind.UNDECIDED)}, "undecided"),
        ({"verdict": replace(A_VERDICT, kind=VerdictKind.EVERYWHERE)}, "fails on CPU too.*--upstream"),
        ({"verdict": replace(A_VERDICT, kind=VerdictKind.SUITE)}, "the suite's own check.*--upstream"),
        ({"verdict": replace(A_VERDICT, kind=VerdictKind.FLAKY, failed=1, total=20)}, "flaky, in 1 of 20 runs"),
    ],
)
def test_what_is_not_filed_says_why(changes, reason):
    step = plan_of(a_ready_dossier(**changes))
    assert step.action is Action.SKIP
    assert re.search(reason, step.reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": ReproStatus.UNVERIFIED, "reason": "the device went away"}, "unverified: the device went away"),
        ({"status": ReproStatus.NOT_REPRODUCED}, "the repro is not-reproduced"),
        ({"reliability": (1, 5)}, "failed in only 1 of 5"),
        ({"asks_device": "it compares the device's name"}, "may be the suite's own choice"),
    ],
)
def test_a_repro_that_is_not_good_enough_is_not_filed(changes, reason):
    bucket = a_ready_bucket()
    step = plan_of(a_ready_dossier(repro=a_ready_repro(bucket, **changes)))
    assert step.action is Action.SKIP
    assert reason in step.reason


def test_a_flake_that_fails_often_enough_is_filed():
    verdict = replace(A_VERDICT, kind=VerdictKind.FLAKY, failed=5, total=10)
    assert plan_of(a_ready_dossier(verdict=verdict)).action is Action.CREATE


def an_emulated_dossier(**changes):
    bucket = a_ready_bucket()
    repro = a_ready_repro(bucket, targets={"emulator": "fail", "cpu": "pass"})
    return a_ready_dossier(repro=repro, history=(a_sighting(target=""),), **changes)


def test_emulator_only_evidence_is_filed_only_when_allowed():
    assert "--allow-emulator" in plan_of(an_emulated_dossier()).reason
    assert plan_of(an_emulated_dossier(), policy=replace(POLICY, allow_emulator=True)).action is Action.CREATE


def test_a_report_from_hardware_makes_the_evidence_more_than_emulated():
    dossier = replace(an_emulated_dossier(), history=(a_sighting(target="tpu"),))
    assert plan_of(dossier).action is Action.CREATE


def test_what_fails_everywhere_goes_to_the_suite_when_asked():
    verdict = replace(A_VERDICT, kind=VerdictKind.EVERYWHERE)
    step = plan_of(a_ready_dossier(verdict=verdict, repro=None), policy=UPSTREAM)
    assert (step.action, step.repository) == (Action.CREATE, "huggingface/diffusers")


def test_issues_of_another_repository_do_not_count():
    dossier = a_ready_dossier()
    assert plan_of(dossier, [filed(dossier, repository="elsewhere/else")]).action is Action.CREATE


def test_no_more_new_issues_than_allowed():
    dossiers = [a_ready_dossier(number=number) for number in range(7)]
    actions = [step.action for step in make_plan(dossiers, (), POLICY)]
    assert actions == [Action.CREATE] * 5 + [Action.SKIP] * 2


def test_one_issue_a_missing_operator_with_all_its_tests():
    dossiers = []
    for number, operator in enumerate(("aten::median", "aten::median.dim")):
        bucket = a_ready_bucket(a_filed_failure(test_id=f"tests/a.py::test_{number}"), number=number)
        signature = replace(bucket.signature, family="missing-op", operator=operator)
        bucket = replace(bucket, signature=signature)
        dossiers.append(a_ready_dossier(bucket=bucket, repro=a_ready_repro(bucket)))
    first, second = make_plan(dossiers, (), POLICY)
    assert (first.action, second.action) == (Action.CREATE, Action.SKIP)
    assert "test_0" in first.body
    assert "test_1" in first.body
    assert dossiers[1].bucket.signature.key in read_mark(first.body).keys


def test_without_github_the_plan_comes_from_what_the_store_remembers():
    new, known = a_ready_dossier(), a_ready_dossier(number=1, issue=7)
    steps = make_plan([new, known], None, POLICY)
    assert [(step.action, step.issue) for step in steps] == [(Action.CREATE, None), (Action.UPDATE, 7)]


# -- what is there already -----------------------------------------------------------------------------------


def test_an_issue_that_says_it_all_is_left_alone():
    dossier = a_ready_dossier()
    assert plan_of(dossier, [filed(dossier)]).action is Action.SKIP


def test_new_evidence_updates_the_body_without_a_comment():
    issue = filed(a_ready_dossier())
    step = plan_of(a_ready_dossier(history=(a_sighting(), a_sighting("0.2.1"))), [issue])
    assert (step.action, step.issue, step.comment) == (Action.UPDATE, 1, "")
    assert "0.2.1" in step.body


def test_what_people_wrote_around_our_section_is_in_the_new_body():
    issue = filed(a_ready_dossier())
    edited = replace(issue, body=f"a note\n\n{issue.body}\n\nanother")
    step = plan_of(a_ready_dossier(history=(a_sighting("0.2.1"),)), [edited])
    assert step.body.startswith("a note\n\n<!-- tputriage")
    assert step.body.endswith("\n\nanother")


def test_an_issue_under_an_older_key_is_found_by_its_alias():
    old = a_ready_dossier()
    bucket = replace(a_ready_bucket(number=9), aliases=(old.bucket.signature.key,))
    step = plan_of(a_ready_dossier(bucket=bucket), [filed(old)])
    assert (step.action, step.issue) == (Action.UPDATE, 1)
    assert read_mark(step.body).keys >= {old.bucket.signature.key, bucket.signature.key}


def test_a_mark_in_someone_elses_issue_counts_for_nothing():
    dossier = a_ready_dossier()
    thief = replace(filed(dossier), author="thief", title="buy things", body=f"{read_mark(filed(dossier).body)}\n")
    assert plan_of(dossier, [thief]).action is Action.CREATE


def test_a_mark_of_an_allowed_author_counts():
    dossier = a_ready_dossier()
    policy = replace(POLICY, authors=frozenset({BOT, "Colleague"}))
    assert plan_of(dossier, [replace(filed(dossier), author="colleague")], policy).action is Action.SKIP


def test_the_ledgers_issue_that_github_does_not_list_is_not_filed_again():
    step = plan_of(a_ready_dossier(issue=7))
    assert step.action is Action.SKIP
    assert "#7" in step.reason


def test_an_issue_that_lost_its_marks_is_left_to_people():
    step = plan_of(a_ready_dossier(issue=7), [an_issue(7, body="rewritten by hand")])
    assert step.action is Action.SKIP
    assert "left to people" in step.reason


def test_a_second_open_copy_is_closed_as_a_duplicate_of_the_first():
    dossier = a_ready_dossier()
    keep, close = make_plan([dossier], [filed(dossier, 5), filed(dossier, 3)], POLICY)
    assert (keep.issue, close.issue, close.action, close.state_reason) == (3, 5, Action.CLOSE, "duplicate")
    assert "Duplicate of #3" in close.comment


def test_a_closed_copy_does_not_hide_the_open_issue():
    dossier = a_ready_dossier()
    issues = [filed(dossier, 3), closed(dossier, 5, reason="duplicate")]
    assert plan_of(dossier, issues).issue == 3


@pytest.mark.parametrize("label", ["wontfix", "Duplicate", "tputriage: ignore"])
@pytest.mark.parametrize("state", ["open", "closed"])
def test_labels_of_people_are_respected_for_good(label, state):
    dossier = a_fixed_dossier(history=(a_sighting("9.0"),))
    issue = replace(filed(dossier, fixed="0.3.0"), labels=(label,), state=state, state_reason="completed")
    step = plan_of(dossier, [issue], replace(POLICY, close_fixed=True))
    assert step.action is Action.SKIP
    assert label in step.reason


# -- duplicates -------------------------------------------------------------------------------------------------


def test_a_duplicate_is_followed_to_where_the_bug_is_tracked():
    dossier = a_ready_dossier()
    chain = [
        replace(closed(dossier, 1, reason="duplicate"), duplicate_of=2),
        an_issue(2, author="person", state="closed", state_reason="duplicate", duplicate_of=3),
        an_issue(3, author="person"),
    ]
    assert "duplicate of #3" in plan_of(dossier, chain).reason


@pytest.mark.parametrize("numbers", [(1,), (2, 1), (2, 3, 2)])
def test_duplicates_in_a_circle_end(numbers):
    dossier = a_ready_dossier()
    chain = [replace(closed(dossier, 1, reason="duplicate"), duplicate_of=numbers[0])]
    for here, there in itertools.pairwise(numbers):
        chain.append(an_issue(here, author="person", state="closed", state_reason="duplicate", duplicate_of=there))
    assert "in circles" in plan_of(dossier, chain).reason


def test_an_issue_of_a_person_on_the_same_bug_is_offered_instead_of_filing():
    issues = [
        an_issue(4, author="person", title="conv2d is slow", body="very"),
        an_issue(5, author="person", title="group_norm broken", body=f"it says {TEMPLATE}"),
    ]
    step = plan_of(a_ready_dossier(), issues)
    assert (step.action, step.issue) == (Action.SKIP, 5)
    assert "possible duplicate of #5" in step.reason


def test_a_near_match_is_filed_once_told_that_it_is_another_bug():
    issue = an_issue(5, author="person", title="group_norm broken", body=TEMPLATE)
    dossier = a_ready_dossier()
    policy = replace(POLICY, distinct=frozenset({dossier.bucket.id}))
    assert plan_of(dossier, [issue], policy).action is Action.CREATE


@pytest.mark.parametrize("body", ["group_norm raises an error", f"layer_norm: {TEMPLATE}", "view of a tensor"])
def test_a_generic_likeness_is_no_match(body):
    assert plan_of(a_ready_dossier(), [an_issue(5, author="person", body=body)]).action is Action.CREATE


# -- fixed, and back again ----------------------------------------------------------------------------------


def test_a_fix_is_proposed_once_with_a_comment():
    dossier = a_fixed_dossier()
    first = plan_of(dossier, [filed(a_ready_dossier())])
    again = plan_of(dossier, [replace(filed(a_ready_dossier()), body=first.body)])
    assert (first.action, again.action) == (Action.COMMENT, Action.SKIP)
    assert "0.3.0" in first.comment
    assert "--close-fixed" in again.reason


def test_a_fix_is_closed_only_when_asked():
    step = plan_of(a_fixed_dossier(), [filed(a_ready_dossier())], replace(POLICY, close_fixed=True))
    assert (step.action, step.state_reason) == (Action.CLOSE, "completed")


@pytest.mark.parametrize(
    "changes",
    [
        {"verifications": (a_passing_run(),) * 2},
        {"verifications": (a_passing_run(versions={"torch_tpu": "0.3.0", "tpu": "v5e"}),) * 3},
        {"verifications": (a_passing_run("0.2.0"),) * 3},
        {"history": (a_sighting("0.3.0"),)},
        {"history": (a_sighting("0.4.0"),)},
        {"history": (a_sighting(), a_sighting(versions={"torch_tpu": "0.2.0", "tpu": "v5e"}))},
        {"verifications": (a_passing_run(),) * 3 + (a_passing_run(outcome=Outcome.FAILED),)},
        {"fixed_in": "unknown"},
    ],
    ids=[
        "too few runs",
        "other hardware",
        "older version",
        "same version fails",
        "newer fails",
        "half",
        "mixed",
        "odd",
    ],
)
def test_too_little_proof_closes_nothing(changes):
    dossier = replace(a_fixed_dossier(), **changes)
    step = plan_of(dossier, [filed(a_ready_dossier())], replace(POLICY, close_fixed=True))
    assert step.action in (Action.SKIP, Action.UPDATE)


def test_a_fix_needs_proof_on_every_hardware_generation():
    history = (a_sighting(), a_sighting(versions={"torch_tpu": "0.2.0", "tpu": "v5e"}))
    runs = (a_passing_run(),) * 3 + (a_passing_run(versions={"torch_tpu": "0.3.0", "tpu": "v5e"}),) * 3
    dossier = replace(a_fixed_dossier(), history=history, verifications=runs)
    assert plan_of(dossier, [filed(a_ready_dossier())]).action is Action.COMMENT


def test_a_closed_issue_that_fails_on_a_newer_version_is_reopened_with_the_evidence():
    dossier = a_fixed_dossier(history=(a_sighting(), a_sighting("0.4.0")))
    step = plan_of(dossier, [closed(a_ready_dossier())])
    assert step.action is Action.REOPEN
    assert "0.4.0" in step.comment
    assert "RuntimeError: view()" in step.comment


@pytest.mark.parametrize("version", ["0.1.9", "0.2.5", "0.3.0", "0.3.0.dev20261101", "", "nonsense"])
def test_an_older_versions_run_never_reopens(version):
    dossier = a_fixed_dossier(history=(a_sighting(), a_sighting(version, at_s=99.0)))
    assert plan_of(dossier, [closed(a_ready_dossier())]).action is Action.SKIP


def test_ten_is_newer_than_nine():
    dossier = a_fixed_dossier("0.9.0", history=(a_sighting(), a_sighting("0.10.0")))
    assert plan_of(dossier, [closed(a_ready_dossier(), fixed="0.9.0")]).action is Action.REOPEN


def test_a_person_closed_it_without_a_version_and_a_later_newer_run_reopens():
    issue = closed(a_ready_dossier(), fixed="")
    late = a_ready_dossier(history=(a_sighting(), a_sighting("0.2.1", at_s=3.0)))
    early = a_ready_dossier(history=(a_sighting(), a_sighting("0.2.1", at_s=1.5)))
    assert plan_of(late, [issue]).action is Action.REOPEN
    assert plan_of(early, [issue]).action is Action.SKIP


def test_what_was_closed_as_not_planned_stays_closed():
    dossier = a_fixed_dossier(history=(a_sighting("0.4.0"),))
    assert plan_of(dossier, [closed(a_ready_dossier(), reason="not_planned")]).action is Action.SKIP


def test_an_open_issue_said_to_be_fixed_that_fails_again_gets_a_comment():
    dossier = a_fixed_dossier(history=(a_sighting(), a_sighting("0.4.0")))
    step = plan_of(dossier, [filed(a_ready_dossier(), fixed="0.3.0")])
    assert step.action is Action.COMMENT
    assert "It is back" in step.comment
    assert read_mark(step.body).fixed == ""


def test_a_regression_is_reopened_only_with_evidence_that_is_good_enough():
    dossier = a_fixed_dossier(history=(a_sighting("0.4.0"),), repro=None)
    assert "stays closed" in plan_of(dossier, [closed(a_ready_dossier())]).reason
