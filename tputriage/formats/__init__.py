"""Reading what a pytest run left behind: one file an input format, told apart by content.

A format is a module here with `NAME`, `sniff(head) -> bool` and `read(source, salvage=…) -> Report`; putting
the file here is all there is to adding one. Modules whose names start with `_` are what formats share.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

from tputriage.errors import ReportError
from tputriage.formats._merging import merge_reports
from tputriage.formats._source import Source
from tputriage.formats._split import decode_leniently
from tputriage.model import Report

__all__ = ["Format", "formats", "merge_reports", "read_report"]


class Format(Protocol):
    """What each module of this package is."""

    NAME: str

    def sniff(self, head: bytes) -> bool:
        """Whether a file that starts with `head` (decompressed, 64 KiB at most) is of this format."""

    def read(self, source: Source, *, salvage: bool) -> Report:
        """The report; raises ReportError where the rest of the file is damaged and `salvage` is off."""


def formats() -> Iterator[Format]:
    """Every format, by module name."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            yield cast(Format, importlib.import_module(f"{__name__}.{module.name}"))


def read_report(path: Path, *, salvage: bool = False) -> Report:
    """What the run that wrote `path` said; gzip and zstd are undone.

    Raises ReportError, one sentence with advice, for a file that is missing, empty, damaged or no report.
    With `salvage` a damaged file gives the whole tests before the damage and a note on what was lost.
    """
    with Source(path) as source:
        for form in formats():
            if form.sniff(source.head):
                return form.read(source, salvage=salvage)
        raise ReportError(f"{path} {_what_it_is(source)}")


def _what_it_is(source: Source) -> str:
    start = source.head.lstrip()
    if source.torn:
        return f"cannot be read: {source.torn}"
    if not start.startswith((b"{", b"[", b'"')):
        kind = "XML, but no JUnit report" if start.startswith(b"<") else "neither JSON nor XML"
        return f"is {kind}; a report is written by `pytest --json-report` or `pytest --junitxml=FILE`"
    value = decode_leniently(source.whole())
    if value is None:
        return "is JSON that breaks off or is damaged before its first test; --salvage has nothing to save"
    return f"is {_describe(value)}, not a report; `pytest --json-report` writes one"


def _describe(value: object) -> str:
    if isinstance(value, dict):
        keys = ", ".join(str(key)[:40] for key in list(value)[:4]) or "no keys"
        return f"a JSON object ({keys})"
    return f"a JSON {'array' if isinstance(value, list) else type(value).__name__}"
