"""The few words that title, body and comments share: who is at fault, what happens, when, and how to see it again."""

from __future__ import annotations

import re
import shlex

from tputriage.issues.clean import shorten
from tputriage.model import Dossier
from tputriage.signatures import spoken
from tputriage.signatures.families import BY_NAME, Kind

# What happens, by the family's name, and by its kind where the name says no more.
_BY_FAMILY = {"not-raised": "raises no error", "attribute-differs": "gives another result than CPU"}
_BY_KIND = {
    Kind.MISSING_OP: "is not implemented for TPU",
    Kind.CRASH: "crashes the process",
    Kind.TIMEOUT: "hangs",
    Kind.NUMERIC: "gives another result than CPU",
    Kind.OUT_OF_MEMORY: "runs out of memory",
    Kind.COMPILE: "does not compile",
}
_BEFORE = "(?:with|without|for|in|under)"  # what a condition's values stand behind
_ENDS = {Kind.CRASH: "signal", Kind.TIMEOUT: "never"}


def subject_of(dossier: Dossier) -> str:
    """The operator or public function at fault; the test where none is known.

    A missing operator is named as torch_tpu names it, since that is what is looked for and what one issue is about.
    """
    called, operator = dossier.repro.operator if dossier.repro else "", dossier.bucket.signature.operator
    if dossier.bucket.signature.family == "missing-op" and operator:
        return operator
    test = re.sub(r"\[.*", "", dossier.bucket.representative, flags=re.DOTALL).rpartition("::")[2]
    return spoken(called) or operator or test or "a test"


def happens(dossier: Dossier) -> str:
    """The verb: raises X, is not implemented, crashes the process, hangs, gives other numbers."""
    signature = dossier.bucket.signature
    family = BY_NAME.get(signature.family)
    known = _BY_FAMILY.get(signature.family) or (_BY_KIND.get(family.kind) if family else None)
    exception = signature.exception.rpartition(".")[2]
    return known or (f"raises {exception}" if exception else "fails")


def ends(dossier: Dossier) -> str:
    """How a script that shows the bug ends: "signal", "never", or "error" for an exception, with exit code 1."""
    family = BY_NAME.get(dossier.bucket.signature.family)
    return _ENDS.get(family.kind, "error") if family else "error"


def condition_words(condition: str, longest: int) -> str:
    """The clauses of a condition that decide, fit to follow a verb: "with channels_last"; "" for none.

    Read are both "fails for channels_last input, passes for …; dtype makes no difference", as minimizing writes it,
    and a person's "fails with channels_last; passes contiguous".
    """
    words = ""
    for clause in re.split(r";\s*", condition.strip().rstrip(".")):
        said = f"{words}, {_clause(clause)}" if words and _clause(clause) else words or _clause(clause)
        words = said if not words or len(said) <= longest else words
    return shorten(words, longest)


_SHARED = re.compile(r"\b(?:every|any) [\w, ]+ tried|in place of|^for (?:size|dimensions of) ")


def _clause(clause: str) -> str:
    axis = re.match(rf"(?:\w+: )?fails ({_BEFORE} .+?)(?:, (?:passes {_BEFORE}|stops at) .*)?$", clause, re.I)
    if axis:
        # What every variation shares decides nothing, and neither does one size in place of another.
        return "" if re.search(_SHARED, axis[1]) else axis[1]
    fails = re.match(
        r"(?:it )?(?:fails|raises|crashes|hangs|differs) ((?:for|when|on|if|in|after|only|under) .*)", clause, re.I
    )
    return fails[1] if fails else ""


def rerun_command(test_id: str) -> str:
    """A line for a shell that reruns one test, whatever its id holds; an id never reads as an option."""
    given = test_id if not test_id.startswith("-") else f"./{test_id}"
    return f"python -m pytest {shlex.quote(given)}"


def expected_words(expected: str) -> str:
    """What CPU does, as the rest of "On CPU it …"."""
    clause = expected.strip().rstrip(".").removesuffix(", as on CPU").removeprefix("the script ")
    if clause in ("", "returns", "passes", "as on CPU"):
        return "runs to its end"
    return clause if re.match(r"[a-z]+s\b", clause) else f"gives {clause}"
