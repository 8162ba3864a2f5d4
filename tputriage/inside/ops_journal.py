"""The call under way, on disk at any moment: what is left to read where a call takes the whole process with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class Journal:
    """The public call and the aten operator that were begun last, `null` for what has come to its end."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", encoding="ascii")  # noqa: SIM115 -- open until the process ends
        self._calls: dict[str, Any] = {"public": None, "aten": None}

    def begin(self, level: str, call: Mapping[str, Any]) -> None:
        self._calls[level] = {**call, "level": level}
        self._write()

    def end(self, level: str) -> None:
        """Not written: the next call's beginning does that."""
        self._calls[level] = None

    def _write(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        json.dump(self._calls, self._file)
        self._file.flush()  # as far as the kernel, which outlives us
