"""A bug that is a rule on the source, in place of devices."""

from dataclasses import replace

import pytest

from tputriage.config import Settings
from tputriage.errors import TargetError
from tputriage.minimize.names import normal_form, unbound_names
from tputriage.targets.catalogue import find_target
from tputriage.targets.seam import Answer, Ended, Target
from tputriage.targets.worker import Worker

THE_BUG = {"exception": "RuntimeError", "message": "operator 'aten::median' is not implemented for TPU"}


class Rule:
    """An oracle that says yes where `keep` does; counts what is worth a run."""

    def __init__(self, keep, most=100_000):
        self.keep, self.runs, self.most, self.known = keep, 0, most, {}

    @property
    def exhausted(self):
        return self.runs >= self.most

    def __call__(self, source):
        key = normal_form(source)
        if key is None or unbound_names(source):
            return False
        if key not in self.known:
            self.runs += 1
            self.known[key] = bool(self.keep(source))
        return self.known[key]

    def first(self, sources):
        return next((place for place, source in enumerate(sources) if self(source)), None)


class FakeRunner:
    """Answers script jobs by a rule: source -> None, a record's changes, or an Ended."""

    def __init__(self, device, rule, slots=1):
        self.target = Target(device, device, "python", slots=slots)
        self.rule, self.asked, self.limits = rule, [], []

    def ask(self, jobs):
        for job in jobs:
            self.asked.append(job.payload["source"])
            self.limits.append(job.limit_s)
            said = self.rule(job.payload["source"])
            if isinstance(said, Answer):
                yield replace(said, job=job)
            elif isinstance(said, Ended):
                yield Answer(job, said, {}, 0.1)
            else:
                yield Answer(job, Ended.DONE, a_value(said), 0.1)


def on_both(root, suite, preload=()):
    """(device, reference) with the suite's one file collected on the emulator and on CPU; skips where there is none."""
    (root / "test_suite.py").write_text(suite, "utf-8")
    try:
        targets = [find_target(name, Settings()) for name in ("emulator", "cpu")]
    except TargetError as exc:
        pytest.skip(str(exc))
    options = {"root": root, "files": [str(root / "test_suite.py")], "device_env": "SUITE_DEVICE", "preload": preload}
    with Worker(targets[0], **options) as device, Worker(targets[1], **options) as reference:
        yield device, reference


def a_value(said):
    record = {"test_id": "repro.py", "phase": "call", "outcome": "failed", "frames": [], "text": "", "causes": []}
    failures = [record | said] if said else []
    return {"outcome": "failed" if said else "passed", "failures": failures, "duration_s": 0.1}
