"""How often a flaky failure is asked about."""

import pytest

from tputriage.minimize.flakes import asks_for, asks_needed
from tputriage.model import Verdict, VerdictKind


@pytest.mark.parametrize(("failed", "of", "asks"), [(5, 5, 1), (1, 2, 5), (1, 10, 29)])
def test_repeats_follow_from_the_rate(failed, of, asks):
    assert asks_needed(failed, of) == asks


@pytest.mark.parametrize(("failed", "total", "asks"), [(0, 0, 1), (4, 4, 1), (2, 4, 5), (1, 60, 20)])
def test_a_flake_is_asked_for_as_often_as_its_verdict_says(failed, total, asks):
    assert asks_for(Verdict(VerdictKind.FLAKY, "", failed=failed, total=total)) == asks


def test_without_a_verdict_one_question_is_enough():
    assert asks_for(None) == 1
