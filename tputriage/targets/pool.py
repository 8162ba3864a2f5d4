"""Several workers as one `seam.Runner`: one a chip, or as many as the settings say, with the jobs spread over them.

Answers come in the order in which jobs end, whichever worker had them; jobs are taken from the caller one by one,
in its own thread, when a place is free. A worker is started when a job finds no place on those that run, so that
a single job starts one interpreter, and it starts in a thread of its own, so that the others go on meanwhile. One
that dies loses its own jobs and nobody else's; one that cannot be started hands its jobs to the others, and is an
error only where there are no others.

A test that needs several chips gets all of them: it waits until the others are idle, and runs alone on one more
worker that sees every chip. The settings name such tests, and those that say so themselves (several.py) are run
again.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tputriage.errors import TargetError
from tputriage.targets.chips import every_chip
from tputriage.targets.process import Closing, wait_for
from tputriage.targets.seam import Answer, Ended, Job, Target
from tputriage.targets.several import is_named, needs_several
from tputriage.targets.worker import Worker, memory_share

STARTING_S = 0.05  # how often a worker that starts is looked at
LEAVING_S = 10.0  # for a start to come to its end when nobody wants it any more


class _Lane:
    """A worker with the jobs that wait for it to start."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.error: TargetError | None = None
        self._parked: deque[Job] = deque()
        self._thread: threading.Thread | None = None

    @property
    def starting(self) -> bool:
        return self._thread is not None

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer of it."""
        return bool(self._parked) or self.worker.busy

    @property
    def free(self) -> int:
        return self.worker.free - len(self._parked)

    def begin(self, job: Job) -> None:
        """Send the job, or keep it until the worker has started."""
        if self.worker.process is not None:
            self.worker.begin(job)
            return
        self._parked.append(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._start, daemon=True)
            self._thread.start()

    def _start(self) -> None:
        try:
            self.worker.start()
        except TargetError as exc:
            self.error = exc

    def settle(self) -> list[Job]:
        """Where a start has come to its end, its jobs go off, or come back where it failed: `error` says why."""
        if self._thread is None or self._thread.is_alive():
            return []
        self._thread = None
        parked, self._parked = list(self._parked), deque()
        if self.error is not None:
            return parked
        for job in parked:
            self.worker.begin(job)
        return []

    def started(self) -> Worker:
        """The worker, running; raises TargetError where it does not start."""
        if self._thread is not None:
            self._thread.join()
        self.worker.start()
        return self.worker

    def cancel(self) -> None:
        self._parked.clear()
        self.worker.cancel()

    def close(self) -> None:
        if self._thread is not None:
            self.worker.abandon()
            self._thread.join(LEAVING_S)
        self.worker.close()


class Pool(Closing):
    """A `seam.Runner` over `target.workers` workers; the arguments are those of `worker.Worker`."""

    def __init__(
        self,
        target: Target,
        root: Path | None = None,
        files: Sequence[str] = (),
        *,
        several_chips: Sequence[str] = (),  # node ids, with * for anything, of tests that need several chips
        **options: Any,
    ) -> None:
        self._target = target
        self._several_chips = tuple(several_chips)
        options = {"memory_bytes": memory_share(target.slots), **options}
        self._make: Callable[..., Worker] = lambda **more: Worker(target, root, files, **{**options, **more})
        self._lanes = [_Lane(self._make()) for _ in range(max(1, target.workers))]
        self._whole: _Lane | None = None  # the worker that sees every chip
        self._together: deque[Job] = deque()  # jobs that need several chips
        self._returned: deque[Job] = deque()  # jobs whose worker could not be started
        self._told: deque[Answer] = deque()  # answers that no worker gave
        self._wide: set[str] = set()  # tests that turned out to need several chips
        self._others = ExitStack()  # chips that are no lane's, while all are in use together

    @property
    def target(self) -> Target:
        return self._target

    @property
    def versions(self) -> Mapping[str, str]:
        """Of python, torch, torch_tpu, …; starts a worker where none runs yet."""
        return self._any().versions

    @property
    def tests(self) -> tuple[str, ...]:
        """Node ids collected, in pytest's order; starts a worker where none runs yet."""
        return self._any().tests

    def _any(self) -> Worker:
        """A worker that runs, else one that starts, else the first."""
        return min(self._lanes, key=lambda lane: (lane.worker.process is None, not lane.starting)).started()

    def close(self) -> None:
        for lane in self._all():
            lane.close()
        self._others.close()

    def ask(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        """See `seam.Runner.ask`. Raises TargetError where no worker can be started."""
        source = iter(jobs)
        try:
            while True:
                self._deal(source)
                if not (self._together or self._told or any(lane.busy for lane in self._all())):
                    return
                yield from self._answers()
        finally:
            for queue in (self._together, self._returned, self._told):
                queue.clear()
            for lane in self._all():
                lane.cancel()

    def _all(self) -> list[_Lane]:
        return [*self._lanes, *([self._whole] if self._whole else [])]

    def _deal(self, source: Iterator[Job]) -> None:
        """Give out jobs while there are places; those that need several chips wait until all are idle."""
        while not (self._whole and self._whole.busy):
            if self._together:
                if not any(lane.busy or lane.starting for lane in self._lanes):
                    self._begin_together(self._together.popleft())
                return
            lane = self._place()
            job = (self._returned.popleft() if self._returned else next(source, None)) if lane else None
            if lane is None or job is None:
                return
            if self._needs_several(job):
                self._together.append(job)
            else:
                lane.begin(job)

    def _place(self) -> _Lane | None:
        """The lane for the next job: of those with a place one that runs, then one that starts, then a new one."""
        free = [lane for lane in self._lanes if lane.free > 0]
        free.sort(key=lambda lane: (lane.worker.process is None, not lane.starting, -lane.free))
        return free[0] if free else None

    def _answers(self) -> Iterator[Answer]:
        self._settle()
        while self._told:
            yield self._told.popleft()
        busy = [lane for lane in self._all() if lane.worker.busy]
        patience = [lane.worker.patience_s for lane in busy]
        if any(lane.starting for lane in self._all()):
            patience.append(STARTING_S)
        wait_for([lane.worker.process for lane in busy if lane.worker.process], min(patience, default=0.0))
        for lane in busy:
            for answer in lane.worker.answers():
                if lane is self._whole:
                    self._others.close()
                elif self._wants_more(answer):
                    continue
                yield answer

    def _settle(self) -> None:
        """Look at the workers that started: one that did not is out of use, and its jobs go to the others."""
        for lane in list(self._lanes):
            self._returned.extend(lane.settle())
            if lane.error is not None:
                self._lanes.remove(lane)
                if not self._lanes:
                    raise lane.error
        if self._whole:
            for job in self._whole.settle():
                self._give_up(job, self._whole.error)

    def _begin_together(self, job: Job) -> None:
        """On a worker that sees every chip, while all of them are ours and idle."""
        try:
            self._others.enter_context(every_chip(self._target.chips))
        except TargetError as exc:
            self._give_up(job, exc)
            return
        self._whole = self._whole or _Lane(self._make(own_chip=False, slots=1))
        self._whole.begin(job)

    def _give_up(self, job: Job, why: TargetError | None) -> None:
        self._others.close()
        self._whole = None
        self._told.append(Answer(job, Ended.LOST, {}, 0.0, None, f"it needs several chips, and {why}"))

    def _needs_several(self, job: Job) -> bool:
        test = str(job.payload.get("test_id", ""))
        named = test in self._wide or is_named(test, self._several_chips)
        return len(self._target.chips) > 1 and named

    def _wants_more(self, answer: Answer) -> bool:
        """Whether this job goes to all chips together; the test is known from then on."""
        if len(self._target.chips) < 2 or "test_id" not in answer.job.payload or not needs_several(answer):
            return False
        self._wide.add(answer.job.payload["test_id"])
        self._together.append(answer.job)
        return True
