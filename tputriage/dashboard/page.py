"""One self-contained HTML page: no network, and no content that acts.

The page's policy allows its own script and style by their hashes and nothing else, so neither markup nor a script
out of a test's output could run even if one got past the escaping. Buckets travel as JSON, one a line, and are
parsed and drawn when a person comes to them: that is what keeps 10,000 of them quick.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from tputriage.dashboard.chart import chart_of
from tputriage.dashboard.entries import part_of, row_of
from tputriage.dashboard.numbers import Board, day_of
from tputriage.dashboard.quoting import Links
from tputriage.model import Dossier
from tputriage.rendering import render

ROOM_CHARS = 12_000_000  # for the texts of all buckets together
LONGEST, SHORTEST = 8_000, 400  # of one text; the more buckets, the less each has
STATIC_ROWS = 100  # shown where scripts are off


def page(
    dossiers: Sequence[Dossier],
    board: Board,
    links: Links,
    *,
    now_s: float,
    version: str,
    templates: Path | None = None,
) -> str:
    """The page's text; raises InputError where a template is broken."""
    rows = [row_of(dossier, links) for dossier in dossiers]
    longest = max(SHORTEST, min(LONGEST, ROOM_CHARS // max(1, len(dossiers)) // 2))
    script = render("page.js.j2", {}, templates)
    style = render("page.css.j2", {}, templates)
    values = {
        "board": board,
        "chart": chart_of(board),
        "rows": rows[:STATIC_ROWS],
        "index": embedded(rows),
        "parts": "\n".join(embedded(part_of(dossier, links, longest)) for dossier in dossiers),
        "script": script,
        "style": style,
        "script_hash": _hash(script),
        "style_hash": _hash(style),
        "made": day_of(now_s),
        "version": version,
    }
    return render("page.html.j2", values, templates, html=True)


def embedded(value: object) -> str:
    """JSON on one line that cannot end a script element or start a comment in one, nor be ill-formed UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")


def _hash(text: str) -> str:
    """As a Content-Security-Policy names what it allows."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
