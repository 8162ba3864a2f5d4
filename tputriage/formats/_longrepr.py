"""What pytest prints for a failure, read back: exception, message, frames, chained causes.

All traceback styles of pytest 8 and 9 (long, short, line, native, no), with and without xdist's first line.
Where the report also holds `crash` and `traceback`, those are believed and the text only fills the gaps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tputriage.model import Frame

_WORKER_LINE = re.compile(r"\A\[gw\d+\] [^\n]*\n?")
# A type name in front of a message: dotted words, a colon; never the `assert …` of rewritten assertions.
_TYPE = re.compile(r"\A((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*):(?: |\n|\Z)")
_BARE_TYPE = re.compile(r"\A((?:[A-Za-z_]\w*\.)*[A-Z]\w*)\Z")
_CHAIN = re.compile(
    r"^(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):?$",
    re.M,
)
_SEPARATOR = re.compile(r"^(?:_ ){20,}_? ?$", re.M)
_PLACE = re.compile(r"^(?P<path>[^\s:>][^\n:]*):(?P<line>\d+): ?(?:in (?P<function>\S+)|(?P<type>[\w.]*))$", re.M)
_NATIVE = re.compile(
    r'^[ |]*File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>[^\n]+))?(?:\n {2,}(?P<text>\S[^\n]*))?',
    re.M,
)
_DEF = re.compile(r"^[> ] *(?:async )?def (\w+)", re.M)
_ERROR_LINE = re.compile(r"^E {1,}(.*)$", re.M)
_STATEMENT = re.compile(r"^>(.*\n(?:(?!E |>|\n)[ \t].*\n)*)", re.M)
_LINE_STYLE = re.compile(r"\A[^\s:][^\n:]*:\d+: ")
_SUB_EXCEPTION = re.compile(r"^ *\| ((?:\w+\.)*[A-Z]\w+: [^\n]+)$", re.M)
_RULE = "\n_ _ _ _ _ _ _ _ _ _ "
LONGEST_STATEMENT = 300


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of a report's own `traceback`: `message` is "in f", the exception's type, or ""."""

    path: str
    line: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """What a longrepr tells."""

    exception: str
    message: str
    frames: tuple[Frame, ...]
    causes: tuple[str, ...]


def without_worker(text: str) -> str:
    """xdist puts `[gwN] linux -- Python …` first in every longrepr, those of passed tests too."""
    return _WORKER_LINE.sub("", text, count=1) if text.startswith("[gw") else text


def split_type(text: str) -> tuple[str, str]:
    """("RuntimeError", "boom") of "RuntimeError: boom"; ("", text) where no type stands in front."""
    found = _TYPE.match(text)
    if found:
        return found[1], text[found.end() :]
    bare = _BARE_TYPE.match(text.strip())
    if bare:
        return bare[1], ""
    return ("AssertionError" if text.startswith("assert ") else "", text)


def read_longrepr(text: str, *, crash: str = "", places: Sequence[Place] = (), test: str = "") -> Story:
    """`text` without its worker line; `crash` is the report's own "Type: message", where it has one."""
    segments = _CHAIN.split(text) if "xception" in text else [text]
    last = segments[-1]
    exception, message = split_type(crash or _said(last))
    if not exception and places:
        exception = places[-1].message if _BARE_TYPE.match(places[-1].message) else ""
    causes = tuple(cause for cause in map(_said, reversed(segments[:-1])) if cause)
    if exception.endswith("ExceptionGroup"):
        causes += tuple(_SUB_EXCEPTION.findall(text)[1:])
    return Story(exception, message, _frames(last, places, test), causes)


def _said(segment: str) -> str:
    """The "Type: message" of the exception that ended one segment of a chain."""
    lines = _ERROR_LINE.findall(segment)
    if lines:
        return "\n".join(_last_run(segment)) or lines[-1]
    if "Traceback (most recent call last)" in segment:
        return _native_said(segment)
    first = segment.strip().split("\n", 1)[0]
    return _LINE_STYLE.sub("", segment.strip()) if _LINE_STYLE.match(first) else segment.strip()


def _last_run(segment: str) -> list[str]:
    """The last run of lines that start with E, without the E and their common indent."""
    run: list[str] = []
    for line in reversed(segment.rstrip().split("\n")):
        if line.startswith("E "):
            run.append(line[1:])
        elif run and not (line.startswith("    ") and _is_tail(run)):
            break
    run.reverse()
    indent = len(run[0]) - len(run[0].lstrip()) if run else 0
    return [line[indent:] if line[:indent].isspace() else line.strip() for line in run]


def _is_tail(run: list[str]) -> bool:
    return not run


def _native_said(segment: str) -> str:
    """The lines after the last frame of a native traceback: those that are not indented."""
    lines = segment.rstrip().split("\n")
    for number in range(len(lines) - 1, -1, -1):
        if lines[number].startswith(("  File ", "    ")):
            return "\n".join(lines[number + 1 :])
    return lines[-1]


def _frames(segment: str, places: Sequence[Place], test: str) -> tuple[Frame, ...]:
    if places:
        return _named(segment, places, test)
    native = [
        Frame(found["path"], int(found["line"][:9]), found["function"] or "", (found["text"] or "").strip())
        for found in _NATIVE.finditer(segment)
    ]
    if native:
        return tuple(native)
    found = [
        Place(place["path"], int(place["line"][:9]), f"in {place['function']}" if place["function"] else "")
        for place in _PLACE.finditer(segment)
    ]
    return _named(segment, found, test) if found else ()


def _named(segment: str, places: Sequence[Place], test: str) -> tuple[Frame, ...]:
    """The places as frames; pytest shows the source, not the name, of the first and the last function."""
    blocks = _blocks(segment, places)
    frames = []
    for number, place in enumerate(places):
        name, statement = place.message[3:] if place.message.startswith("in ") else "", ""
        if number in blocks:
            name, statement = name or _function(blocks[number]), _statement(blocks[number])
        frames.append(Frame(place.path, place.line, name or (test if number == 0 else ""), statement))
    return tuple(frames)


def _blocks(segment: str, places: Sequence[Place]) -> dict[int, str]:
    """The parts of the text that belong to the first and last place; to every one in the long style."""
    if any(not place.message for place in places[1:-1]):
        parts = _SEPARATOR.split(segment)
        if len(parts) == len(places):
            return dict(enumerate(parts))
    first, end = segment.find(_RULE), segment.rfind(_RULE)
    return {0: segment if first < 0 else segment[:first], len(places) - 1: segment[max(end, 0) :]}


def _function(block: str) -> str:
    found = _DEF.search(block)
    return found[1] if found else ""


def _statement(block: str) -> str:
    """The statement that `>` marks, on one line, without pytest's carets."""
    start = block.rfind("\n>")
    start = 0 if start < 0 and block.startswith(">") else start + 1
    if not block.startswith(">", start):
        return ""
    parts: list[str] = []
    for line in block[start + 1 : start + 4 * LONGEST_STATEMENT].split("\n"):
        if line.startswith("E ") or (parts and not line.startswith(" ")):
            break
        if line.strip(" ^~"):
            parts.append(line.strip())
    return " ".join(parts)[:LONGEST_STATEMENT]
