"""Which words of a test say that it needs several chips: the table walks itself."""

import pytest

from tputriage.targets.seam import Answer, Ended, Job
from tputriage.targets.several import SAYS, is_named, needs_several


def skipped(reason, **changes):
    value = {"outcome": "skipped", "reason": reason, "failures": [], **changes}
    return Answer(Job("test", {"test_id": "test_a.py::test_it"}), Ended.DONE, value, 0.1)


@pytest.mark.parametrize("say", SAYS, ids=lambda say: say.example)
def test_each_row_matches_its_example_and_no_row_its_counterexample(say):
    assert say.pattern.search(say.example)
    assert needs_several(skipped(say.example))
    assert not needs_several(skipped(say.counterexample))


def test_a_failure_that_names_a_device_that_is_not_there_says_so_too():
    assert needs_several(skipped("", outcome="failed", failures=[{"message": "invalid device ordinal"}]))


def test_a_test_that_passed_needs_nothing_more():
    assert not needs_several(skipped("test requires multiple accelerators", outcome="passed"))


def test_a_test_is_named_by_its_id_or_a_pattern_and_brackets_are_no_pattern():
    assert is_named("a.py::test_x[tpu-2]", ["a.py::test_x[tpu-2]"])
    assert is_named("a.py::test_x[tpu-2]", ["*::test_x[*"])
    assert not is_named("a.py::test_xt", ["a.py::test_x[tpu-2]"])
