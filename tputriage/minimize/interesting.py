"""The oracle: a candidate counts only if it fails on the device as the bucket does, and passes on the reference.

Asked cheapest side first: does it parse, are its names bound, was it asked before, does it fail the same way on
the device, does it pass on the reference. A candidate that fails in another way is a finding, not waste.

"Any difference" is no oracle: measured, a reduction under it ends at a timeout or a typo. And for wrong numbers
a strong reducer finds the device's random stream or the device's name instead of the bug, so a candidate that
makes random numbers on the device or asks a tensor where it is does not count there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing

from tputriage.console import log
from tputriage.minimize.comparing import only_compares_the_device
from tputriage.minimize.likeness import Likeness
from tputriage.minimize.memory import Memory
from tputriage.minimize.names import draws_on_the_device, normal_form, tells_the_device, unbound_names
from tputriage.minimize.reducing.asking import SLACK_S, SLOWER
from tputriage.minimize.saying import run_script
from tputriage.model import Failure, Outcome, Run, Signature
from tputriage.signatures import sign
from tputriage.targets.runs import OTHER_SEEDS, run_of, run_once, script_job
from tputriage.targets.seam import Answer, Job, Runner

MOST_FINDINGS = 20
ASSERTION = "AssertionError"  # of a judgement on values
REPEATS = 3  # runs more, where a success must come again
LEAST_S = 1.0  # what a run gets however little of the budget is left


class Interesting:
    """Asks two runners and counts what it asked. Not safe for several threads.

    `deadline_s` are the seconds from now after which, and `max_runs` the executions on either target after
    which nothing is interesting any more: the caller keeps the best so far. `guard` says of a candidate that
    parses whether it may be asked at all. `asks` is how often a candidate that passes is asked again, where
    the failure is flaky: see `flakes`. `shown` is the failure of a script that has shown it already.
    """

    def __init__(
        self,
        wanted: Signature,
        device: Runner,
        reference: Runner,
        *,
        limit_s: float = 60.0,
        deadline_s: float | None = None,
        max_runs: int | None = None,
        guard: Callable[[str], bool] = lambda source: True,
        asks: int = 1,
        memory: Memory | None = None,
        shown: Failure | None = None,
    ) -> None:
        self.wanted = wanted
        self.device = device
        self.reference = reference
        self.limit_s = limit_s
        self.memory = memory or Memory()  # of what was answered before a run was interrupted
        self.runs = 0  # executions on either target
        self.findings: list[Failure] = []  # failures of another kind, one a signature
        self._guard = guard
        self._asks = asks
        self._ends = None if deadline_s is None else time.monotonic() + deadline_s
        self._max_runs = max_runs
        self._known: dict[str, bool] = {}  # by normal form
        self._met: set[str] = {wanted.key}
        self._pace_s: float | None = None  # seconds the last accepted candidate took on the device
        self.likeness = Likeness(wanted) if shown is None else Likeness(wanted).shown(shown)
        self._insists = False  # whether a success must come again
        self._begun = False  # whether anything was interesting yet, here or in the run that this one goes on with
        self._seeds_matter = wanted.exception == ASSERTION  # whether chance may pass for the bug

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent; from then on nothing is interesting."""
        late = self._ends is not None and time.monotonic() > self._ends
        return late or (self._max_runs is not None and self.runs >= self._max_runs)

    @property
    def workers(self) -> int:
        """How many candidates can be under way at once; of a flaky failure one, since it is asked for that often."""
        return self.device.target.slots if self._asks == 1 else 1

    def __call__(self, source: str, /) -> bool:
        return self.first([source]) is not None

    def first(self, sources: Sequence[str], /) -> int | None:
        """Index of the first interesting one, or None; free slots of the device try those behind it meanwhile."""
        keys = [self._key(source) for source in sources]
        self._remember(keys)
        todo = [place for place, key in enumerate(keys) if key and key not in self._known]
        log("oracle", "of %d candidates %d are worth a run and were not asked before", len(keys), len(todo))
        with closing(self._matching(sources, todo)) as matching:
            matched: dict[int, Run] = {}
            open_places = set(todo)
            for place, key in enumerate(keys):
                while place in open_places and (told := next(matching, None)) is not None:
                    open_places.discard(told[0])
                    if told[1] is not None:
                        matched[told[0]] = told[1]
                if key and self._verdict(key, sources[place], matched.get(place), place in open_places):
                    return place
        return None

    def holds(self, source: str, /) -> bool:
        """Whether it fails on the device as wanted in each of a few runs more, asked when the budget is spent too.

        Of a failure that is known to be flaky nobody asks that.
        """
        return self._asks > 1 or all(self._shows_again(source) for _ in range(REPEATS))

    def insist(self) -> None:
        """From now on what was interesting once must be so in some runs more."""
        self._insists = True
        self._known = {key: found for key, found in self._known.items() if not found}

    def _shows_again(self, source: str) -> bool:
        self.runs += 1
        run = run_script(source, self.device, self.limit_s)
        return run.failure is not None and self.likeness.holds(run.failure)

    def _remember(self, keys: Sequence[str]) -> None:
        for key in keys:
            told = self.memory.get(self._remembered(key)) if key and key not in self._known else None
            if told is not None:
                self._known[key] = told
                self._begun |= told

    def _remembered(self, key: str) -> str:
        return f"{self.wanted.key} {REPEATS if self._insists else ''}{key}"

    def _key(self, source: str) -> str:
        """The candidate's normal form; "" for one that is not worth a run."""
        key = normal_form(source)
        if key is None or unbound_names(source) or not self._guard(source):
            return ""
        if self.likeness.is_numeric and tells_the_device(source, self.device.target.device):
            return ""
        if only_compares_the_device(source):
            return ""
        return key

    def _verdict(self, key: str, source: str, matched: Run | None, unasked: bool) -> bool:
        if key not in self._known and not unasked:
            self._known[key] = matched is not None and self._passes(source, matched)
            if not self.exhausted:
                self.memory.keep(self._remembered(key), self._known[key])
        return self._known.get(key, False)

    def _matching(self, sources: Sequence[str], places: Sequence[int]) -> Generator[tuple[int, Run | None], None, None]:
        """(place, the run that failed on the device as wanted), in order of completion, each place once."""
        jobs = {place: self._job(sources[place], self.device) for place in places}
        by_id = {id(job): place for place, job in jobs.items()}
        left = {place: self._asks for place in places}

        def queue() -> Iterator[Job]:
            for _ in range(self._asks):
                yield from (jobs[place] for place in places if left[place] and self._counted())

        with closing(_closable(self.device.ask(queue()))) as answers:
            for answer in answers:
                place = by_id[id(answer.job)]
                run = run_of(answer, self.device.target)
                matched = self._is_wanted(run)
                left[place] = 0 if matched else left[place] - 1
                if not left[place]:
                    yield place, run if matched else None

    def _counted(self) -> bool:
        if self.exhausted:
            return False
        self.runs += 1
        return True

    def _job(self, source: str, runner: Runner) -> Job:
        pace_s = self.limit_s if self._pace_s is None else 2 * (SLOWER * self._pace_s + SLACK_S)
        return script_job(source, runner.target.device, limit_s=min(pace_s, self._most_s))

    @property
    def _most_s(self) -> float:
        """A run's limit: what is under way when the budget ends counts too, and nothing is believed of it then."""
        left_s = math.inf if self._ends is None else self._ends - time.monotonic()
        return min(self.limit_s, max(LEAST_S, left_s))

    def _is_wanted(self, run: Run) -> bool:
        if run.failure is None or run.outcome is Outcome.UNAVAILABLE:
            return False
        if not self.likeness.holds(run.failure):
            self._note(run.failure)
            return False
        return self._pace_s is None or run.seconds <= SLOWER * self._pace_s + SLACK_S

    def _note(self, failure: Failure) -> None:
        key = sign(failure).key
        fresh = key not in self._met and len(self.findings) < MOST_FINDINGS
        # A candidate's own slips (a name, an attribute that is gone) say nothing of the device.
        if fresh and failure.exception not in _SLIPS and failure.outcome is not Outcome.TIMEOUT:
            self._met.add(key)
            self.findings.append(failure)

    def _passes(self, source: str, here: Run) -> bool:
        """Whether the reference does what the device did not; only then is that run what later ones are known by."""
        if not self._counted():
            return False
        known = self.likeness
        if here.failure is not None:
            self.likeness = known.shown(here.failure)
        passed = self._run(source, self.reference).outcome.is_pass and not self._is_chance(source)
        passed = passed and (not self._insists or self.holds(source))
        if passed:
            self._pace_s, self._begun = here.seconds, True
        else:
            self.likeness = known
        return passed

    def _is_chance(self, source: str) -> bool:
        """Whether a script that draws on the device fails there, or passes here, for its seeds alone.

        Where the first script that was accepted does so too, seeds are a part of what fails.
        """
        if not self._seeds_matter or not draws_on_the_device(source):
            return False
        holds = all(self._matches_with(knobs, source) for knobs in OTHER_SEEDS)
        if not holds and not self._begun:
            self._seeds_matter = False
            return False
        return not holds

    def _matches_with(self, knobs: Mapping[str, str], source: str) -> bool:
        self.runs += 1
        there = self._run(source, self.reference, knobs)
        if not there.outcome.is_pass:
            return False
        self.runs += 1
        here = self._run(source, self.device, knobs)
        return here.failure is not None and self.likeness.holds(here.failure)

    def _run(self, source: str, runner: Runner, knobs: Mapping[str, str] | None = None) -> Run:
        return run_once(runner, script_job(source, runner.target.device, limit_s=self._most_s, knobs=knobs))


_SLIPS = frozenset(
    {"NameError", "UnboundLocalError", "AttributeError", "TypeError", "KeyError", "IndexError", "SystemExit",
     "ModuleNotFoundError", "ImportError", "SyntaxError", "IndentationError", "RecursionError", "ValueError"}
)  # fmt: skip


def _closable(answers: Iterator[Answer]) -> Generator[Answer, None, None]:
    """The iterator as a generator, so that leaving early ends what still runs."""
    yield from answers
