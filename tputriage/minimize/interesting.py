"""The oracle: a candidate counts only if it fails on the device as the bucket does, and passes on the reference.

Asked cheapest side first: does it parse, are its names bound, was it asked before, does it fail the same way on
the device, does it pass on the reference. A candidate that fails in another way is a finding, not waste.

"Any difference" is no oracle: measured, a reduction under it ends at a timeout or a typo. And for wrong numbers
a strong reducer finds the device's random stream or the device's name instead of the bug, so there a candidate
that draws random numbers on the device or asks a tensor where it is does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tputriage.minimize.static import normal_form, tells_the_device
from tputriage.model import Failure, Outcome, Run, Signature
from tputriage.signatures import Kind, family_of, same_bug, sign
from tputriage.signatures.families import BY_NAME
from tputriage.targets import runs
from tputriage.targets.seam import Answer, Job, Runner

MOST_FINDINGS = 10
# A candidate's own mistakes: what a reducer breaks on the way, on any device.
MISTAKES = ("NameError", "SyntaxError", "IndentationError", "ImportError", "ModuleNotFoundError", "UnboundLocalError")
NO_FINDING = frozenset({Kind.INFRA, Kind.EMULATOR, Kind.SECONDARY, Kind.TIMEOUT})


@dataclass
class Interesting:
    """Asks two runners, and counts what it asked. One caller at a time."""

    wanted: Signature
    device: Runner
    reference: Runner
    limit_s: float = 60.0
    deadline: float | None = None  # time.monotonic() after which nothing more is asked
    max_runs: int | None = None
    also: Callable[[Failure], bool] | None = None  # what a road asks of a failure beyond the same signature
    runs: int = 0  # executions on either target
    findings: list[Failure] = field(default_factory=list)  # other failures of the device alone, one a signature
    _known: dict[str, bool] = field(default_factory=dict)
    _met: set[str] = field(default_factory=set)

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent; from then on nothing new is interesting."""
        late = self.deadline is not None and time.monotonic() > self.deadline
        return late or (self.max_runs is not None and self.runs >= self.max_runs)

    def __call__(self, source: str) -> bool:
        return self.first([source]) is not None

    def first(self, sources: Sequence[str]) -> int | None:
        """Index of the first interesting candidate, or None. Later ones are asked ahead on slots that are free."""
        keys = [normal_form(source) for source in sources]
        verdicts: list[bool | None] = [self._without_asking(*pair) for pair in zip(keys, sources, strict=True)]
        failing: dict[int, bool] = {}
        for place, failed in self._on_device(sources, [place for place, said in enumerate(verdicts) if said is None]):
            failing[place] = failed
            found = self._front(sources, keys, verdicts, failing)
            if found is not None:
                return found
        return self._front(sources, keys, verdicts, failing)

    def _without_asking(self, key: str | None, source: str) -> bool | None:
        if key is None:
            return False
        if BY_NAME[self.wanted.family].kind is Kind.NUMERIC and tells_the_device(source):
            return False
        return self._known.get(key)

    def _front(
        self,
        sources: Sequence[str],
        keys: Sequence[str | None],
        verdicts: list[bool | None],
        failing: dict[int, bool],
    ) -> int | None:
        """Decide candidates in their order as far as the device has answered; the first interesting one, or None."""
        for place, verdict in enumerate(verdicts):
            if verdict is None:
                if place not in failing:
                    return None
                verdict = failing[place] and self._passes_on_reference(sources[place])
                verdicts[place] = self._known[keys[place] or ""] = verdict
            if verdict:
                return place
        return None

    def _on_device(self, sources: Sequence[str], places: Sequence[int]) -> Iterator[tuple[int, bool]]:
        """(place, fails as wanted) in order of completion; stops asking when the budget is spent."""
        asked: list[tuple[int, Job]] = []

        def jobs() -> Iterator[Job]:
            for place in places:
                if self.exhausted:
                    return
                job = self._job(sources[place], self.device)
                asked.append((place, job))
                self.runs += 1
                yield job

        for answer in self.device.ask(jobs()):
            place = next(place for place, job in asked if job is answer.job)
            yield place, self._is_wanted(self._run(answer, self.device), sources[place])

    def _job(self, source: str, runner: Runner) -> Job:
        return runs.script_job(source, runner.target.device, limit_s=self.limit_s)

    def _run(self, answer: Answer, runner: Runner) -> Run:
        return runs.run_of(answer, runner.target)

    def _is_wanted(self, run: Run, source: str) -> bool:
        failure = run.failure
        if failure is None or not run.outcome.is_failure:
            return False
        if same_bug(self.wanted, failure):
            return self.also is None or self.also(failure)
        self._keep_finding(failure, source)
        return False

    def _keep_finding(self, failure: Failure, source: str) -> None:
        """Keep a failure of another kind, once, if the reference does not share it."""
        if failure.exception.rpartition(".")[2] in MISTAKES or family_of(failure).kind in NO_FINDING:
            return
        key = sign(failure).key
        if key in self._met or len(self._met) >= MOST_FINDINGS:
            return
        self._met.add(key)
        if self._passes_on_reference(source):
            self.findings.append(failure)

    def _passes_on_reference(self, source: str) -> bool:
        self.runs += 1
        answers = self.reference.ask([self._job(source, self.reference)])
        return all(self._run(answer, self.reference).outcome is Outcome.PASSED for answer in answers)
