"""What a CI job shows on its own page: markdown for $GITHUB_STEP_SUMMARY, which takes 1 MiB at most.

All quoted text stands as escaped HTML inside <code> or <pre>: GitHub resolves no mention, reference or markdown there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tputriage.dashboard.entries import part_of, row_of
from tputriage.dashboard.numbers import Board
from tputriage.dashboard.quoting import Links
from tputriage.model import Dossier
from tputriage.rendering import render

LIMIT_BYTES = 1_000_000  # below the 1,048,576 that GitHub allows a step
ROWS, PARTS = 500, 50
LONGEST = 3_000


def summary(dossiers: Sequence[Dossier], board: Board, links: Links, *, templates: Path | None = None) -> str:
    """The summary with as many buckets as there is room for, those with the most tests first."""
    rows = [_one_line(row_of(dossier, links)) for dossier in dossiers[:ROWS]]
    scripts = [dossier for dossier in dossiers if dossier.repro and dossier.repro.source]
    parts = [_part(dossier, links) for dossier in scripts[:PARTS]]
    while True:
        values = {
            "board": board,
            "rows": rows,
            "parts": parts,
            "left_out": len(dossiers) - len(rows),
            "scripts_left_out": len(scripts) - len(parts),
        }
        text = render("page.md.j2", values, templates, html=True)
        if len(text.encode("utf-8")) <= LIMIT_BYTES or not (rows or parts):
            return text
        rows, parts = (rows, parts[: len(parts) // 2]) if parts else (rows[: len(rows) // 2], parts)


def _one_line(row: dict[str, Any]) -> dict[str, Any]:
    # A blank line would end the HTML block that keeps markdown out.
    return row | {"title": " ".join(row["title"].split())}


def _part(dossier: Dossier, links: Links) -> dict[str, Any]:
    return _one_line(row_of(dossier, links)) | part_of(dossier, links, LONGEST)
