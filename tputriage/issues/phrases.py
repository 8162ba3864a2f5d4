"""The few words that title, body and comments share: who is at fault, what happens, when, and how to see it again."""

from __future__ import annotations

import re
import shlex

from tputriage.issues.clean import shorten
from tputriage.model import Dossier

# By the family's name, or the part of it before a dash.
_HAPPENS = {
    "missing-op": "is not implemented for TPU",
    "crash": "crashes the process",
    "timeout": "hangs",
    "numeric": "differs from CPU",
}


def subject_of(dossier: Dossier) -> str:
    """The operator or public function at fault; the exception's source or the test where none is known."""
    named = (dossier.repro.operator if dossier.repro else "") or dossier.bucket.signature.operator
    return named or re.sub(r"\[.*", "", dossier.bucket.representative.rpartition("::")[2] or "a test", flags=re.DOTALL)


def happens(dossier: Dossier) -> str:
    """The verb: raises X, is not implemented, crashes the process, hangs, differs."""
    signature = dossier.bucket.signature
    known = _HAPPENS.get(signature.family) or _HAPPENS.get(signature.family.partition("-")[0])
    if known:
        return known
    exception = signature.exception.rpartition(".")[2]
    return f"raises {exception}" if exception else "fails"


def condition_words(condition: str, longest: int) -> str:
    """The first clause of a condition, fit to follow a verb: "for channels_last input"."""
    clause = re.split(r"[;,.](?:\s|$)", condition.strip(), maxsplit=1)[0]
    clause = re.sub(r"^(?:it\s+)?(?:fails|raises|crashes|hangs|happens|differs)\s+", "", clause, flags=re.IGNORECASE)
    if not clause:
        return ""
    joined = clause if re.match(r"(?:for|when|on|with|if|in|after|only|under|without|at)\b", clause) else f"({clause})"
    return shorten(joined, longest)


def rerun_command(test_id: str) -> str:
    """A line for a shell that reruns one test, whatever its id holds; an id never reads as an option."""
    given = test_id if not test_id.startswith("-") else f"./{test_id}"
    return f"python -m pytest {shlex.quote(given)}"
