import pytest

from tests.compare.scripted import bucket_of
from tests.helpers import a_failure
from tputriage.compare.knobs import CPP_TRACE, KNOBS, knobs_for, questions, read
from tputriage.model import Outcome, Run

TEST = "tests/test_a.py::test_a"
REFUSED = bucket_of(TEST, message="view(): cannot create a view of shape [2]").signature


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.name)
def test_each_knob_is_named_once_and_says_what_it_means(knob):
    assert sum(other.name == knob.name for other in KNOBS) == 1
    assert knob.env
    assert knob.meaning.startswith(("it ", "the "))
    assert "TPUTRIAGE" not in knob.how  # a maintainer has no worker of ours to read it


def test_the_trace_that_maintainers_ask_for_comes_last():
    assert questions(REFUSED, TEST, 5.0)[-1].knobs == CPP_TRACE


def test_a_masked_test_keeps_launch_blocking_under_every_knob():
    assert all("TORCH_TPU_LAUNCH_BLOCKING" in question.knobs for question in questions(REFUSED, TEST, 5.0, masked=True))


def test_a_failure_of_another_kind_is_told_as_such():
    runs = [Run(TEST, "tpu", Outcome.FAILED, a_failure(exception="ValueError", message="bad"))] * len(KNOBS)
    outcomes, note = read(REFUSED, runs)
    assert set(outcomes.values()) == {"failed: ValueError: bad"}
    assert note == ""


def test_what_no_setting_can_change_is_not_asked_for():
    wrong = bucket_of(TEST, message="Tensor-likes are not close!", exception="AssertionError").signature
    assert [knob.name for knob in knobs_for(bucket_of(TEST).signature)] == ["cpu-fallback"]
    assert "matmul-highest" not in {knob.name for knob in knobs_for(REFUSED)}
    assert knobs_for(wrong) == KNOBS


def test_the_outcomes_stand_beside_the_knobs_that_were_asked():
    signature = bucket_of(TEST).signature
    outcomes, note = read(signature, [Run(TEST, "tpu", Outcome.PASSED), Run(TEST, "tpu", Outcome.FAILED)])
    assert outcomes == {"cpu-fallback": "passes"}
    assert note == "it passes with cpu-fallback (it is an operator without a TPU kernel)"
