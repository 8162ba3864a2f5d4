"""Quoted text that cannot act on GitHub.

It is harmless inside a code span or a fence, where GitHub resolves no mention, reference, closing keyword, HTML or
markdown; so that is where all of it goes. Only our own sentences stand outside, and `prose` makes the pieces of
quoted text in them inert. Nothing here masks: see masks.py, which comes first.
"""

from __future__ import annotations

import re


def fenced(text: str, language: str = "") -> str:
    """A fence longer than any inside, so that nothing in `text` can end it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{_inert_marks(text).rstrip()}\n{fence}"


def code(text: str, *, cell: bool = False) -> str:
    """A code span on one line; `cell` for one in a table, where a bar ends the cell even inside code."""
    text = _inert_marks(" ".join(text.split()))
    if not text:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    tick = "`" * (longest + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    span = f"{tick}{pad}{text}{pad}{tick}"
    # An odd number of backslashes, as an even one would leave the bar alive.
    return re.sub(r"(\\*)\|", r"\1\1\\|", span) if cell else span


def prose(text: str) -> str:
    """One line for the middle of a sentence: no markdown, HTML, mention, reference or link in it acts.

    GitHub resolves mentions and references after entities, so those are broken by a zero-width space.
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # An underscore inside a word is none to markdown, and `channels_last` reads better without a backslash.
    text = re.sub(r"([\\`*{}\[\]|~!]|(?<!\w)_|_(?!\w))", r"\\\1", text)
    text = re.sub(r"(?<=[@#])(?=\w)|(?<=\bGH-)(?=\d)|(?<=:/)(?=/)|(?<=\bwww)(?=\.)", "\u200b", text)
    return re.sub(r"^([-+#]|\d+[.)](?=\s|$))", lambda match: "\u200b" + match[1], text)


def title(text: str, longest: int) -> str:
    """One line of at most `longest` characters, cut at a word where possible; mentions and references are inert."""
    text = " ".join(text.split()).replace("<!--", "<! --")
    text = re.sub(r"(?<=[@#])(?=\w)|(?<=\bGH-)(?=\d)", "\u200b", text)
    return shorten(text, longest)


def shorten(text: str, longest: int) -> str:
    """At most `longest` characters, with an ellipsis where something was cut."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    cut = head.rfind(" ")
    return (head[:cut] if cut > longest // 2 else head).rstrip(" ,;:(") + "…"


def shorten_middle(text: str, longest: int) -> str:
    """Head and tail kept, as a traceback says most at its ends; at most about `longest` characters."""
    if len(text) <= longest:
        return text
    head, tail = text[: longest // 3], text[-(longest - longest // 3) :]
    cut = len(text) - len(head) - len(tail)
    return f"{head.rpartition(chr(10))[0] or head}\n… {cut} characters left out …\n{tail.partition(chr(10))[2] or tail}"


def _inert_marks(text: str) -> str:
    # Only so that our own marks are never found in quoted text; inside code GitHub shows them as they stand.
    return re.sub(r"<!--(?=\s*/?tputriage)", "<! --", text)
