import pytest

from tests.compare.scripted import bucket_of
from tests.helpers import a_failure
from tputriage.compare.knobs import CPP_TRACE, KNOBS, questions, read
from tputriage.model import Outcome, Run

TEST = "tests/test_a.py::test_a"


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.name)
def test_each_knob_is_named_once_and_says_what_it_means(knob):
    assert sum(other.name == knob.name for other in KNOBS) == 1
    assert knob.env
    assert knob.meaning.startswith(("it ", "the "))


def test_the_trace_that_maintainers_ask_for_comes_last():
    assert questions(TEST, 5.0)[-1].knobs == CPP_TRACE


def test_a_masked_test_keeps_launch_blocking_under_every_knob():
    assert all("TORCH_TPU_LAUNCH_BLOCKING" in question.knobs for question in questions(TEST, 5.0, masked=True))


def test_a_failure_of_another_kind_is_told_as_such():
    bucket = bucket_of(TEST)
    runs = [Run(TEST, "tpu", Outcome.FAILED, a_failure(exception="ValueError", message="bad"))] * len(KNOBS)
    outcomes, note = read(bucket.signature, runs)
    assert set(outcomes.values()) == {"failed: ValueError: bad"}
    assert note == ""
