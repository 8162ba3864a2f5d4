"""The final script: a header that says what is expected, what happens and when, then the code of the draft.

The wording is in templates/repro.py.j2. The header is a docstring, so what goes into it is made harmless first:
no quotes that end it, no backslashes that warn, no lines of its own, nothing that is no text.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from tputriage.console import visible
from tputriage.minimize.draft import Draft
from tputriage.minimize.trees import lines_of
from tputriage.rendering import render
from tputriage.signatures import spoken, unstamped

TEMPLATE = "repro.py.j2"
LONGEST = 320  # characters of a message in the header; the issue has the rest
WIDTH = 88
SCRATCH = re.compile(r"(?:/[\w.-]+)*/tputriage-\w+/(?:[\w.-]+/)?(?=[\w.-])")  # of the run that showed the failure
SHOWN = ("torch", "torch_tpu", "libtpu", "python")


def finish(
    draft: Draft, versions: Mapping[str, str] | None = None, *, device: str = "tpu", templates: Path | None = None
) -> str:
    """The script's whole text; the code is the draft's, unchanged."""
    values = {
        "title": _line(_title(draft, device), ""),
        "expected": _line(draft.expected or "runs to its end, as on CPU", "Expected: "),
        "actual": _line(SCRATCH.sub("", unstamped(draft.actual)) or "fails", "Actual: "),
        "condition": _line(draft.condition, "When: ") if draft.condition else "",
        "versions": _line(_versions(versions or {}), "Versions: "),
        "device": device,
        "code": _without_header(draft.source).strip(),
    }
    return render(TEMPLATE, values, templates)


def _title(draft: Draft, device: str) -> str:
    called = spoken(draft.operator)
    return f"{called} fails on {device}." if called else f"Fails on {device} and passes on CPU."


def _versions(versions: Mapping[str, str]) -> str:
    known = [f"{name} {versions[name]}" for name in SHOWN if name in versions]
    return ", ".join(known) or "not recorded"


def _line(text: str, label: str) -> str:
    """Text that can stand in the docstring, wrapped, the label's width counted in the first line."""
    plain = " ".join(visible(text).replace("\\", "/").replace('"""', "'''").split())
    if len(plain) > LONGEST:
        plain = f"{plain[: LONGEST - 1].rstrip()}…"
    wrapped = textwrap.fill(label + plain, WIDTH, subsequent_indent="    ", break_long_words=False)
    return wrapped.removeprefix(label).rstrip('"')


def _without_header(source: str) -> str:
    tree = ast.parse(source)
    if ast.get_docstring(tree, clean=False) is None:
        return source
    end = tree.body[0].end_lineno or 1
    return "".join(lines_of(source)[end:])
