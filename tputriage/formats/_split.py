"""A JSON object too large to hold, taken apart at its top level while it is read.

A full decode of a 1 GB report needs several. Here the top-level keys are walked one after another; the
elements of a large array are cut into batches at a border that cannot occur inside a JSON string (an
unescaped quote ends one), each decoded by msgspec in one call. Where a batch does not decode (NaN, a lone
surrogate, a border one level deeper), its elements are found by counting brackets and decoded one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import msgspec

from tputriage.errors import ReportError
from tputriage.formats._source import BLOCK_BYTES, WHOLE_BYTES, Source

_T = TypeVar("_T")

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.S)
_SCALAR = re.compile(rb"[^\s,\[\]{}\"]++(?=[\s,\]}])")
# Everything up to the next bracket outside a string, possessive so that long values need no stack.
_BRACKET = re.compile(rb'(?>[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+([\[\]{}])', re.S)
_BEFORE_BORDER = re.compile(rb"\}[ \t\r\n]*,[ \t\r\n]*\{[ \t\r\n]*\Z")
_MARK = b'"nodeid"'


class DamagedError(Exception):
    """The bytes end, or stop being JSON, in the middle of something; the text says where."""


class Walker:
    """Reads one JSON object from a source, key by key.

    For each key it yields the caller takes the value (`take`), walks its elements (`elements`,
    `batches`) or does nothing, which skips it. Raises DamagedError where the bytes stop being JSON.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._blocks = source.blocks()
        self._buffer = b""
        self._at = 0
        self._passed = 0  # bytes dropped from the front of the buffer
        self._pending = False  # a key's value has not been consumed yet

    def __iter__(self) -> Iterator[str]:
        self._expect(b"{")
        while self._peek() != b"}":
            key = decode_leniently(self._string())
            self._expect(b":")
            self._pending = True
            yield str(key)
            if self._pending:
                self._consume(keep=False)
            if self._peek() == b",":
                self._at += 1

    def peek(self) -> bytes:
        """The first byte of the value that is next."""
        return self._peek()

    def take(self) -> bytes:
        """The value's bytes; raises ReportError where one value is larger than WHOLE_BYTES."""
        return self._consume(keep=True)

    def elements(self) -> Iterator[bytes]:
        """The elements of an array, one at a time; nothing where the value is no array."""
        if not self._enter_array():
            return
        while self._peek() != b"]":
            yield self._consume(keep=True)
            self._comma()
        self._at += 1

    def batches(self, decoder: Batch[_T]) -> Iterator[_T | Any]:
        """The elements decoded, those that `decoder` refuses by `decode_leniently`."""
        if not self._enter_array():
            return
        while self._peek() != b"]":
            border = self._border()
            whole = decoder.decode(memoryview(self._buffer)[self._at : border]) if border > self._at else None
            if whole is not None:
                yield from whole
                self._at = border
                self._comma()
            else:
                yield from self._one_by_one(self._passed + border)
        self._at += 1

    def _one_by_one(self, until: int) -> Iterator[Any]:
        """At least one element, and all that start before the absolute position `until`."""
        while True:
            yield decode_leniently(self._consume(keep=True))
            self._comma()
            if self._peek() == b"]" or self._passed + self._at >= until:
                return

    def _enter_array(self) -> bool:
        if self._peek() != b"[":
            return False
        self._pending = False
        self._at += 1
        return True

    def _border(self) -> int:
        """Position of the comma before the last element in the buffer that another follows, or `_at`."""
        while len(self._buffer) - self._at < BLOCK_BYTES and self._more():
            pass
        mark = len(self._buffer)
        while (mark := self._buffer.rfind(_MARK, self._at, mark)) > self._at:
            window = self._buffer[max(self._at, mark - 256) : mark]
            found = _BEFORE_BORDER.search(window)
            if found:
                return mark - len(window) + window.index(b",", found.start())
        return self._at

    def _comma(self) -> None:
        if self._peek() == b",":
            self._at += 1
        elif self._peek() != b"]":
            raise DamagedError(f"an array goes on without a comma at byte {self._passed + self._at}")

    def _consume(self, keep: bool) -> bytes:
        self._pending = False
        first = self._peek()
        if first in (b"{", b"["):
            return self._container(keep)
        return self._string() if first == b'"' else self._match(_SCALAR)

    def _container(self, keep: bool) -> bytes:
        depth, scan = 0, self._at
        while True:
            found = _BRACKET.match(self._buffer, scan)
            if found is None:
                if not keep:
                    self._at = scan
                scan -= self._passed_by(self._grow)
                continue
            scan = found.end()
            depth += 1 if found[1] in b"{[" else -1
            if depth == 0:
                value = self._buffer[self._at : scan] if keep else b""
                self._at = scan
                return value

    def _string(self) -> bytes:
        if self._peek() != b'"':
            raise DamagedError(f"a key is not a string at byte {self._passed + self._at}")
        return self._match(_STRING)

    def _match(self, pattern: re.Pattern[bytes]) -> bytes:
        while (found := pattern.match(self._buffer, self._at)) is None:
            if pattern is _SCALAR and self._buffer[self._at : self._at + 1] in (b",", b"]", b"}", b":"):
                raise DamagedError(f"a value is missing at byte {self._passed + self._at}")
            self._grow()
        self._at = found.end()
        return found[0]

    def _expect(self, byte: bytes) -> None:
        if self._peek() != byte:
            raise DamagedError(f"{byte.decode()} is missing at byte {self._passed + self._at}")
        self._at += 1

    def _peek(self) -> bytes:
        while True:
            found = _SPACE.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            self._grow()

    def _passed_by(self, step: Any) -> int:
        before = self._passed
        step()
        return self._passed - before

    def _grow(self) -> None:
        """More bytes at the end, at least as many again as are held, so that growing stays linear."""
        wanted = 2 * (len(self._buffer) - self._at)
        if wanted > 2 * WHOLE_BYTES:
            raise ReportError(f"{self._source.name} holds one value of more than {WHOLE_BYTES >> 20} MB")
        if not self._more():
            raise DamagedError(f"it ends at byte {self._passed + len(self._buffer)} in the middle of a value")
        while len(self._buffer) - self._at < wanted and self._more():
            pass

    def _more(self) -> bool:
        block = next(self._blocks, b"")
        if block:
            self._buffer = self._buffer[self._at :] + block
            self._passed += self._at
            self._at = 0
        return bool(block)


class Batch(Generic[_T]):
    """Decodes `element, element, …` strictly into a list of one msgspec type, or says None."""

    def __init__(self, element: type[_T]) -> None:
        self._decoder: Any = msgspec.json.Decoder(list[element])  # type: ignore[valid-type]

    def decode(self, elements: bytes | memoryview) -> list[_T] | None:
        try:
            decoded: list[_T] = self._decoder.decode(b"".join((b"[", elements, b"]")))
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return None
        return decoded


def decode_leniently(raw: bytes) -> Any:
    """A JSON value with what pytest-json-report really writes: NaN, Infinity, lone surrogates, control
    characters, bytes that are no UTF-8. None where it is no JSON even so."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    try:
        return well_formed(json.loads(raw.decode("utf-8", "backslashreplace"), strict=False))
    except (ValueError, RecursionError):
        return None


def well_formed(value: Any) -> Any:
    """The same value with lone surrogates written out (`\\udce9`), so that any sink can encode it."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [well_formed(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): well_formed(item) for key, item in value.items()}
    return value
