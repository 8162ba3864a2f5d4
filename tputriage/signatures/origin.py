"""Where a failure comes from: the frame that counts, the asserted expression, the operator, the C++ origin.

The innermost frame is seldom the one that counts. Helpers that compare (`assert_close` of torch, numpy or
the suite) fail wherever they are called from; module plumbing of torch says nothing. So the frame that
counts for an assertion is the innermost one outside helpers, and for an error of the device the innermost
one outside torch.
"""

from __future__ import annotations

import re

from tputriage.model import Failure, Frame

_HELPER_PATH = re.compile(
    r"(?:^|/)(?:torch/testing/|torch/autograd/gradcheck\.py|numpy/testing/|numpy/_utils|unittest/|_pytest/|pluggy/|contextlib\.py|"
    r"torch/utils/_contextlib\.py|torch/_dynamo/eval_frame\.py|importlib/)"
)
_HELPER_NAME = re.compile(
    r"\A_*(?:assert|gradcheck|gradgradcheck|check|compare|verify|ensure|expect|fail\b|same\b|inner$|wrapper$|wrapped$|_fn$)",
    re.I,
)
_TORCH_PATH = re.compile(r"(?:^|/)(?:torch|torch_tpu|functorch)/(?!testing)")
_MEASURED = re.compile(r"(?<![\w.])-?\d*\.\d{4,}(?:e-?\d+)?(?!\w)")
_COMPARES = re.compile(r"\bassert|[<>]|allclose|isclose|approx", re.I)
_TOLERANT = re.compile(r"allclose|isclose|assert_close|almost_?equal|\bapprox\(", re.I)
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.])", re.I)
_SPACE = re.compile(r"\s+")
# A literal that stands in every match, and the pattern: most messages cost five substring searches.
_OPERATORS = (
    ("perator '", re.compile(r"[Oo]perator '(?:aten::)?([\w:]+)(?:\.\w+)?' is not")),
    ("ould not run '", re.compile(r"[Cc]ould not run '([\w:]+)(?:\.\w+)?'")),
    ("target: aten.", re.compile(r"\btarget: (aten\.\w+)")),
    ("call_function <", re.compile(r"call_function <built-in (?:method|function) (\w+)")),
    ("(): ", re.compile(r"\A(\w+)\(\): ")),
)
_CPP = re.compile(r"^\s*([\w./+-]+\.(?:cc|cpp|h)):\d+: ([\w:~<>]+)\(", re.M)
LONGEST_EXPRESSION = 200


def operator_named(message: str) -> str:
    """The operator a message names, without overload: `aten::mish`, `view`, or ""."""
    for needle, pattern in _OPERATORS:
        found = pattern.search(message) if needle in message else None
        if found:
            name = found[1].replace("aten.", "aten::")
            return f"aten::{name}" if needle == "perator '" and "::" not in name else name
    return ""


def plain_operator(name: str) -> str:
    """One spelling of an operator that a later step found: `aten.mish.out` and `aten::mish.default` are one."""
    for prefix in ("torch.ops.aten.", "aten.", "aten::"):
        if name.startswith(prefix):
            return "aten::" + name[len(prefix) :].split(".", 1)[0]
    return name


def place_of(failure: Failure) -> str:
    """`file:function` of the frame that counts for an assertion; the test's own where there are no frames."""
    frame = _outside_helpers(failure.frames)
    if frame is None or _is_the_test(frame, failure.test_id):
        return test_of(failure.test_id)
    return _named(frame)


def device_place_of(failure: Failure) -> str:
    """`file:function` of the innermost frame outside torch, which chose the operator that failed."""
    for frame in reversed(failure.frames):
        if frame.function and not _TORCH_PATH.search(frame.path) and not _HELPER_PATH.search(frame.path):
            return _named(frame)
    return test_of(failure.test_id)


def expression_of(failure: Failure) -> str:
    """The asserted expression with its numbers masked, or ""."""
    return _masked(_asserted(failure))


def fails_where_asserted(failure: Failure) -> bool:
    """Whether the statement that counts is the one that failed, and no helper's message is needed."""
    frame = _outside_helpers(failure.frames)
    return frame is not None and frame is failure.frames[-1] and "assert" in frame.text


def is_recorded(failure: Failure) -> bool:
    """Whether what failed is a comparison with a number of four or more decimals written down in the test."""
    text = _asserted(failure)
    return bool(_MEASURED.search(text) and _COMPARES.search(text))


def test_of(test_id: str) -> str:
    """`file:Class.function` of a node id; parameters are left out, since variants of one test fail alike."""
    path, _, rest = test_id.split("[", 1)[0].partition("::")
    return f"{_short(path)}:{rest.replace('::', '.')}"


def compares_values(failure: Failure) -> bool:
    """Whether the statement that counts compares values with a tolerance, whatever the message says."""
    return bool(_TOLERANT.search(_asserted(failure)))


def cpp_origin(text: str) -> str:
    """`file.cc:function` of the first line of a C++ error trace: the second key, "" where there is none."""
    _, found, trace = text.partition("C++ error trace (starting from the origin):")
    line = _CPP.search(trace) if found else None
    return f"{line[1].rpartition('/')[2]}:{line[2]}" if line else ""


def raised_in(failure: Failure) -> str:
    """The path of the innermost frame, or ""."""
    return failure.frames[-1].path if failure.frames else ""


def _asserted(failure: Failure) -> str:
    frame = _outside_helpers(failure.frames)
    return frame.text if frame else ""


def _masked(text: str) -> str:
    return _SPACE.sub(" ", _NUMBER.sub("N", text)).strip()[:LONGEST_EXPRESSION]


def _outside_helpers(frames: tuple[Frame, ...]) -> Frame | None:
    for frame in reversed(frames):
        if frame.function and not _HELPER_PATH.search(frame.path) and not _HELPER_NAME.match(frame.function):
            return frame
    return None


def _is_the_test(frame: Frame, test_id: str) -> bool:
    """Whether the test is defined where it runs: of a mixin's test, the class that inherits it says nothing."""
    path, _, rest = test_id.split("[", 1)[0].partition("::")
    return frame.function == rest.rpartition("::")[2] and _short(frame.path) == _short(path)


def _named(frame: Frame) -> str:
    return f"{_short(frame.path)}:{frame.function}"


def _short(path: str) -> str:
    """The last two parts: enough to tell modules apart, the same on every machine."""
    return "/".join(path.replace("\\", "/").split("/")[-2:])
