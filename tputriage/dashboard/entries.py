"""One bucket as the page's script reads it: a short row for the list, and the part that opens under it.

Only what JSON has: text, numbers, lists. Everything that tests printed is masked, made visible and cut here.
"""

from __future__ import annotations

import re
from typing import Any

from tputriage.console import plural
from tputriage.dashboard.numbers import day_of, issue_of, kind_of, state_of, versions_in_words
from tputriage.dashboard.quoting import Links, file_name
from tputriage.model import Dossier, Repro, Run, Verdict

TESTS_SHOWN = 300
SIGHTINGS_SHOWN = 50
_SHARE = re.compile(r"failed (\d+) of (\d+)")


def row_of(dossier: Dossier, links: Links) -> dict[str, Any]:
    """What the list shows, sorts and filters by."""
    return {
        "id": dossier.bucket.id,
        "title": links.text(dossier.bucket.title, 200),
        "verdict": kind_of(dossier).value,
        "tests": len(dossier.bucket.tests),
        "repro": dossier.repro.status.value if dossier.repro else "",
        "issue": issue_of(dossier, links),
        "state": state_of(dossier, links),
        "url": links.issues.get(dossier.bucket.id, ""),
        "fixed": links.text(dossier.fixed_in, 60),
        "seen": dossier.history[-1].created_s if dossier.history else 0,
    }


def part_of(dossier: Dossier, links: Links, longest: int) -> dict[str, Any]:
    """What opens under a row; `longest` is the room in characters for each text of any length."""
    bucket, verdict, repro = dossier.bucket, dossier.verdict, dossier.repro
    tests = bucket.tests
    return {
        "condition": links.text(repro.condition, 600) if repro else "",
        "issue": issue_in_words(dossier, links),
        "reason": links.text(verdict.reason, 1200) if verdict else "nothing was rerun yet",
        "facts": _facts(dossier, links),
        "matrix": _matrix(verdict, repro, links),
        "repro": _repro(repro, links, longest) if repro else None,
        "traceback": links.text(_traceback(dossier, links), longest),
        "cpp": links.text(repro.cpp_trace, longest) if repro else "",
        "tests": [links.text(test, 500) for test in tests[:TESTS_SHOWN]],
        "more": max(0, len(tests) - TESTS_SHOWN),
        "history": _history(dossier, links),
    }


def tone_of(words: str) -> str:
    """good | mixed | bad | other, from the outcome in words; the page's colour, never its only sign."""
    share = _SHARE.match(words)
    if share and 0 < int(share[1]) < int(share[2]):
        return "mixed"
    if words.startswith("pass") or (share and share[1] == "0"):
        return "good"
    return "bad" if words.startswith(("fail", "crash", "timeout")) else "other"


def issue_in_words(dossier: Dossier, links: Links) -> str:
    """How its issue stands, in words that follow its number."""
    seen = links.states.get(dossier.bucket.id)
    if seen is None:
        told = "filed from here; filing has not looked at it since" if dossier.issue is not None else ""
    else:
        reason = links.text(seen.reason.replace("_", " "), 60)
        reason = f" as {reason}" if seen.state == "closed" and reason else ""
        labels = f", labels: {links.text(', '.join(seen.labels), 300)}" if seen.labels else ""
        told = f"{seen.state}{reason}{labels}; as seen on {day_of(seen.seen_s)} UTC"
    fixed = f"the repro passes with torch_tpu {links.text(dossier.fixed_in, 60)}" if dossier.fixed_in else ""
    return "; ".join(filter(None, (told, fixed)))


def _facts(dossier: Dossier, links: Links) -> list[list[str]]:
    verdict, repro, signature = dossier.verdict, dossier.repro, dossier.bucket.signature
    rows = [("operator", (repro.operator if repro else "") or signature.operator), ("exception", signature.exception)]
    if verdict and verdict.total:
        low, high = verdict.interval
        share = f"failed in {verdict.failed} of {verdict.total} runs on the device"
        rows += [("failure rate", f"{share} (95 % interval: {low:.0%} to {high:.0%})")]
    if dossier.history:
        rows += [("first seen", dossier.history[0].place), ("last seen", dossier.history[-1].place)]
    rows += [("verified", _verifications(dossier))]
    return [[name, links.text(words, 300)] for name, words in rows if words]


def _verifications(dossier: Dossier) -> str:
    if dossier.fixed_in:
        return f"passes with torch_tpu {dossier.fixed_in}"
    return f"the repro last {_ended(dossier.verifications[-1])}" if dossier.verifications else ""


def _ended(run: Run) -> str:
    version = run.versions.get("torch_tpu")
    return f"ended as {run.outcome} on {run.target}" + (f" with torch_tpu {version}" if version else "")


def _matrix(verdict: Verdict | None, repro: Repro | None, links: Links) -> list[dict[str, Any]]:
    """[{name, rows: [[column, outcome in words, tone]]}] of what was tried, empty groups left out."""
    groups = {
        "device": verdict.matrix if verdict else (),
        "with one setting": tuple(verdict.knobs.items()) if verdict else (),
        "repro": tuple(repro.targets.items()) if repro else (),
        "repro varied": repro.conditions if repro else (),
    }
    return [
        {
            "name": name,
            "rows": [[links.text(column, 80), links.text(words, 120), tone_of(words)] for column, words in rows],
        }
        for name, rows in groups.items()
        if rows
    ]


def _repro(repro: Repro, links: Links, longest: int) -> dict[str, Any]:
    failed, total = repro.reliability
    proof = f"{failed} of {total} fresh processes failed as wanted" if total else ""
    said = (
        f"{repro.status}, {repro.level} level, {plural(repro.lines, 'line')} of code",
        proof,
        repro.cause_proven,
        repro.reason,
    )
    return {
        "said": "; ".join(links.text(words, 400) for words in said if words),
        # Never cut: half a script is none. One that is too long for any page is left where it was written.
        "source": links.text(repro.source, max(20_000, longest)) if len(repro.source) <= 20_000 else "",
        "script": links.text(repro.script, 300),
        "actual": links.text(repro.actual, 600),
        "expected": links.text(repro.expected, 300),
        "versions": links.text(versions_in_words(repro.versions), 200),
    }


def _traceback(dossier: Dossier, links: Links) -> str:
    if dossier.repro and dossier.repro.traceback:
        return links.tidy(dossier.repro.traceback)
    failure = next(iter(dossier.bucket.failures), None)
    return (failure.text or f"{failure.exception}: {failure.message}") if failure else ""


def _history(dossier: Dossier, links: Links) -> list[list[str]]:
    """[[when, report, versions, tests that failed]], newest first."""
    return [
        [
            day_of(seen.created_s),
            links.text(file_name(seen.report), 200),
            links.text(versions_in_words(seen.versions), 200),
            str(seen.tests),
        ]
        for seen in reversed(dossier.history[-SIGHTINGS_SHOWN:])
    ]
