"""The comments on an issue: one for each change of its state, worded in templates/comment.md.j2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tputriage.issues.clean import code, fenced, prose, shorten_middle
from tputriage.issues.gates import newest_failing, passing_runs
from tputriage.issues.marker import comment_mark
from tputriage.issues.policy import DEVICE_VERSION, Policy, place_of
from tputriage.issues.traces import tidy
from tputriage.model import Dossier
from tputriage.rendering import render

EVIDENCE = 4_000  # characters of the traceback in a comment


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a bucket: "fixed" | "closed" | "back" | "duplicate"."""

    occasion: str
    reason: str = ""
    original: int = 0  # the issue that stays, of a duplicate


def draft_comment(dossier: Dossier, policy: Policy, change: Change) -> str:
    """The comment's text; its first line tells this change from every other, so that it is posted once."""
    version = newest_failing(dossier) if change.occasion == "back" else dossier.fixed_in
    which = str(change.original or version)
    values = {
        "mark": comment_mark(f"{change.occasion}:{dossier.bucket.signature.key}:{which}"),
        "occasion": change.occasion,
        "fixed": prose(dossier.fixed_in),
        "runs": _runs(dossier),
        "reason": prose(policy.cleaner.mask(change.reason)),
        "evidence": _evidence(dossier, policy),
        "original": change.original,
    }
    return render("comment.md.j2", values, policy.templates).strip()


def _runs(dossier: Dossier) -> str:
    """How often it passed where: "3 runs on v5e, 3 runs on v6e"."""
    places = Counter(place_of(run) or "the device" for run in passing_runs(dossier))
    return ", ".join(f"{count} {'run' if count == 1 else 'runs'} on {code(place)}" for place, count in places.items())


def _evidence(dossier: Dossier, policy: Policy) -> str:
    """The newest run that failed: where, and how."""
    version, mask = newest_failing(dossier), policy.cleaner.mask
    runs = [run for run in dossier.verifications if run.outcome.is_failure and _version(run.versions) == version]
    reports = [item for item in dossier.history if _version(item.versions) == version]
    seen = reports[-1].place if reports else f"the repro with torch_tpu {version}"
    failure = runs[-1].failure if runs and runs[-1].failure and not reports else dossier.bucket.failures[-1]
    text = tidy(failure.text or f"{failure.exception}: {failure.message}")
    return f"Seen in {code(mask(seen))}.\n\n{fenced(shorten_middle(mask(text), EVIDENCE), 'pytb')}"


def _version(versions: Mapping[str, str]) -> str:
    return versions.get(DEVICE_VERSION, "")
