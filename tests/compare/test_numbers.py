import pytest

from tputriage.compare.numbers import Mismatch, read_mismatch

TORCH = """Tensor-likes are not close!

Mismatched elements: 3 / 12 (25.0%)
Greatest absolute difference: 0.5 at index (0, 1) (up to 1e-05 allowed)
Greatest relative difference: inf at index (2, 0) (up to 1.3e-06 allowed)"""
NUMPY = """
Not equal to tolerance rtol=1e-07, atol=0

Mismatched elements: 1 / 3 (33.3%)
Max absolute difference among violations: 1.
Max relative difference among violations: 0.25"""


@pytest.mark.parametrize(
    ("message", "mismatch"),
    [
        (TORCH, Mismatch(25.0, 0.5, float("inf"))),
        (NUMPY, Mismatch(33.3, 1.0, 0.25)),
        ("Scalars are not close!\n\nAbsolute difference: 2e-3 (up to 1e-05 allowed)", Mismatch(None, 0.002, None)),
        ("assert 4.94244384765625 < 0.01\n +  where 4.9 = abs(1)", Mismatch(None, 4.94244384765625, None)),
        ("no numbers here", None),
    ],
)
def test_how_far_off_the_numbers_are_is_read_from_the_message(message, mismatch):
    assert read_mismatch(message) == mismatch


def test_only_what_is_known_is_told():
    assert Mismatch(25.0, 0.5, None).words() == (
        ("mismatched elements", "25%"),
        ("greatest absolute difference", "0.5"),
    )
