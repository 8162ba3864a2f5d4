"""JSON lines over a file descriptor, read and written without ever blocking the loop that does both."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

CHUNK = 1 << 16


class LineReader:
    """Whole lines out of a stream of bytes."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.closed = False
        self._rest = b""

    def read(self) -> list[dict[str, Any]]:
        """What has arrived, decoded; sets `closed` at the end of the stream."""
        data = os.read(self.fd, CHUNK)
        self.closed = not data
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def read_one(self) -> dict[str, Any] | None:
        """The next message, waiting for it; None at the end of the stream. For the start, before any loop."""
        found = b""
        while not found.endswith(b"\n"):
            byte = os.read(self.fd, 1)
            if not byte:
                return None
            found += byte
        message: dict[str, Any] = json.loads(found)
        return message


class LineWriter:
    """Lines that leave when the other side takes them."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._waiting = b""
        os.set_blocking(fd, False)

    @property
    def pending(self) -> bool:
        return bool(self._waiting)

    def put(self, message: Mapping[str, Any]) -> None:
        self._waiting += encode(message)
        self.flush()

    def flush(self) -> None:
        """Writes what fits now; raises BrokenPipeError where nobody reads any more."""
        try:
            while self._waiting:
                self._waiting = self._waiting[os.write(self.fd, self._waiting) :]
        except BlockingIOError:
            return


def encode(message: Mapping[str, Any]) -> bytes:
    """One line; what JSON does not know becomes its text, lone surrogates their escapes."""
    return json.dumps(message, default=_as_text).encode("ascii") + b"\n"


def _as_text(value: object) -> str:
    return f"<{type(value).__module__}.{type(value).__qualname__}>"
