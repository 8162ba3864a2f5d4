"""A runner whose tests do what a rule says: the fake at the seam between the steps and what runs tests."""

import threading

from tests.helpers import a_failure
from tputriage.signatures import group
from tputriage.targets.seam import Answer, Ended, Target

PASSES = {"outcome": "passed", "failures": []}
SKIPS = {"outcome": "skipped", "failures": []}
CRASHES = Ended.CRASH
HANGS = Ended.TIMEOUT
IS_LOST = Ended.LOST
MISSING_OP = "operator 'aten::median' is not implemented for TPU. Please file a feature request"


def fails(message, exception="RuntimeError", *, path="tests/test_models.py", line=12, text="", phase="call"):
    record = {
        "test_id": "",
        "phase": phase,
        "outcome": "failed",
        "exception": exception,
        "message": message,
        "frames": [{"path": path, "line": line, "function": "test", "text": text}],
        "text": f"Traceback\n{exception}: {message}",
        "causes": [],
    }
    return {"outcome": "failed", "failures": [record]}


class Scripted:
    """`rule(test_id, job)` says what a run does: one of the values above, or what `fails` makes."""

    def __init__(self, name, rule, seconds=0.01):
        self.target = Target(name, "cpu" if name == "cpu" else "tpu", "python")
        self.rule = rule
        self.seconds = seconds
        self.jobs = []
        self._lock = threading.Lock()

    def ask(self, jobs):
        for job in jobs:
            with self._lock:
                self.jobs.append(job)
            said = self.rule(job.payload["test_id"], job)
            if isinstance(said, Ended):
                yield Answer(job, said, {}, job.limit_s if said is HANGS else self.seconds)
            else:
                records = [{**record, "test_id": job.payload["test_id"]} for record in said["failures"]]
                yield Answer(job, Ended.DONE, {**said, "failures": records}, self.seconds)


def bucket_of(*test_ids, message=MISSING_OP, **changes):
    """One bucket of failures that say the same."""
    (bucket,) = group([a_failure(test_id=test_id, message=message, **changes) for test_id in test_ids])
    return bucket
