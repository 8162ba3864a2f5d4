"""`tputriage verify`: every stored repro against what is installed now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tputriage.console import Done, plural, progress, stoppable, table
from tputriage.minimize.roads import VERIFICATIONS, judge_fresh
from tputriage.model import Dossier
from tputriage.pipeline.lookup import find_bucket
from tputriage.pipeline.place import Place, device_versions, find_place, workers
from tputriage.store import Store, open_store
from tputriage.targets.fresh import run_script

WORDS = {"fail": "still broken", "pass": "fixed", "other": "broken differently"}


def verify(*, ids: Sequence[str], store: Path, quiet: bool, root: Path | None, **machine: Any) -> Done:
    """Exit code 1 where a repro could not be run at all."""
    with open_store(store, create=False) as opened:
        chosen = _chosen(opened, ids)
        rows = _verify_all(opened, find_place(None, **machine), chosen, quiet) if chosen else []
    listing = table("", ("bucket", "now", "repro"), ((row["bucket"], row["result"], row["script"]) for row in rows))
    return Done({"verifications": rows}, (listing if rows else "no repro is stored: run `tputriage minimize` first",))


def _verify_all(store: Store, place: Place, chosen: Sequence[Dossier], quiet: bool) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    # The worker only says what is installed, and goes: a chip is held by one process at a time.
    with stoppable(lambda: "nothing was verified yet"), workers(place) as (device, _):
        versions = device_versions(place, getattr(device, "versions", {}))
    with stoppable(partial(_kept, rows, chosen)), progress("verifying", quiet=quiet) as step:
        for number, dossier in enumerate(chosen):
            step(number, len(chosen), dossier.bucket.title)
            rows.append(_verified(store, place, dossier, versions))
    return rows


def _kept(rows: Sequence[Mapping[str, str]], chosen: Sequence[Dossier]) -> str:
    left = " ".join(dossier.bucket.id for dossier in chosen[len(rows) :])
    return f"what {len(rows)} of {plural(len(chosen), 'repro')} did is stored: `tputriage verify {left}` does the rest"


def _chosen(store: Store, ids: Sequence[str]) -> list[Dossier]:
    dossiers = store.dossiers()
    picked = [find_bucket(store, dossiers, item)[0] for item in ids] if ids else list(dossiers)
    return [dossier for dossier in picked if dossier.repro is not None and dossier.repro.source]


def _verified(store: Store, place: Place, dossier: Dossier, versions: Mapping[str, str]) -> dict[str, str]:
    repro = dossier.repro
    assert repro is not None
    path = store.write_script(f"{dossier.bucket.id}.py", repro.source)
    runs = run_script(place.device, path, limit_s=place.settings.limit_s, times=VERIFICATIONS)
    store.add_verifications(dossier.bucket.id, [replace(run, versions=versions) for run in runs])
    return {
        "bucket": dossier.bucket.id,
        "result": WORDS[judge_fresh(repro.wanted or dossier.bucket.signature, runs)],
        "script": str(path),
        "target": place.device.name,
    }
