"""Long lines broken at their brackets, as formatters do: what is inside on lines of its own, indented."""

from __future__ import annotations

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
    inside = line[start + 1 : end].rstrip(",")
    head, tail = line[: start + 1], line[end:]
    if len(indent) + 4 + len(inside) <= WIDTH:
        return f"{head}\n{indent}    {inside}\n{indent}{tail}"
    parts = (wrapped(f"{indent}    {part},") for part in _parts(inside))
    return "\n".join([head, *parts, indent + tail])


def _widest_brackets(line: str) -> tuple[int, int]:
    """Positions of the outermost pair that holds most; (-1, -1) where there is none."""
    best, depth, start, quote = (-1, -1), 0, 0, ""
    for place, letter in enumerate(line):
        quote = _quote_after(quote, letter)
        if quote:
            continue
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
    found, depth, start, quote = [], 0, 0, ""
    for place, letter in enumerate(text):
        quote = _quote_after(quote, letter)
        if quote:
            continue
        depth += (letter in PAIRS) - (letter in PAIRS.values())
        if letter == "," and not depth:
            found.append(text[start:place].strip())
            start = place + 1
    return [*found, text[start:].strip()]


def _quote_after(quote: str, letter: str) -> str:
    """The open quote after this letter. Strings that are written here hold no escaped quotes."""
    if quote:
        return "" if letter == quote else quote
    return letter if letter in "\"'" else ""
