"""An issue's title and body, from what is known of a bucket. The wording is in templates/, the facts are here.

Every piece of quoted text is masked first (masks.py), cut to its budget, and then made inert (clean.py), in this
order: a cut after quoting could take a fence's end away. Where the body is over GitHub's limit, the next stage
of `STAGES` renders it anew from smaller pieces.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tputriage.issues.clean import code, fenced, prose, shorten, shorten_middle, title
from tputriage.issues.gates import newest_failing, only_emulated
from tputriage.issues.marker import END, Mark, mark_of
from tputriage.issues.masks import Cleaner
from tputriage.issues.phrases import condition_words, ends, expected_words, happens, rerun_command, subject_of
from tputriage.issues.policy import DEVICE_VERSION, Policy
from tputriage.issues.traces import last_error, split_traces, tidy
from tputriage.model import Dossier, Failure, Repro
from tputriage.rendering import render
from tputriage.signatures import unstamped

TITLE_LIMIT = 110
BODY_LIMIT = 65_536  # GitHub: "body is too long (maximum is 65536 characters)"
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
    # Masked once, as masking a message of 300 kB takes a second, and whole, as a cut could hide half a secret.
    message: str
    actual: str
    traces: tuple[str, str]  # Python's, and the C++ trace below it


def draft_issue(
    dossier: Dossier, policy: Policy | None = None, *, former: Mark | None = None, fixed: str = ""
) -> tuple[str, str]:
    """(title, our section of the body); `former` is the mark that the issue has now, if it is there already."""
    facts = _facts(dossier, policy or Policy())
    mark = mark_of(dossier.bucket, former, seen=newest_failing(dossier), fixed=fixed)
    for budget in STAGES:
        body = render("issue.md.j2", _values(facts, mark, budget), facts.policy.templates).strip()
        if len(body) <= BODY_LIMIT:
            break
    else:
        body = f"{body[: BODY_LIMIT - len(END) - 2]}\n{END}"  # only a template of the user's own comes here
    return _title(facts), body


def _facts(dossier: Dossier, policy: Policy) -> _Facts:
    failure = min(dossier.bucket.failures, key=lambda item: item.duration_s)
    cleaner = policy.cleaner.knowing(f"{item.text}\n{item.message}" for item in dossier.bucket.failures)
    actual = unstamped(cleaner.mask(_actual(dossier, failure)))
    traces = _traces(dossier, failure, cleaner)
    return _Facts(dossier, policy, cleaner, failure, dossier.repro, _message(actual, failure), actual, traces)


def _actual(dossier: Dossier, failure: Failure) -> str:
    """What the traceback shown ends with, so that title, sentence and sample never disagree."""
    repro = dossier.repro
    if repro and (repro.actual or repro.traceback):
        shown = last_error(split_traces(repro.traceback)[0], dossier.bucket.signature.exception)
        return shown or repro.actual
    return f"{failure.exception}: {failure.message}".removeprefix(": ")


def _message(actual: str, failure: Failure) -> str:
    """The first line of the message, without its exception's name."""
    line = next((line.strip() for line in actual.splitlines() if line.strip()), "")
    return line.removeprefix(f"{failure.exception}: ").removeprefix(f"{failure.exception.rpartition('.')[2]}: ")


def _traces(dossier: Dossier, failure: Failure, cleaner: Cleaner) -> tuple[str, str]:
    whole = (dossier.repro.traceback if dossier.repro else "") or failure.text or failure.message
    python, cpp = split_traces(cleaner.mask(tidy(whole)))
    return python, (cleaner.mask(dossier.repro.cpp_trace).strip() if dossier.repro else "") or cpp


def _title(facts: _Facts) -> str:
    values = {
        "subject": subject_of(facts.dossier),
        "happens": happens(facts.dossier),
        "condition": condition_words(facts.repro.condition if facts.repro else "", TITLE_LIMIT // 3),
        "message": shorten(facts.message, CELL) if facts.dossier.bucket.signature.family != "missing-op" else "",
    }
    masked = {name: facts.cleaner.mask(value) for name, value in values.items()}
    return title(render("title.md.j2", masked, facts.policy.templates), TITLE_LIMIT)


def _values(facts: _Facts, mark: Mark, budget: Budget) -> Mapping[str, object]:
    repro, mask = facts.repro, facts.cleaner.mask
    traceback, cpp = facts.traces
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
        "ends": ends(facts.dossier),
        "reliability": "{} of {} failed as shown".format(*repro.reliability) if repro and repro.reliability[1] else "",
        "expected": _expected(facts),
        "actual": code(shorten(facts.actual, CELL), cell=True),
        "condition": _capital(prose(shorten(mask(repro.condition), CELL))) if repro else "",
        "conditions": _rows(facts, repro.conditions if repro else (), budget),
        "cause": prose(shorten(mask(repro.cause_proven), CELL)) if repro else "",
        "traceback": fenced(shorten_middle(traceback, budget.traceback), "pytb") if traceback else "",
        "cpp": fenced(shorten_middle(cpp, budget.cpp)) if cpp and budget.cpp else "",
        "matrix": _rows(facts, _matrix(facts), budget),
        "versions": [(prose(_KNOWN.get(name, name)), code(mask(value), cell=True)) for name, value in _listed(facts)],
        "first": _sighting(facts, 0),
        "last": _sighting(facts, -1),
        "count": len(facts.dossier.bucket.tests),
        "tests": [(code(_cell(facts, test)), count) for test, count in tests[: budget.tests]],
        "more": len(tests[budget.tests :]),
        "rerun": fenced(_rerun(facts), "sh"),
        "veto": facts.policy.veto_label,
    }


def _sentence(facts: _Facts) -> str:
    """Actual against expected, in one or two short sentences."""
    mask, dossier = facts.cleaner.mask, facts.dossier
    what = f"{code(_cell(facts, subject_of(dossier)))} {prose(mask(happens(dossier)))}"
    called = facts.repro.operator if facts.repro else ""
    expected = f"On CPU it {_expected(facts)}."
    if dossier.bucket.signature.family == "missing-op":
        return f"{what}; {code(_cell(facts, called))} needs it. {expected}" if called else f"{what}. {expected}"
    condition = condition_words(facts.repro.condition if facts.repro else "", CELL)
    where = f" {prose(mask(condition))}" if condition else ""
    return f"{what} on TPU{where}: {code(shorten(facts.message, CELL))}. {expected}"


def _expected(facts: _Facts) -> str:
    return prose(_cell(facts, expected_words(facts.repro.expected if facts.repro else "")))


def _device(facts: _Facts) -> str:
    return "TPU, emulated" if only_emulated(facts.dossier, facts.policy) else "TPU"


def _capital(sentence: str) -> str:
    sentence = sentence[:1].upper() + sentence[1:]
    return sentence if not sentence or sentence.endswith(".") else f"{sentence}."


def _matrix(facts: _Facts) -> Iterable[tuple[str, str]]:
    verdict, repro = facts.dossier.verdict, facts.repro
    seen: dict[str, str] = dict(verdict.matrix) if verdict else {}
    settings: dict[str, list[str]] = {}  # those with the same outcome share a row
    for name, outcome in (verdict.knobs if verdict else {}).items():
        if name not in seen:
            settings.setdefault(outcome, []).append(facts.policy.settings.get(name, name))
    seen |= {f"with {', or '.join(names)}": outcome for outcome, names in settings.items()}
    seen |= {f"repro on {target}": outcome for target, outcome in (repro.targets if repro else {}).items()}
    return seen.items()


def _rows(facts: _Facts, rows: Iterable[tuple[str, str]], budget: Budget) -> list[tuple[str, str]]:
    shown = [(_cell(facts, name), _cell(facts, value)) for name, value in itertools.islice(rows, budget.rows)]
    return [(code(name, cell=True), prose(value)) for name, value in shown]


def _cell(facts: _Facts, text: str) -> str:
    """Cut twice: roughly, between words, so that masking is quick and no half secret is left, and then to size."""
    rough = text if len(text) <= 10 * CELL else f"{text[: 10 * CELL].rpartition(' ')[0]} …"
    return shorten(facts.cleaner.mask(rough), CELL)


def _rerun(facts: _Facts) -> str:
    """As it was run here, where that is known: it names the suite's device switch, too."""
    runs = facts.dossier.verdict.runs if facts.dossier.verdict else ()
    known = next((run.command for run in runs if run.command and run.outcome.is_failure), "")
    return facts.cleaner.mask(known) or rerun_command(facts.cleaner.mask(facts.dossier.bucket.representative))


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
    """(test, number of its parametrized variants), in the bucket's order; one that is alone keeps its parameters."""
    variants: dict[str, list[str]] = {}
    for test_id in facts.dossier.bucket.tests:
        name = re.sub(r"^(.*?\.py(?:::[^\[]*)?)\[.*$", r"\1", test_id, flags=re.DOTALL)
        variants.setdefault(name, []).append(test_id)
    return [(tests[0] if len(tests) == 1 else name, len(tests)) for name, tests in variants.items()]
