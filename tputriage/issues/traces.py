"""A traceback as a maintainer wants it: Python's and C++'s apart, without the runner's own frames and folders. Pure."""

from __future__ import annotations

import re

CPP_TRACE = "C++ error trace"
_START = "Traceback (most recent call last):"
# Where a native library or the interpreter gives up; lines of the start of torch_tpu stand before it.
_GIVES_UP = re.compile(r"^(?:F\d{4} |\*\*\* SIG|Fatal Python error)", re.MULTILINE)
_EXTENSIONS = re.compile(r"^Extension modules: .*\n?", re.MULTILINE)
# Frames of what ran the test: pytest, its plugins' plumbing, and our own worker.
_PLUMBING = re.compile(r"/(?:_pytest|pluggy|tputriage/inside|tputriage_inside)/")
_PACKAGES = re.compile(r"(?<![\w./-])/[^\s\"':]*/(?=(?:site|dist)-packages/)")
_FRAME = re.compile(r'^  File "([^"\n]+)".*\n(?:    .*\n?)*', re.MULTILINE)


def split_traces(text: str) -> tuple[str, str]:
    """(Python's traceback, the C++ trace that torch_tpu adds below it)."""
    python, found, cpp = text.partition(CPP_TRACE)
    return python.strip("\n"), (found + cpp).strip()


def tidy(text: str) -> str:
    """Without what the runner printed before it, its own frames, and the folders above site-packages."""
    text = _EXTENSIONS.sub("", text[_start(text) :])
    text = _FRAME.sub(lambda frame: "" if _PLUMBING.search(frame[1]) else frame[0], text)
    return _PACKAGES.sub("", text)


def _start(text: str) -> int:
    start = text.find(_START)
    given_up = _GIVES_UP.search(text) if start < 0 else None
    return given_up.start() if given_up else max(start, 0)


def last_error(text: str, exception: str) -> str:
    """The line of a traceback that names the exception and its message; "" where there is none."""
    name = exception.rpartition(".")[2]
    lines = [line for line in text.splitlines() if name and re.match(rf"(?:[\w.]+\.)?{re.escape(name)}(?::|$)", line)]
    return lines[-1] if lines else ""
