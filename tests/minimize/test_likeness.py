"""By what a failure of a smaller script is known to be the one that is shrunk."""

import pytest

from tputriage.minimize.likeness import Likeness
from tputriage.model import Failure, Outcome, Phase
from tputriage.signatures import sign


def failed(message, exception="AssertionError", test_id="repro.py"):
    """In another file, so that no place is shared."""
    return Failure(test_id, Phase.CALL, Outcome.FAILED, exception, message)


def died(message, signal=None):
    return Failure("t.py::t", Phase.CRASH, Outcome.CRASH, message=message, signal=signal)


def test_before_anything_was_shown_the_signature_alone_decides():
    likeness = Likeness(sign(died("ended by signal 11", 11)))
    assert likeness.holds(died("ended by signal 6", 6))


@pytest.mark.parametrize(
    ("first", "other", "holds"),
    [
        (failed("the draws of seed 3 differ", test_id="t.py::t"), failed("the draws of seed 1 differ"), True),
        (failed("the draws of seed 3 differ", test_id="t.py::t"), failed("the sums of seed 3 differ"), False),
        (
            failed("the draws of seed 3 differ", test_id="t.py::t"),
            failed("the draws of seed 3 differ", "ValueError"),
            False,
        ),
        (failed("a 1", test_id="t.py::t"), failed("b 1"), False),  # too few words
        (died("ended by signal 11", 11), died("ended by signal 11", 11), True),
        (died("ended by signal 11", 11), died("ended by signal 6", 6), False),
        (died("it left with exit code 3"), died("it left with exit code 4"), False),
    ],
)
def test_what_was_shown_first_decides_then(first, other, holds):
    assert Likeness(sign(first)).shown(first).holds(other) is holds


def test_only_the_first_one_shown_counts():
    first, second = died("ended by signal 11", 11), died("ended by signal 6", 6)
    assert not Likeness(sign(first)).shown(first).shown(second).holds(second)
