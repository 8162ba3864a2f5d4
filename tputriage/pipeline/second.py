"""What a test stops at once its first cause is done on CPU: a bucket of its own, with a repro where one is found.

No report tells of such a failure, so what made it seen is stored as one. The next run of the test meets the first
cause again: the bucket is minimized here, with that call still on CPU, or not at all.
"""

from __future__ import annotations

import hashlib
import re
import time

from tputriage.model import Bucket, Dossier, Failure, Report, Repro, ReproStatus, Verdict, VerdictKind
from tputriage.signatures import group, spoken
from tputriage.store import COUNTERFACTUAL, Store

SEEN = "done on CPU"
# What a call done elsewhere may leave behind: a tensor that stayed there, which a later call refuses.
MIXED = re.compile(r"same device|different device|to be on |device type|is on cpu|on cpu and |got cpu|found cpu", re.I)


def keep_second(store: Store, failure: Failure, moved: str, first: str) -> Bucket | None:
    """The bucket of what bucket `first`'s test stops at with `moved` on CPU; None if known, or our own doing."""
    if moved.endswith("__set__") or MIXED.search(failure.message):
        return None
    known = store.known_keys()
    (bucket,) = group([failure], known)
    if bucket.id in known.values():
        return None
    source = f"{first} with {spoken(moved)} {SEEN}"
    digest = hashlib.sha256(f"{COUNTERFACTUAL} {source} {failure.test_id} {bucket.signature.key}".encode()).hexdigest()
    report = Report(
        source=source,
        format=COUNTERFACTUAL,
        digest=digest,
        tests={},
        failures=(failure,),
        root=store.root_of(failure.test_id),
        created_s=time.time(),
    )
    store.add_report(report, COUNTERFACTUAL, [bucket])
    store.save_verdict(bucket.id, Verdict(VerdictKind.UNDECIDED, f"seen in {source}; it has no repro of its own yet"))
    return bucket


def is_second(dossier: Dossier) -> bool:
    """Whether no report tells of it: its tests stand for another bucket first."""
    return bool(dossier.history) and all(sighting.report.endswith(SEEN) for sighting in dossier.history)


def settle_second(store: Store, repro: Repro, moved: str, first: str) -> None:
    """The verdict that the bucket's own repro gives it."""
    if repro.status is not ReproStatus.VERIFIED:
        return
    reason = f"its repro fails on the device and passes on CPU; seen behind {first}, with {spoken(moved)} done on CPU"
    store.save_verdict(repro.bucket, Verdict(VerdictKind.TPU_ONLY, reason))
