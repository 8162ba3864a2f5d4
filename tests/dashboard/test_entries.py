"""One bucket as the page's script reads it."""

import json
from dataclasses import replace

import pytest

from tests.dashboard.values import SOURCE, a_crash, a_dossier, a_hostile_dossier, a_row
from tests.helpers import a_bucket
from tputriage.dashboard import IssueState, Links, board_of
from tputriage.dashboard.entries import TESTS_SHOWN, part_of, row_of, tone_of
from tputriage.dashboard.quoting import cut
from tputriage.model import Dossier, Verdict, VerdictKind

LONGEST = 4_000


def part(dossier, **links):
    return part_of(dossier, Links(**links), LONGEST)


@pytest.mark.parametrize(
    ("words", "tone"),
    [
        ("failed 8 of 8", "bad"),
        ("failed 3 of 8", "mixed"),
        ("failed 0 of 8", "good"),
        ("passed 3 of 3", "good"),
        ("passes", "good"),
        ("fails alike", "bad"),
        ("pass", "good"),
        ("fail", "bad"),
        ("crash", "bad"),
        ("timeout", "bad"),
        ("error: refused", "other"),
        ("skipped 2 of 2", "other"),
        ("", "other"),
    ],
)
def test_an_outcome_has_the_colour_of_its_words(words, tone):
    assert tone_of(words) == tone


def test_the_matrix_holds_devices_settings_and_what_was_varied():
    groups = {group["name"]: group["rows"] for group in part(a_dossier())["matrix"]}
    assert groups["device"] == [["emulator", "failed 3 of 3", "bad"], ["cpu", "passed 2 of 2", "good"]]
    assert ["cpu-fallback", "passes", "good"] in groups["with one setting"]
    assert ["size: 0", "error: refused", "other"] in groups["repro varied"]


def test_the_script_is_whole():
    assert part(a_dossier())["repro"]["source"] == SOURCE


def test_the_failure_rate_is_told_with_its_interval():
    facts = dict(part(a_dossier())["facts"])
    assert facts["failure rate"] == "failed in 3 of 3 runs on the device (95 % interval: 44% to 100%)"


def test_a_fixed_bucket_says_with_which_version():
    assert dict(part(a_dossier(fixed_in="0.3.0"))["facts"])["verified"] == "passes with torch_tpu 0.3.0"


def test_a_bucket_of_which_nothing_is_known_is_shown_too():
    made = part(Dossier(a_bucket(a_crash("tests/test_a.py::test_b"))))
    assert (made["repro"], made["matrix"], made["reason"]) == (None, [], "nothing was rerun yet")


def test_tests_beyond_the_limit_are_counted():
    made = part(a_dossier(tests=TESTS_SHOWN + 7))
    assert (len(made["tests"]), made["more"]) == (TESTS_SHOWN, 7)


def test_a_row_knows_its_issue_and_where_it_is():
    dossier = a_dossier(issue=12)
    row = row_of(dossier, Links({dossier.bucket.id: "https://github.com/o/n/issues/12"}))
    assert (row["issue"], row["url"]) == (12, "https://github.com/o/n/issues/12")


def test_secrets_are_masked_wherever_they_stand():
    dossier = a_dossier(words="token hunter2", verdict=Verdict(VerdictKind.FLAKY, "hunter2 did it"))
    links = Links(mask=lambda text: text.replace("hunter2", "[secret]"))
    assert "hunter2" not in json.dumps([row_of(dossier, links), part_of(dossier, links, LONGEST)])


def test_control_and_reordering_characters_are_shown_and_not_obeyed():
    told = json.dumps(part(a_hostile_dossier()), ensure_ascii=False)
    assert not set(told) & set("\x00\x1b\u202e\ud800\u2028")
    assert "\\\\u202e" in told


def test_a_long_text_keeps_its_head_and_its_tail():
    text = cut("head" + "x" * 10_000 + "tail", 300)
    assert (text[:4], text[-4:], len(text) < 400) == ("head", "tail", True)
    assert "characters left out" in text


def test_an_issue_says_how_it_stood_when_it_was_last_seen():
    states = {"b0000000001": IssueState(7, labels=("bug", "tpu"), seen_s=1_796_000_000.0)}
    dossier = a_dossier(1, issue=7)
    assert part(dossier, states=states)["issue"] == "open, labels: bug, tpu; as seen on 2026-11-30 00:53 UTC"
    row = row_of(dossier, Links(states=states))
    assert (row["issue"], row["state"]) == (7, "open")


def test_an_issue_that_was_closed_says_as_what():
    states = {"b0000000001": IssueState(7, "closed", "not_planned")}
    assert part(a_dossier(1), states=states)["issue"].startswith("closed as not planned; as seen on")
    assert row_of(a_dossier(1), Links(states=states))["state"] == "closed"


def test_an_issue_that_nobody_looked_at_since_says_so():
    assert "has not looked at it since" in part(a_dossier(1, issue=7))["issue"]
    assert part(a_dossier(1))["issue"] == ""


def test_no_folder_of_the_machine_that_kept_a_report_is_told():
    dossier = a_dossier()
    seen = replace(dossier.history[0], report="/somewhere/private/night.json")
    assert part(replace(dossier, history=(seen,)))["history"][0][1] == "night.json"
    board = board_of([], [a_row(source="C:\\somewhere\\night.json")], Links())
    assert board.runs[0].source == "night.json"


def test_a_repros_traceback_is_tidied():
    assert part(a_dossier(), tidy=lambda text: f"tidy: {text[:9]}")["traceback"] == "tidy: Traceback"
