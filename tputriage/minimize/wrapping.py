"""Long lines broken at their brackets, as formatters do: what is inside on lines of its own, indented."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

WIDTH = 88
PAIRS = {"(": ")", "[": "]", "{": "}"}


def wrapped(line: str) -> str:
    """The statement on as many lines as it needs; unchanged where it fits, or has nothing to break at."""
    if len(line) <= WIDTH:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    start, end = _widest_brackets(line)
    if start < 0:
        return line
    inside = line[start + 1 : end]
    head, tail = line[: start + 1], line[end:]
    parts = _parts(inside)
    if _is_series(head, parts):
        parts = [part for part in parts if part]
        if len(parts) > 1:
            inside = ", ".join(parts)
        comma = ","
    else:
        comma = ""
    if len(indent) + 4 + len(inside) <= WIDTH:
        return f"{head}\n{indent}    {inside}\n{indent}{tail}"
    return "\n".join([head, *(wrapped(f"{indent}    {part}{comma}") for part in parts), indent + tail])


def _is_series(head: str, parts: Sequence[str]) -> bool:
    """Whether a comma at the end changes nothing: in calls, lists and dicts, and where there are commas already.

    `(a + b,)` is a tuple, and so is the index of `x[a,]`.
    """
    called = head[-2:-1].isalnum() or head[-2:-1] in ("_", ")", "]")
    return len(parts) > 1 or (called if head[-1] == "(" else not called)


def _widest_brackets(line: str) -> tuple[int, int]:
    """Positions of the outermost pair that holds most; (-1, -1) where there is none."""
    best, depth, start = (-1, -1), 0, 0
    for place, letter in _code(line):
        if letter in PAIRS:
            start = place if not depth else start
            depth += 1
        elif letter in PAIRS.values():
            depth -= 1
            if not depth and place - start > best[1] - best[0]:
                best = (start, place)
    return best if best[1] - best[0] > 1 else (-1, -1)


def _parts(text: str) -> list[str]:
    """Split at the commas that stand in no bracket and no string."""
    found, depth, start = [], 0, 0
    for place, letter in _code(text):
        depth += (letter in PAIRS) - (letter in PAIRS.values())
        if letter == "," and not depth:
            found.append(text[start:place].strip())
            start = place + 1
    return [*found, text[start:].strip()]


def _code(text: str) -> Iterator[tuple[int, str]]:
    """The letters with their places, those of strings left out."""
    quote, escaped = "", False
    for place, letter in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            yield place, letter
