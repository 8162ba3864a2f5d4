"""The compile road: tests that fail only under torch.compile, through real workers."""

from dataclasses import replace

import pytest

from tests.minimize.helpers import on_both
from tputriage.minimize.compile_road import Seen, Uncompiled, compile_seen, needs_compile, take_compile_road
from tputriage.minimize.errand import Errand
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.measure import code_lines, third_party_imports
from tputriage.model import Failure, Frame, Outcome, Phase
from tputriage.signatures import sign
from tputriage.targets import runs
from tputriage.targets.seam import Answer, Ended, Job, Target

SUITE = """
import os

import torch
import torch.nn.functional as F

DEVICE = os.environ.get("SUITE_DEVICE", "cpu")


class Solver(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        factors, pivots = torch.linalg.lu_factor(torch.eye(size) * 3 + 1)
        self.register_buffer("factors", factors)
        self.register_buffer("pivots", pivots)
        self.project = torch.nn.Linear(size, size)

    def forward(self, x):
        hidden = F.gelu(self.project(x))
        return F.softmax(torch.linalg.lu_solve(self.factors, self.pivots, hidden.T), dim=0)


def test_solver():
    model = torch.compile(Solver(4).to(DEVICE))
    with torch.no_grad():
        model(torch.randn(3, 4, device=DEVICE))
"""
FAILURE = Failure("t.py::t", Phase.CALL, Outcome.FAILED, "RuntimeError", "no such kernel")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    compiler = ["import torch._dynamo", "import torch._inductor.compile_fx"]  # seconds: once, and not in each run
    yield from on_both(tmp_path_factory.mktemp("suite"), SUITE, compiler)


@pytest.mark.emulator
def test_a_model_that_fails_compiled_becomes_a_function_of_one_call(pair):
    device, reference = pair
    test = "test_suite.py::test_solver"
    failure = runs.run_of(next(iter(device.ask([runs.test_job(test, limit_s=60.0)]))), device.target).failure
    wanted = sign(failure)
    assert compile_seen([failure], {}) is Seen.PERHAPS
    assert needs_compile(test, wanted, device, 60.0)
    oracle = Interesting(wanted, device, reference, limit_s=60.0)
    draft = take_compile_road(Errand(test, wanted, device, reference, oracle, limit_s=60.0), explain=False).draft
    assert draft.source.partition('"tpu"\n\n\n')[2] == (
        "@torch.compile\ndef f(LU, pivots, B):\n    return torch.linalg.lu_solve(LU, pivots, B)\n\n\n"
        "LU = torch.ones(2, 2, device=device)\n"
        "pivots = torch.tensor([1, 2], dtype=torch.int32, device=device)\n"
        "B = torch.ones(2, 2, device=device)\n"
        "f(LU, pivots, B)\n"
    )
    assert (code_lines(draft.source), third_party_imports(draft.source)) == (10, ("torch",))
    assert draft.operator == "torch.linalg.lu_solve under torch.compile"
    assert draft.condition == "fails under torch.compile, passes eagerly"


def test_a_failure_that_is_gone_without_compiling_needs_it():
    assert compile_seen([FAILURE], {"no-compile": "passes"}) is Seen.NEEDED


def test_a_failure_whose_frames_are_dynamos_perhaps_needs_it():
    inside = replace(FAILURE, frames=(Frame("/lib/torch/_dynamo/eval_frame.py", 1),))
    assert compile_seen([inside], {}) is Seen.PERHAPS


def test_any_other_failure_costs_no_run():
    assert compile_seen([FAILURE], {"no-compile": "fails alike"}) is Seen.NO


class Outcomes:
    """A device on which every test ends in one way."""

    target = Target("emulator", "tpu", "python")

    def __init__(self, outcome, failure=None):
        self.value = {"outcome": outcome, "failures": [failure] if failure else [], "duration_s": 0.1}

    def ask(self, jobs):
        yield from (Answer(job, Ended.DONE, self.value, 0.1) for job in jobs)


def record(message, outcome="failed"):
    known = {"test_id": "t.py::t", "phase": "call", "frames": [], "text": "", "causes": []}
    return known | {"outcome": outcome, "exception": "RuntimeError", "message": message}


@pytest.mark.parametrize(
    ("device", "needed"),
    [
        (Outcomes("passed"), True),
        (Outcomes("failed", record("no such kernel")), False),
        (Outcomes("failed", record("another cause of another kind")), True),
        (Outcomes("unavailable", record("no such test", "unavailable")), False),
    ],
)
def test_compiling_is_needed_where_the_failure_is_gone_without(device, needed):
    assert needs_compile("t.py::t", sign(FAILURE), device, 60.0) is needed


class Listener:
    """Answers with the environment that it was given."""

    target = None

    def ask(self, jobs):
        for job in jobs:
            yield Answer(job, Ended.DONE, dict(job.env), 0.1)


def test_a_runner_without_compiling_answers_the_jobs_it_was_asked():
    jobs = [Job("script", {}, env={"A": "1"}), Job("script", {})]
    answers = list(Uncompiled(Listener()).ask(jobs))
    assert [answer.job for answer in answers] == jobs
    assert answers[0].value == {"A": "1", "TORCH_COMPILE_DISABLE": "1"}
