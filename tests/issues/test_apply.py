"""A plan applied to our own server: nothing twice, nothing lost, nothing closed that people decided on."""

from dataclasses import replace

import pytest

from tests.issues.secrets import KINDS as KINDS_OF_SECRETS
from tests.issues.secrets import planted
from tests.issues.server import KINDS, Account, Fault, GitHub
from tests.issues.values import (
    BOT,
    POLICY,
    REPOSITORY,
    DictLedger,
    a_filed_failure,
    a_filer,
    a_fixed_dossier,
    a_passing_run,
    a_ready_bucket,
    a_ready_dossier,
    a_ready_repro,
    a_sighting,
    a_tracker,
)
from tputriage.errors import TrackerError
from tputriage.issues.apply import apply_plan
from tputriage.issues.ledger import DONE, INTENT, SENT
from tputriage.issues.masks import cleaner_for
from tputriage.issues.plan import make_plan
from tputriage.issues.survey import survey
from tputriage.model import Action

CLOSING = replace(POLICY, close_fixed=True)


@pytest.fixture
def hub():
    with GitHub() as hub:
        hub.world.repositories[REPOSITORY] = {}
        yield hub


def file_them(hub, *dossiers, filer=None, policy=POLICY):
    """As the command does it: look, plan, apply."""
    filer = filer or a_filer(hub)
    return apply_plan(make_plan(dossiers, survey(filer.tracker, dossiers, policy), policy), filer)


def issues_of(hub):
    return list(hub.world.repositories[REPOSITORY].values())


def test_filing_twice_files_once(hub):
    for _ in range(2):
        (result,) = file_them(hub, a_ready_dossier())
        assert (result.done, result.issue) == (True, 1)
    assert len(issues_of(hub)) == 1


def test_intent_sent_and_number_are_committed_in_this_order(hub):
    filer = a_filer(hub)
    file_them(hub, a_ready_dossier(), filer=filer)
    assert filer.ledger.history[:3] == [INTENT, SENT, DONE]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("401", "410", "422")])
@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_whatever_goes_wrong_once_the_next_run_ends_with_one_issue(hub, kind, verb):
    hub.world.faults = [Fault(kind, verb, seconds=1.2 if "timeout" in kind else 0.0)]
    filer = a_filer(hub)
    file_them(hub, a_ready_dossier(), filer=filer)
    (result,) = file_them(hub, a_ready_dossier(), filer=filer)
    assert (result.issue, len(issues_of(hub))) == (1, 1)


@pytest.mark.parametrize("kind", ["502-after", "drop-after", "truncated", "garbled"])
def test_an_issue_whose_answer_was_lost_is_found_though_the_listing_lags(hub, kind):
    hub.world.list_lag = 1000
    hub.world.faults = [Fault(kind, "POST")]
    (result,) = file_them(hub, a_ready_dossier())
    assert (result.done, result.issue, len(issues_of(hub))) == (True, 1, 1)


def test_a_listing_that_fails_files_nothing(hub):
    hub.world.faults = [Fault("500", "GET", "/issues", times=99)]
    with pytest.raises(TrackerError):
        file_them(hub, a_ready_dossier())
    assert hub.world.writes() == []


@pytest.mark.parametrize("kind", ["401", "410", "422"])
def test_a_refusal_is_a_problem_and_nothing_is_remembered_as_sent(hub, kind):
    hub.world.faults = [Fault(kind, "POST")]
    filer = a_filer(hub)
    (result,) = file_them(hub, a_ready_dossier(), filer=filer)
    assert not result.done
    assert [filing.state for filing in filer.ledger.filings.values()] == [INTENT]


def test_after_a_refused_token_the_rest_is_not_tried(hub):
    hub.world.faults = [Fault("401", "POST")]
    results = file_them(hub, a_ready_dossier(), a_ready_dossier(number=1))
    assert [result.done for result in results] == [False, False]
    assert results[1].problem.startswith("not tried")
    assert len(hub.world.writes()) == 1


def test_after_a_422_the_rest_is_tried(hub):
    hub.world.faults = [Fault("422", "POST")]
    results = file_them(hub, a_ready_dossier(), a_ready_dossier(number=1))
    assert [result.done for result in results] == [False, True]


def test_the_filer_who_comes_second_closes_its_own_and_links_the_first(hub):
    first, second = a_filer(hub), a_filer(hub)
    steps = make_plan([a_ready_dossier()], (), POLICY)
    hub.world.faults = [Fault("stale", "GET", "creator", times=1)]
    apply_plan(steps, first)
    # The second one looked before the first had filed: its look is made blind, and its creation goes through.
    made = second.tracker.create(REPOSITORY, steps[0].title, steps[0].body, ())
    assert made.number == 2
    file_them(hub, a_ready_dossier(), filer=second)
    one, two = issues_of(hub)
    assert (one["state"], two["state"], two["state_reason"]) == ("open", "closed", "duplicate")
    assert "Duplicate of #1" in two["comments"][0]["body"]


def test_labels_dropped_at_creation_are_added_after_it(hub):
    hub.world.accounts["token-of-bot"] = Account(BOT, push=False)
    filer = a_filer(hub)
    steps = make_plan([a_ready_dossier()], (), replace(POLICY, labels=("tpu",)))
    (result,) = apply_plan(steps, filer)
    assert result.done
    assert "without the labels tpu" in result.note


def test_labels_are_there_with_push_access(hub):
    apply_plan(make_plan([a_ready_dossier()], (), replace(POLICY, labels=("tpu",))), a_filer(hub))
    assert issues_of(hub)[0]["labels"] == ["tpu"]


def test_an_edit_made_since_the_plan_survives(hub):
    file_them(hub, a_ready_dossier())
    filer = a_filer(hub)
    newer = a_ready_dossier(history=(a_sighting(), a_sighting("0.2.1")))
    steps = make_plan([newer], survey(filer.tracker, [newer], POLICY), POLICY)
    issues_of(hub)[0]["body"] += "\n\nwritten by a person meanwhile"
    apply_plan(steps, filer)
    body = issues_of(hub)[0]["body"]
    assert body.endswith("written by a person meanwhile")
    assert "0.2.1" in body


@pytest.mark.parametrize("change", [{"labels": ["wontfix"]}, {"state": "closed", "state_reason": "not_planned"}])
def test_what_people_decided_since_the_plan_is_respected(hub, change):
    file_them(hub, a_ready_dossier())
    filer = a_filer(hub)
    steps = make_plan([a_fixed_dossier()], survey(filer.tracker, [a_fixed_dossier()], CLOSING), CLOSING)
    issues_of(hub)[0].update(change)
    (result,) = apply_plan(steps, filer)
    assert steps[0].action is Action.CLOSE
    assert "left alone" in result.note
    assert issues_of(hub)[0]["comments"] == []


@pytest.mark.parametrize("kind", ["502-after", "drop-after", "500", "drop-before", "truncated"])
def test_a_comment_is_posted_once_whatever_happens_to_its_answer(hub, kind):
    filer = a_filer(hub)
    file_them(hub, a_ready_dossier(), filer=filer)
    hub.world.faults = [Fault(kind, "POST", "/comments")]
    for _ in range(3):
        file_them(hub, a_fixed_dossier(), filer=filer)
    assert len(issues_of(hub)[0]["comments"]) == 1


def test_a_comment_is_posted_once_though_the_ledger_was_lost(hub):
    file_them(hub, a_ready_dossier())
    hub.world.faults = [Fault("500", "PATCH", times=99)]
    file_them(hub, a_fixed_dossier())
    hub.world.faults = []
    file_them(hub, a_fixed_dossier(), filer=a_filer(hub, DictLedger()))
    assert len(issues_of(hub)[0]["comments"]) == 1


def test_the_life_of_an_issue_through_six_versions_has_three_comments(hub):
    filer = a_filer(hub)
    seen = (a_sighting("0.2.0"), a_sighting("0.3.0"))
    regressed = (*seen, a_sighting("0.6.0"))
    life = (
        (a_ready_dossier(), POLICY, "open", 0),  # 0.2.0: new
        (a_ready_dossier(history=seen), POLICY, "open", 0),  # 0.3.0: seen again
        (a_fixed_dossier("0.4.0", history=seen), POLICY, "open", 1),  # 0.4.0: fixed, proposed for closing
        (confirmed(seen), CLOSING, "closed", 2),  # 0.5.0: the fix is confirmed
        (confirmed(regressed), CLOSING, "open", 3),  # 0.6.0: back again
        # 0.1.0: an older run arrives late
        (confirmed((a_sighting("0.1.0"), *regressed)), CLOSING, "open", 3),
    )
    for dossier, policy, state, comments in life:
        for _ in range(2):  # a second run of the same changes nothing
            file_them(hub, dossier, filer=filer, policy=policy)
            (issue,) = issues_of(hub)
            assert (issue["state"], len(issue["comments"])) == (state, comments)


def test_an_older_run_that_arrives_while_the_issue_is_closed_leaves_it_closed(hub):
    file_them(hub, a_ready_dossier())
    file_them(hub, a_fixed_dossier(), policy=CLOSING)
    file_them(hub, a_fixed_dossier(history=(a_sighting("0.1.0", at_s=99.0), a_sighting())), policy=CLOSING)
    assert [(issue["state"], len(issue["comments"])) for issue in issues_of(hub)] == [("closed", 1)]


def confirmed(history):
    runs = (a_passing_run("0.4.0"),) * 3 + (a_passing_run("0.5.0"),) * 3
    return a_ready_dossier(fixed_in="0.4.0", verifications=runs, history=history)


def test_planning_sends_no_request_that_writes(hub):
    tracker = a_tracker(hub)
    make_plan([a_ready_dossier()], survey(tracker, [a_ready_dossier()], POLICY), POLICY)
    assert hub.world.requests
    assert hub.world.writes() == []


def test_two_hundred_planted_secrets_reach_neither_server_nor_log(hub, caplog):
    caplog.set_level("DEBUG")
    secrets = planted()
    known = {f"MY_TOKEN_{number}": secret for number, (kind, _, secret) in enumerate(secrets) if kind == "environment"}
    policy = replace(POLICY, cleaner=cleaner_for(known), max_new=500)
    texts = ["\n".join(text for kind, text, _ in secrets if kind == wanted) for wanted in KINDS_OF_SECRETS]
    dossiers = [a_leaky_dossier(number, text) for number, text in enumerate(texts)]
    results = file_them(hub, *dossiers, policy=policy)
    sent = "".join(text for _, _, text in hub.world.requests) + caplog.text + repr(results)
    leaked = [kind for kind, _, secret in secrets if any(line in sent for line in secret.splitlines())]
    assert len(secrets) >= 200
    assert all(result.done and result.step.action is Action.CREATE for result in results)
    assert leaked == []


def a_leaky_dossier(number, text):
    """The secret is in message, output, paths, the test's id, the repro and the reasons."""
    failure = a_filed_failure(
        test_id=f"tests/a.py::test_x[{text}]", message=text, text=f"Traceback\n{text}\n", captured=text
    )
    bucket = a_ready_bucket(failure, number=number, title=f"boom: {text}")
    repro = a_ready_repro(
        bucket,
        source=f"# {text}\npass\n",
        actual=text,
        condition=f"when {text}",
        traceback=f"x\n{text}",
        cpp_trace=text,
    )
    base = a_ready_dossier()
    verdict = replace(base.verdict, reason=text, matrix=((text, text),))
    history = (a_sighting(report=text, versions={"torch_tpu": "0.2.0", "host": text}),)
    return replace(base, bucket=bucket, repro=repro, verdict=verdict, history=history)
