"""How many questions it takes to find which changes can be made."""

import math

import pytest

from tputriage.minimize.reducing.adaptive import AtOnce, Backwards, InTurn


class Asked:
    """Changes are kept unless one of them is needed."""

    def __init__(self, needed):
        self.needed, self.kept, self.asked = set(needed), set(), []

    def __call__(self, places):
        self.asked.append(tuple(places))
        if self.needed & set(places):
            return False
        self.kept.update(places)
        return True

    @property
    def questions(self):
        return len(self.asked)


def go(search, works):
    while search.question is not None:
        search = search.after(works(search.question))


def test_a_thousand_independent_changes_take_a_logarithm_of_questions():
    asked = Asked([])
    go(Backwards(1000), asked)
    assert len(asked.kept) == 1000
    assert asked.questions <= 1 + math.ceil(math.log2(1000))


@pytest.mark.parametrize("needed", [0, 1, 499, 500, 511, 512, 998, 999])
def test_one_needed_among_a_thousand_is_found_in_under_sixty(needed):
    asked = Asked([needed])
    go(Backwards(1000), asked)
    assert len(asked.kept) == 999
    assert asked.questions < 60


@pytest.mark.parametrize("needed", [[], [0], [4], [9], [0, 9], [3, 4, 5], [1, 3, 5, 7, 9], list(range(10))])
def test_all_that_can_go_goes(needed):
    asked = Asked(needed)
    go(Backwards(10), asked)
    assert asked.kept == set(range(10)) - set(needed)


def test_a_run_grows_while_it_works_and_is_halved_where_it_does_not():
    asked = Asked([2])
    go(Backwards(10), asked)
    assert asked.asked == [(9,), (7, 8), (3, 4, 5, 6), (0, 1, 2), (2,), (1,), (0,)]


def test_the_questions_that_follow_are_told_without_asking():
    moment = Backwards(10).after(True).after(True)
    assert (moment.question, moment.after(False).question) == (range(3, 7), range(5, 7))
    assert moment.question == range(3, 7)


@pytest.mark.parametrize(("needed", "asked_of"), [([], [(0, 1, 2)]), ([0], [(0, 1, 2), (2,), (0, 1), (1,)])])
def test_all_at_once_comes_before_the_parts(needed, asked_of):
    asked = Asked(needed)
    go(AtOnce(3), asked)
    assert asked.asked[: len(asked_of)] == asked_of


def test_of_changes_that_exclude_each_other_the_first_that_works_is_the_last_asked():
    asked = Asked([0, 1])
    go(InTurn(9), asked)
    assert asked.asked == [(0,), (1,), (2,)]
