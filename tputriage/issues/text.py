"""An issue's title and body, from what is known of a bucket. The wording is in templates/, the facts are here.

Every piece of quoted text is masked first (masks.py), cut to its budget, and then made inert (clean.py), in this
order: a cut after quoting could take a fence's end away. Where the body is over GitHub's limit, the next stage
of `STAGES` renders it anew from smaller pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tputriage.issues.clean import code, fenced, prose, shorten, shorten_middle, title
from tputriage.issues.gates import newest_failing, only_emulated
from tputriage.issues.marker import END, Mark, mark_of
from tputriage.issues.masks import Cleaner
from tputriage.issues.phrases import condition_words, happens, rerun_command, subject_of
from tputriage.issues.policy import DEVICE_VERSION, Policy
from tputriage.model import Dossier, Failure, Repro
from tputriage.rendering import render

TITLE_LIMIT = 110
BODY_LIMIT = 65_536  # GitHub: "body is too long (maximum is 65536 characters)"
CPP_TRACE = "C++ error trace"
CELL = 300  # characters in a table's cell
_KNOWN = {
    "torch": "torch",
    "torch_tpu": "torch_tpu",
    "libtpu": "libtpu",
    "python": "Python",
    "tpu": "TPU",
    "tpu_generation": "TPU",
    "accelerator": "TPU",
    "suite_commit": "suite commit",
    "commit": "suite commit",
}


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of each piece a stage shows: characters, and numbers of rows."""

    traceback: int
    cpp: int
    source: int
    tests: int
    rows: int


STAGES = (
    Budget(traceback=20_000, cpp=12_000, source=24_000, tests=300, rows=60),
    Budget(traceback=12_000, cpp=6_000, source=20_000, tests=100, rows=40),
    Budget(traceback=6_000, cpp=2_000, source=12_000, tests=30, rows=20),
    Budget(traceback=2_000, cpp=0, source=8_000, tests=8, rows=8),
)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What all the small functions below need of one bucket."""

    dossier: Dossier
    policy: Policy
    cleaner: Cleaner
    failure: Failure  # of the representative
    repro: Repro | None


def draft_issue(
    dossier: Dossier, policy: Policy | None = None, *, former: Mark | None = None, fixed: str = ""
) -> tuple[str, str]:
    """(title, our section of the body); `former` is the mark that the issue has now, if it is there already."""
    facts = _facts(dossier, policy or Policy())
    mark = mark_of(dossier.bucket, former, seen=newest_failing(dossier), fixed=fixed)
    for budget in STAGES:
        body = render("issue.md.j2", _values(facts, mark, budget), facts.policy.templates).strip()
        body = re.sub(r"\n{3,}(?!`)", "\n\n", body) if "```" not in body else body
        if len(body) <= BODY_LIMIT:
            break
    else:
        body = f"{body[: BODY_LIMIT - len(END) - 2]}\n{END}"  # only a template of the user's own comes here
    return _title(facts), body


def _facts(dossier: Dossier, policy: Policy) -> _Facts:
    fastest = min(dossier.bucket.failures, key=lambda failure: failure.duration_s)
    texts = [text for failure in dossier.bucket.failures for text in (failure.text, failure.message)]
    return _Facts(dossier, policy, policy.cleaner.knowing(texts), fastest, dossier.repro)


def _title(facts: _Facts) -> str:
    values = {
        "subject": subject_of(facts.dossier),
        "happens": happens(facts.dossier),
        "condition": condition_words(facts.repro.condition if facts.repro else "", TITLE_LIMIT // 3),
        "message": _message(facts) if facts.dossier.bucket.signature.family != "missing-op" else "",
    }
    masked = {name: facts.cleaner.mask(value) for name, value in values.items()}
    return title(render("title.md.j2", masked, facts.policy.templates), TITLE_LIMIT)


def _message(facts: _Facts) -> str:
    """The first line of the message of the test shown, so that title and sample never disagree."""
    text = facts.repro.actual if facts.repro and facts.repro.actual else facts.failure.message
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    name = facts.failure.exception.rpartition(".")[2]
    return line.removeprefix(f"{name}: ") if name else line


def _values(facts: _Facts, mark: Mark, budget: Budget) -> Mapping[str, object]:
    repro, mask = facts.repro, facts.cleaner.mask
    traceback, cpp = _traces(facts)
    tests = _folded(facts)
    return {
        "mark": str(mark),
        "end": END,
        "fixed": prose(mark.fixed),
        "sentence": _sentence(facts),
        "emulated": only_emulated(facts.dossier, facts.policy),
        "version": prose(mask(_versions(facts).get(DEVICE_VERSION, ""))),
        "device": _device(facts),
        "source": fenced(shorten_middle(mask(repro.source), budget.source), "python") if repro and repro.source else "",
        "reliability": "{} of {} failed as wanted".format(*repro.reliability) if repro and repro.reliability[1] else "",
        "expected": _expected(facts),
        "actual": code(shorten(mask(_actual(facts)), CELL), cell=True),
        "condition": _capital(prose(mask(repro.condition))) if repro else "",
        "conditions": _rows(facts, repro.conditions if repro else (), budget),
        "cause": prose(mask(repro.cause_proven)) if repro else "",
        "traceback": fenced(shorten_middle(traceback, budget.traceback), "pytb") if traceback else "",
        "cpp": fenced(shorten_middle(cpp, budget.cpp)) if cpp and budget.cpp else "",
        "matrix": _rows(facts, _matrix(facts), budget),
        "versions": [(prose(_KNOWN.get(name, name)), code(mask(value), cell=True)) for name, value in _listed(facts)],
        "first": _sighting(facts, 0),
        "last": _sighting(facts, -1),
        "count": len(facts.dossier.bucket.tests),
        "tests": [(code(shorten(test, CELL)), variants) for test, variants in tests[: budget.tests]],
        "more": len(tests[budget.tests :]),
        "rerun": fenced(mask(rerun_command(facts.dossier.bucket.representative)), "sh"),
        "veto": facts.policy.veto_label,
    }


def _sentence(facts: _Facts) -> str:
    """Actual against expected, in one sentence."""
    mask, repro = facts.cleaner.mask, facts.repro
    what = f"{code(mask(subject_of(facts.dossier)))} {prose(mask(happens(facts.dossier)))} on {_device(facts)}"
    condition = condition_words(repro.condition if repro else "", CELL)
    where = f" {prose(mask(condition))}" if condition else ""
    return f"{what}{where}: {code(shorten(mask(_message(facts)), CELL))}. Expected, as on CPU: {_expected(facts)}."


def _expected(facts: _Facts) -> str:
    expected = facts.repro.expected.strip().rstrip(".") if facts.repro else ""
    return prose(shorten(facts.cleaner.mask(expected), CELL)) or "the same call passes"


def _actual(facts: _Facts) -> str:
    if facts.repro and facts.repro.actual:
        return facts.repro.actual
    return f"{facts.failure.exception}: {facts.failure.message}".removeprefix(": ")


def _device(facts: _Facts) -> str:
    return "TPU, emulated" if only_emulated(facts.dossier, facts.policy) else "TPU"


def _capital(sentence: str) -> str:
    sentence = sentence[:1].upper() + sentence[1:]
    return sentence if not sentence or sentence.endswith(".") else f"{sentence}."


def _traces(facts: _Facts) -> tuple[str, str]:
    """(Python's traceback, the C++ trace below it), masked."""
    whole = (facts.repro.traceback if facts.repro else "") or facts.failure.text or facts.failure.message
    python, found, cpp = whole.partition(CPP_TRACE)
    cpp = (facts.repro.cpp_trace if facts.repro else "") or (found + cpp)
    return facts.cleaner.mask(python).strip("\n"), facts.cleaner.mask(cpp).strip()


def _matrix(facts: _Facts) -> Iterable[tuple[str, str]]:
    verdict, repro = facts.dossier.verdict, facts.repro
    seen: dict[str, str] = dict(verdict.matrix) if verdict else {}
    seen |= {
        f"knob {name}": outcome for name, outcome in (verdict.knobs if verdict else {}).items() if name not in seen
    }
    seen |= {f"repro on {target}": outcome for target, outcome in (repro.targets if repro else {}).items()}
    return seen.items()


def _rows(facts: _Facts, rows: Iterable[tuple[str, str]], budget: Budget) -> list[tuple[str, str]]:
    shown = [
        (shorten(facts.cleaner.mask(name), CELL), shorten(facts.cleaner.mask(value), CELL)) for name, value in rows
    ]
    return [(code(name, cell=True), prose(value)) for name, value in shown[: budget.rows]]


def _versions(facts: _Facts) -> Mapping[str, str]:
    reported = facts.dossier.history[-1].versions if facts.dossier.history else {}
    return {**reported, **(facts.repro.versions if facts.repro else {})}


def _listed(facts: _Facts) -> list[tuple[str, str]]:
    versions = {name: value for name, value in _versions(facts).items() if value}
    order = list(_KNOWN)
    return sorted(versions.items(), key=lambda item: (order.index(item[0]) if item[0] in order else 99, item[0]))


def _sighting(facts: _Facts, index: int) -> str:
    history = facts.dossier.history
    return code(shorten(facts.cleaner.mask(history[index].place), CELL), cell=True) if history else "not recorded"


def _folded(facts: _Facts) -> list[tuple[str, int]]:
    """(test, number of its parametrized variants), in the bucket's order."""
    counts: dict[str, int] = {}
    for test_id in facts.dossier.bucket.tests:
        name = re.sub(r"^(.*?\.py(?:::[^\[]*)?)\[.*$", r"\1", test_id, flags=re.DOTALL)
        counts[name] = counts.get(name, 0) + 1
    single = {
        re.sub(r"^(.*?\.py(?:::[^\[]*)?)\[.*$", r"\1", test, flags=re.DOTALL): test
        for test in facts.dossier.bucket.tests
    }
    return [(facts.cleaner.mask(single[name] if count == 1 else name), count) for name, count in counts.items()]
