"""How many questions it takes to find which changes can be made."""

import math

import pytest

from tputriage.minimize.reducing.adaptive import backwards


class Asked:
    """Changes are kept unless one of them is needed."""

    def __init__(self, needed):
        self.needed, self.kept, self.questions = set(needed), set(), 0

    def __call__(self, places):
        self.questions += 1
        if self.needed & set(places):
            return False
        self.kept.update(places)
        return True


def test_a_thousand_independent_changes_take_a_logarithm_of_questions():
    asked = Asked([])
    assert backwards(1000, asked) == 1000
    assert asked.questions <= 1 + math.ceil(math.log2(1000))


@pytest.mark.parametrize("needed", [0, 1, 499, 500, 511, 512, 998, 999])
def test_one_needed_among_a_thousand_is_found_in_under_sixty(needed):
    asked = Asked([needed])
    assert backwards(1000, asked) == 999
    assert asked.questions < 60


@pytest.mark.parametrize("needed", [[], [0], [4], [9], [0, 9], [3, 4, 5], [1, 3, 5, 7, 9], list(range(10))])
def test_all_that_can_go_goes(needed):
    asked = Asked(needed)
    backwards(10, asked)
    assert asked.kept == set(range(10)) - set(needed)


def test_it_stops_when_it_is_told_to():
    asked = Asked([])
    backwards(1000, asked, go_on=lambda: asked.questions < 2)
    assert asked.questions == 2
