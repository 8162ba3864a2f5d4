"""The oracle aimed more closely than a bucket's signature: at one failure that was captured.

The road knows the failure itself. Of a missing operator the overload counts too, since dropping an argument can
call another one; and a late error's cause has a signature of its own. Counts its runs with the oracle it is
made from, and stops when that one is spent.
"""

from __future__ import annotations

from tputriage.minimize.interesting import Interesting
from tputriage.model import Failure, Outcome, Run, Signature
from tputriage.signatures import same_bug
from tputriage.targets.runs import run_once, script_job
from tputriage.targets.seam import Runner


class Aimed:
    """Whether a script fails on the device like `failure`, and passes on the reference."""

    def __init__(self, oracle: Interesting, wanted: Signature, failure: Failure) -> None:
        self.wanted = wanted
        self._oracle = oracle
        self._operator = operator_in(failure)
        self.traces: dict[str, str] = {}  # traceback by script, of those that failed as wanted
        self._known: dict[str, bool] = {}

    def __call__(self, source: str, /) -> bool:
        if source not in self._known:
            question = f"{self.wanted.key} {self._operator}\n{source}"
            told = self._oracle.memory.get(question)
            if told is None:
                if self._oracle.exhausted:
                    return False
                told = self._fails(source) and self._passes(source)
                self._oracle.memory.keep(question, told)
            self._known[source] = told
        return self._known[source]

    def run(self, source: str, runner: Runner) -> Run:
        self._oracle.runs += 1
        job = script_job(source, runner.target.device, limit_s=self._oracle.limit_s)
        return run_once(runner, job)

    def _fails(self, source: str) -> bool:
        failure = self.run(source, self._oracle.device).failure
        if failure is None or not same_bug(self.wanted, failure) or operator_in(failure) != self._operator:
            return False
        self.traces[source] = failure.text
        return True

    def _passes(self, source: str) -> bool:
        return self.run(source, self._oracle.reference).outcome is Outcome.PASSED


def operator_in(failure: Failure) -> str:
    """The operator that a message names, with its overload: `aten::median.dim_values`; "" where none is named."""
    return failure.message.partition("operator '")[2].partition("'")[0]
