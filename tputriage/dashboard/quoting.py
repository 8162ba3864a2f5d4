"""Text from outside as the page may hold it: masked, cut, and with nothing in it that a reader does not see.

What keeps it from acting is elsewhere: in page.py for JSON, and in the templates' autoescape for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tputriage.console import visible

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True, slots=True)
class IssueState:
    """A bucket's issue as filing last saw it."""

    number: int
    state: str = "open"  # "open" | "closed"
    reason: str = ""  # of a closed one: "completed" | "not_planned" | "duplicate"
    labels: tuple[str, ...] = ()
    seen_s: float = 0.0  # Unix time


@dataclass(frozen=True, slots=True)
class Links:
    """What the dossiers do not say: where each bucket's issue is and how it stands, and how quoted text is masked."""

    issues: Mapping[str, str] = field(default_factory=dict)  # bucket id -> https address
    states: Mapping[str, IssueState] = field(default_factory=dict)  # bucket id -> how its issue was seen
    mask: Callable[[str], str] = str
    tidy: Callable[[str], str] = str  # what takes a runner's own frames and folders out of a traceback

    def text(self, text: str, longest: int) -> str:
        """Cut, masked, and with control and invisible characters shown."""
        text = cut(text, longest)
        text = self.mask(_ANSI.sub("", text) if "\x1b" in text else text)
        plain = text.replace("\n", "").replace("\t", "").isprintable()
        return text if plain else visible(text)


def file_name(path: str) -> str:
    """The name alone: the folders above a report say where somebody's machine keeps it."""
    return path.replace("\\", "/").rpartition("/")[2]


def cut(text: str, longest: int) -> str:
    """Head and tail kept: a traceback says most at its ends."""
    if len(text) <= longest:
        return text
    head, tail = text[: longest // 3], text[-(longest - longest // 3) :]
    return f"{head}\n… {len(text) - len(head) - len(tail)} characters left out …\n{tail}"
