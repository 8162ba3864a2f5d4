"""From what a person typed to the buckets meant: exact ids first, then a part that one bucket alone has."""

from __future__ import annotations

from collections.abc import Sequence

from tputriage.errors import InputError
from tputriage.model import Dossier
from tputriage.pipeline.second import is_second
from tputriage.store import Store

SHOWN = 8  # candidates listed before the rest is only counted


def find_bucket(store: Store, dossiers: Sequence[Dossier], item: str) -> tuple[Dossier, str]:
    """(bucket, test id) that `item` names; raises InputError with the candidates where it is none or several."""
    if not item:
        raise InputError("an empty id names nothing: `tputriage show` lists the buckets")
    for dossier in dossiers:
        if item == dossier.bucket.id:
            return dossier, dossier.bucket.representative
    tests = [(dossier, test) for dossier in dossiers if not is_second(dossier) for test in dossier.bucket.tests]
    exact = [(dossier, test) for dossier, test in tests if test == item]
    if exact:
        return exact[0]
    buckets = [(found, found.bucket.representative) for found in dossiers if item in found.bucket.id]
    return _only(store, item, buckets + [(dossier, test) for dossier, test in tests if item in test])


def _only(store: Store, item: str, found: Sequence[tuple[Dossier, str]]) -> tuple[Dossier, str]:
    if len({dossier.bucket.id for dossier, _ in found}) == 1:
        return next((pair for pair in found if pair[1] == pair[0].bucket.representative), found[0])
    if not found:
        outcome = store.outcome_of(item)
        if outcome is not None:
            raise InputError(f"{item} did not fail: its outcome was {outcome}")
        raise InputError(f"no test or bucket is called {item}: `tputriage show` lists the buckets")
    names = list(dict.fromkeys(test for _, test in found))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    raise InputError(f"{item} could be any of: {', '.join(names[:SHOWN])}{more}; give more of the id")
