import pytest

from tests.compare.scripted import bucket_of
from tputriage.compare.suite import CHECKS, deciding_line
from tputriage.model import Frame

TEST = "tests/test_a.py::test_a"
RAISES = Frame("src/diffusers/hooks/group_offloading.py", 674, "apply", "raise ValueError(")


def bucket(message, frame, exception="ValueError"):
    return bucket_of(TEST, message=message, exception=exception, frames=(frame,))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_each_check_matches_its_example(check):
    assert check.pattern.search(check.example)
    assert deciding_line(bucket(check.example, RAISES))


def test_the_line_that_decided_is_named():
    line = deciding_line(bucket("Using streams requires a CUDA device, or an Intel XPU device.", RAISES))
    assert line.startswith("src/diffusers/hooks/group_offloading.py:674: raise ValueError(")


@pytest.mark.parametrize(
    ("message", "frame", "exception"),
    [
        # torch's own words, whatever they name
        ("Could not run 'aten::x' with arguments from the 'CUDA' backend", Frame("a.py", 1, "f", ""), "RuntimeError"),
        # raised inside torch
        (
            "the cuda graph was lost",
            Frame("/venv/lib/python3.11/site-packages/torch/x.py", 1, "f", "raise E"),
            "RuntimeError",
        ),
        # a call into torch, not a statement of the suite
        ("unexpected cuda stream", Frame("src/a.py", 1, "f", "y = x + 1"), "RuntimeError"),
        # a check, but of something else
        ("num_blocks must be given", RAISES, "ValueError"),
        # wrong numbers, in words that name devices
        (
            "GPU and CPU results differ: max diff 0.3",
            Frame("t.py", 1, "f", "assert diff < 1e-3, 'GPU and CPU results differ'"),
            "AssertionError",
        ),
        # results on the wrong device are torch_tpu's doing
        (
            "assert device(type='cpu') == device(type='tpu', index=0)",
            Frame("t.py", 1, "f", "assert a == b"),
            "AssertionError",
        ),
    ],
)
def test_what_is_no_check_of_the_device_is_not_the_suites(message, frame, exception):
    assert deciding_line(bucket(message, frame, exception)) == ""
