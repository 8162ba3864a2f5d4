import pytest

from tests.helpers import a_failure
from tputriage.compare.machine import STOPS, Watch, why_to_stop
from tputriage.errors import TargetError
from tputriage.model import Outcome, Run
from tputriage.signatures.families import BY_NAME

TEST = "tests/test_a.py::test_a"
HELD = "ABORTED: The TPU is already in use by process with pid 4711. Not attempting to load libtpu.so"


def failed(message, target="tpu"):
    return Run(TEST, target, Outcome.FAILED, a_failure(message=message))


@pytest.mark.parametrize("name", STOPS)
def test_each_stop_says_what_to_do_about_its_example(name):
    exception, _, message = BY_NAME[name].example.partition(": ")
    run = Run(TEST, "tpu", Outcome.FAILED, a_failure(exception=exception, message=message))
    assert why_to_stop(run).endswith(STOPS[name])


def test_a_target_that_never_served_is_given_up_at_once():
    with pytest.raises(TargetError, match=r"tpu cannot be used: .*4711.*run the same command again"):
        Watch().look(failed(HELD))


def test_one_test_that_holds_the_chip_itself_stops_nobody():
    watch = Watch()
    for run in (failed("boom"), failed(HELD), failed(HELD), failed("boom"), failed(HELD)):
        watch.look(run)


def test_a_target_that_is_gone_for_good_is_given_up():
    watch = Watch()
    for run in (failed("boom"), failed(HELD), failed(HELD)):
        watch.look(run)
    with pytest.raises(TargetError):
        watch.look(failed(HELD))


def test_targets_are_watched_apart():
    watch = Watch()
    watch.look(failed("boom", "cpu"))
    with pytest.raises(TargetError):
        watch.look(failed(HELD, "tpu"))
