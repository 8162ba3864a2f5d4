"""A report's bytes: opened, decompressed and hashed as they are read, in blocks of bounded size.

Reports reach a gigabyte and come from machines that are not ours, so nothing here holds a whole file, and
what the operating system or a decompressor refuses becomes one sentence.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import os
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, cast

from tputriage.errors import ReportError

BLOCK_BYTES = 4 << 20
HEAD_BYTES = 64 << 10
WHOLE_BYTES = 256 << 20  # what a format that must hold its whole file (XML, one JSON value) may weigh
_BOM = b"\xef\xbb\xbf"


class Source:
    """The decompressed bytes of one file, readable once; `digest` is theirs, so X and X.gz are the same."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.torn = ""  # why the bytes end early, where they do
        self._hash = hashlib.sha256()
        # Hashing leaves the interpreter lock, so it runs beside decoding; one block ahead at most.
        self._hasher = ThreadPoolExecutor(1)
        self._hashed: Future[None] | None = None
        self._plain, magic = _open(path)
        self._file = _unpacked(path, self._plain, magic)
        first = self._read(HEAD_BYTES)
        if not first and not self.torn:
            self.close()
            raise ReportError(f"{path} is empty: the run that wrote it ended early, or writes elsewhere")
        self._first = first
        self.head = first.removeprefix(_BOM)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._hasher.shutdown()
        self._file.close()
        self._plain.close()

    @property
    def digest(self) -> str:
        """sha256 of the decompressed bytes; reads what is left of them."""
        for _ in self.blocks():
            pass
        self._update(b"")
        return self._hash.hexdigest()

    def blocks(self) -> Iterator[bytes]:
        """The rest of the bytes, at most BLOCK_BYTES at a time, without a byte order mark."""
        if self._first:
            self._first = b""
            yield self.head
        while block := self._read(BLOCK_BYTES):
            yield block

    def whole(self) -> bytes:
        """All bytes; raises ReportError above WHOLE_BYTES."""
        parts, size = [], 0
        for block in self.blocks():
            size += len(block)
            if size > WHOLE_BYTES:
                raise ReportError(f"{self.name} is larger than {WHOLE_BYTES >> 20} MB, too large for its format")
            parts.append(block)
        return b"".join(parts)

    def lines(self) -> Iterator[bytes]:
        """The bytes line by line; a line above WHOLE_BYTES raises ReportError."""
        rest = b""
        for block in self.blocks():
            if len(rest) > WHOLE_BYTES:
                raise ReportError(f"{self.name} has a line of more than {WHOLE_BYTES >> 20} MB")
            head, newline, tail = block.rpartition(b"\n")
            if newline:
                yield from (rest + head).split(b"\n")
                rest = tail
            else:
                rest += block
        if rest:
            yield rest

    def _read(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except _TORN as exc:
            self.torn = f"its compressed data is damaged ({exc})"
            data = b""
        except OSError as exc:
            raise ReportError(f"{self.name} cannot be read: {exc.strerror or exc}") from exc
        if data:
            self._update(data)
        return data

    def _update(self, data: bytes) -> None:
        if self._hashed is not None:
            self._hashed.result()
        self._hashed = self._hasher.submit(self._hash.update, data) if data else None


def _open(path: Path) -> tuple[IO[bytes], bytes]:
    """The file and its first bytes, which are still to be read."""
    try:
        plain = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 - closed by Source
        magic = plain.peek(4)[:4]
    except IsADirectoryError as exc:
        raise ReportError(f"{path} is a directory; name the report files in it, such as {path}/*.json") from exc
    except FileNotFoundError as exc:
        raise ReportError(
            f"there is no file {path}; a run that crashed writes no JSON report, but its journal has the tests: "
            "collect that alone (`pytest -p tputriage.journal` writes one)"
        ) from exc
    except (OSError, ValueError) as exc:
        raise ReportError(f"{path} cannot be read: {getattr(exc, 'strerror', None) or exc}") from exc
    return plain, magic


def _unpacked(path: Path, plain: IO[bytes], magic: bytes) -> IO[bytes]:
    if magic[:2] == b"\x1f\x8b":
        return cast(IO[bytes], gzip.open(plain, "rb"))
    if magic == b"\x28\xb5\x2f\xfd":
        return _open_zstd(path, plain)
    return plain


def _without_waiting(path: str, flags: int) -> int:
    """A pipe may be read (`collect <(ssh host cat report.json)`); one that nobody writes is empty, not waited for."""
    if not hasattr(os, "O_NONBLOCK"):
        return os.open(path, flags)
    number = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(number, True)
    return number


def _open_zstd(path: Path, plain: IO[bytes]) -> IO[bytes]:
    zstandard = _zstandard()
    if zstandard is None:
        plain.close()
        raise ReportError(f"{path} is compressed with zstd; `pip install tputriage[formats]` reads it")
    stream: IO[bytes] = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(plain, closefd=True)
    return stream


def _zstandard() -> Any | None:
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        return None


def _torn_errors() -> tuple[type[Exception], ...]:
    """What decompressors raise for data that breaks off or is damaged."""
    zstandard = _zstandard()
    more: tuple[type[Exception], ...] = () if zstandard is None else (zstandard.ZstdError,)
    return (EOFError, zlib.error, gzip.BadGzipFile, *more)


_TORN = _torn_errors()
