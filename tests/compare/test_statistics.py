import pytest
from hypothesis import given
from hypothesis import strategies as st

from tputriage.compare.statistics import MOST_REPEATS, repeats_needed, wilson


@pytest.mark.parametrize(
    ("failed", "total", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),  # Wilson's interval as published tables have it
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_the_interval_agrees_with_published_values(failed, total, low, high):
    assert wilson(failed, total) == pytest.approx((low, high), abs=5e-5)


def test_before_the_first_run_nothing_is_known():
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_interval_holds_the_rate_and_lies_within_zero_and_one(counts):
    failed, total = counts
    low, high = wilson(failed, total)
    assert 0.0 <= low <= failed / total <= high <= 1.0


@pytest.mark.parametrize(("rate", "runs"), [(1.0, 1), (0.95, 1), (0.5, 5), (0.1, 29), (0.01, 299), (0.0, MOST_REPEATS)])
def test_repeats_that_a_flake_needs_follow_from_its_rate(rate, runs):
    assert repeats_needed(rate) == runs


@given(st.floats(0.01, 0.999), st.floats(0.5, 0.99))
def test_one_run_less_would_not_give_the_confidence(rate, confidence):
    runs = repeats_needed(rate, confidence)
    assert 1 - (1 - rate) ** runs >= confidence - 1e-6
    assert runs == 1 or 1 - (1 - rate) ** (runs - 1) < confidence + 1e-6


def test_a_confidence_that_is_no_probability_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        repeats_needed(0.5, 1.0)
