"""A difference between two random streams is no bug."""

import pytest

from tests.minimize.helpers import a_value
from tputriage.minimize.departures import RANDOM
from tputriage.minimize.randomness import asks_chance, fails_by_chance
from tputriage.targets.seam import Answer, Ended, Target


class Drawing:
    """A device on which a test fails unless it draws on CPU; or, where `always`, then too."""

    target = Target("tpu", "tpu", "python")

    def __init__(self, always):
        self.always = always

    def ask(self, jobs):
        for job in jobs:
            fails = self.always or "TPUTRIAGE_CPU_RANDOM" not in job.env
            yield Answer(
                job, Ended.DONE, a_value({"exception": "AssertionError", "message": "1 != 2"} if fails else None), 0.1
            )


@pytest.mark.parametrize("always", [True, False])
def test_a_test_that_passes_with_numbers_of_the_cpu_fails_by_chance(always):
    assert fails_by_chance("test_x.py::test_x", Drawing(always), 60.0) is not always


def test_only_where_all_else_agrees_is_a_run_spent_on_it():
    assert asks_chance(f"torch.randn {RANDOM}")
    assert not asks_chance("none of the 3 calls compared departs from CPU")
