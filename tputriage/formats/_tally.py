"""What a format collects while it reads, and the Report made of it: the same notes for every format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tputriage.formats._source import Source
from tputriage.model import Failure, Frame, Outcome, Report

TEXT_BUDGET = 96 << 20  # characters of longrepr and captured output that one report may keep in full
SHORT_TEXT = 1_500
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_WORST = (Outcome.CRASH, Outcome.TIMEOUT, Outcome.ERROR, Outcome.FAILED)


@dataclass(slots=True)
class Tally:
    """Grows while a file is read. `lost` counts elements that were no readable test."""

    tests: dict[str, Outcome] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lost: int = 0
    _kept: int = 0
    _uncollected: int = 0
    _strange: int = 0
    _frames: dict[Frame, Frame] = field(default_factory=dict)

    def add(self, test_id: str, outcome: str, failures: Iterable[Failure]) -> None:
        """One test, or more of one: of two outcomes under one id the worse stays."""
        known = _OUTCOMES.get(outcome)
        own = [self._shared(failure) for failure in failures]
        if known is None:
            self._strange += 1
            known = Outcome.FAILED if own else Outcome.SKIPPED
        worst = _worst((known, *(failure.outcome for failure in own)), known)
        before = self.tests.get(test_id)
        self.tests[test_id] = worst if before is None else _worst((before, worst), worst)
        self.failures += own

    def add_quiet(self, test_id: str, outcome: str) -> None:
        """One test that did not fail, as most: the short way of `add`."""
        if test_id in self.tests:
            self.add(test_id, outcome, ())
        else:
            self.tests[test_id] = _OUTCOMES[outcome]

    def add_collection_error(self, failure: Failure) -> None:
        self._uncollected += 1
        self.failures.append(self._shared(failure))

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def report(self, source: Source, name: str, **known: object) -> Report:
        """The finished report; `known` are the Report's other fields, as far as the format tells them."""
        reruns = sum(outcome is Outcome.RERUN for outcome in self.tests.values())
        for count, sentence in (
            (self.lost, "entries that could not be read: {}"),
            (self._strange, "tests with an outcome that pytest does not know: {}"),
            (self._uncollected, "files or folders that could not be collected, so that their tests are missing: {}"),
            (reruns, "tests that passed only on a rerun, after a failure that this report does not keep: {}"),
        ):
            if count:
                self.note(sentence.format(count))
        base = Report(source.name, name, source.digest, self.tests, tuple(self.failures), notes=tuple(self.notes))
        changed: Report = replace(base, **known)  # type: ignore[arg-type]
        return changed if changed.outcomes else replace(changed, outcomes=count_outcomes(self.tests))

    def _shared(self, failure: Failure) -> Failure:
        """The failure with frames shared between failures, and short texts once the budget is spent."""
        frames = tuple(self._frames.setdefault(frame, frame) for frame in failure.frames)
        size = len(failure.text) + len(failure.captured) + len(failure.message)
        self._kept += size
        if self._kept <= TEXT_BUDGET:
            return replace(failure, frames=frames)
        self._kept -= size
        return replace(
            failure,
            frames=frames,
            text=_ends(failure.text),
            captured=failure.captured[-SHORT_TEXT:],
            message=_ends(failure.message),
        )


def _ends(text: str) -> str:
    half = SHORT_TEXT // 2
    return text if len(text) <= SHORT_TEXT else f"{text[:half]}\n…\n{text[-half:]}"


def _worst(outcomes: Iterable[Outcome], otherwise: Outcome) -> Outcome:
    present = set(outcomes)
    return next((outcome for outcome in _WORST if outcome in present), otherwise)


def count_outcomes(tests: Mapping[str, Outcome]) -> dict[str, int]:
    """How many tests ended how, by pytest's words."""
    counts: dict[str, int] = {}
    for outcome in tests.values():
        counts[outcome.value] = counts.get(outcome.value, 0) + 1
    return counts
