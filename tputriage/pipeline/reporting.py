"""`tputriage report`: the page, the step summary and model_results.json, from what the store knows."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from tputriage import __version__
from tputriage.config import Settings
from tputriage.console import Done, plural
from tputriage.dashboard import Links, board_of, issue_of, model_results, page, summary
from tputriage.errors import InputError
from tputriage.issues.traces import tidy
from tputriage.model import Dossier, Outcome
from tputriage.pipeline.filing import policy_for
from tputriage.pipeline.place import settings_for
from tputriage.pipeline.states import issue_states
from tputriage.store import Store, open_store
from tputriage.store.ledger import StoredLedger

PAGE = Path("tputriage.html")  # a page on a terminal helps nobody
NIGHT_S = 12 * 3600.0  # shards of one run end within it
MASKED_KEPT = 10_000  # texts
Row = Mapping[str, Any]  # of Store.reports()
_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def report(*, form: str, output: Path | None, store: Path, quiet: bool) -> Done:
    """Write the answer to `output`, or show it where none is named; `form` is a key of FORMS."""
    settings = settings_for(None)
    with open_store(store, create=False) as opened:
        dossiers, reports = opened.dossiers(), opened.reports()
        text = FORMS[form](opened, dossiers, reports, settings)
    data = {"format": form, "buckets": len(dossiers), "reports": len(reports)}
    file = output or (PAGE if form == "html" else None)
    if file is None:
        return Done(data | {"text": text}, (text.rstrip("\n"),))
    size = _write(file, text)
    return Done(data | {"file": str(file), "bytes": size}, (f"{plural(len(dossiers), 'bucket')} written to {file}",))


def _html(store: Store, dossiers: Sequence[Dossier], reports: Sequence[Row], settings: Settings) -> str:
    links = _links(store, dossiers, settings)
    board = board_of(dossiers, reports, links)
    return page(dossiers, board, links, now_s=time.time(), version=__version__, templates=_templates(settings))


def _markdown(store: Store, dossiers: Sequence[Dossier], reports: Sequence[Row], settings: Settings) -> str:
    links = _links(store, dossiers, settings)
    return summary(dossiers, board_of(dossiers, reports, links), links, templates=_templates(settings))


def _results(store: Store, dossiers: Sequence[Dossier], reports: Sequence[Row], settings: Settings) -> str:
    outcomes: dict[str, Outcome] = {}
    for row in _last_night(reports):
        outcomes |= store.outcomes(row["id"])
    found = model_results(outcomes, dossiers, _links(store, dossiers, settings))
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode("utf-8") + "\n"


def _last_night(reports: Sequence[Row]) -> list[Row]:
    """The last run of each suite, whose shards are reports of their own; oldest first, as `reports` are."""
    newest = {row["suite"]: row["created_s"] for row in reports}
    return [row for row in reports if row["created_s"] >= newest[row["suite"]] - NIGHT_S]


Form = Callable[[Store, Sequence[Dossier], Sequence[Row], Settings], str]
FORMS: Mapping[str, Form] = MappingProxyType({"html": _html, "markdown": _markdown, "model-results": _results})


def _links(store: Store, dossiers: Sequence[Dossier], settings: Settings) -> Links:
    """Masks as filing does: a page is mailed and kept by CI as easily as an issue is read."""
    ledger = StoredLedger(store)
    cleaner = policy_for(settings, allow_emulator=False, close_fixed=False).cleaner
    states = issue_states(store)
    places = {
        (bucket, number): repository
        for (bucket, repository), number in ledger.issues().items()
        if repository in (settings.repository, settings.upstream)
    }
    places |= {(bucket, issue.number): issue.repository for bucket, (issue, _) in ledger.seen().items()}
    known = Links(states=states)
    addresses = {}
    for dossier in dossiers:
        number = issue_of(dossier, known)
        if number is not None:
            addresses[dossier.bucket.id] = _address(places.get((dossier.bucket.id, number), ""), number, settings)
    # Buckets repeat each other: settings, versions, reports.
    mask = lru_cache(MASKED_KEPT)(cleaner.mask)
    return Links({bucket: address for bucket, address in addresses.items() if address}, states, mask, tidy)


def _address(repository: str, number: int, settings: Settings) -> str:
    """Where an issue is on the web; "" for what is no repository's name, or no https."""
    host = settings.api_url.removesuffix("/api/v3").replace("https://api.github.com", "https://github.com")
    good = _NAME.fullmatch(repository) and host.startswith("https://")
    return f"{host}/{repository}/issues/{number}" if good else ""


def _templates(settings: Settings) -> Path | None:
    return Path(settings.templates) if settings.templates else None


def _write(file: Path, text: str) -> int:
    raw = text.encode("utf-8")
    try:
        file.write_bytes(raw)
    except OSError as exc:
        raise InputError(f"{file} cannot be written: {exc.strerror or exc}; name another with -o") from exc
    return len(raw)
