"""The oracle counts what fails on the device as wanted and passes on the reference, and asks as little as it can."""

import time

import pytest

from tests.helpers import a_failure
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.static import normal_form, tells_the_device
from tputriage.signatures import sign
from tputriage.targets.seam import Answer, Ended, Target

WANTED = "operator 'aten::median' is not implemented for TPU. Please file a feature request"


class Fake:
    """A target on which a script's fate is a rule of its text: None passes, else the message it fails with."""

    def __init__(self, name, rule, slots=2):
        self.target = Target(name, name, "python", slots=slots)
        self.rule = rule
        self.asked = []

    def ask(self, jobs):
        for job in jobs:
            source = job.payload["source"]
            self.asked.append(source)
            yield Answer(job, Ended.DONE, self._value(self.rule(source)), 0.1)

    def _value(self, message):
        if message is None:
            return {"outcome": "passed", "failures": []}
        kind, _, text = message.partition(": ")
        record = {"test_id": "", "phase": "call", "outcome": "failed", "exception": kind, "message": text}
        return {"outcome": "failed", "failures": [record | {"frames": [], "text": "", "causes": []}]}


def oracle(device, reference=lambda source: None, **options):
    wanted = sign(a_failure(message=WANTED))
    return Interesting(wanted, Fake("tpu", device), Fake("cpu", reference), **options)


def fails_with_median(source):
    return f"RuntimeError: {WANTED}" if "median" in source else None


def test_it_must_fail_on_the_device_and_pass_on_the_reference():
    assert oracle(fails_with_median)("print('median')")
    assert not oracle(fails_with_median, fails_with_median)("print('median')")


def test_another_failure_is_not_the_bug_but_a_finding():
    ask = oracle(lambda source: "RuntimeError: operator 'aten::frexp' is not implemented for TPU")
    assert not ask("x = 1")
    assert [failure.exception for failure in ask.findings] == ["RuntimeError"]


def test_a_finding_that_the_reference_shares_is_none():
    ask = oracle(lambda source: "RuntimeError: boom", lambda source: "RuntimeError: boom")
    ask("x = 1")
    assert ask.findings == []


@pytest.mark.parametrize("source", ["median(", "median(undefined)", "def f(:\n  pass"])
def test_what_cannot_run_is_not_asked(source):
    ask = oracle(fails_with_median)
    assert not ask(source)
    assert ask.runs == 0


def test_the_same_program_in_another_layout_is_not_asked_twice():
    ask = oracle(fails_with_median)
    assert ask("x = 'median'")
    assert ask("x  =  'median'  # the same\n")
    assert ask.runs == 2


def test_the_reference_is_asked_only_on_a_match():
    ask = oracle(fails_with_median)
    ask.first(["x = 1", "x = 2", "x = 'median'"])
    assert ask.reference.asked == ["x = 'median'"]


def test_the_first_in_order_wins():
    ask = oracle(fails_with_median)
    assert ask.first(["x = 1", "x = 'median'", "y = 'median'"]) == 1
    assert "y = 'median'" not in ask.reference.asked


def test_nothing_is_asked_once_the_budget_is_spent():
    ask = oracle(fails_with_median, max_runs=1)
    assert not ask("x = 1")
    assert ask.exhausted
    assert not ask("x = 'median'")
    assert oracle(fails_with_median, deadline=time.monotonic() - 1).first(["x = 'median'"]) is None


def test_a_spent_budget_is_not_remembered_as_a_no():
    ask = oracle(fails_with_median, max_runs=0)
    assert not ask("x = 'median'")
    ask.max_runs = None
    assert ask("x = 'median'")


@pytest.mark.parametrize(
    "source",
    [
        "assert x.is_cpu",
        "assert x.device.type == 'cpu'",
        "torch.rand(2, device=device)",
        "torch.empty_like(x)",
        "x.normal_()",
    ],
)
def test_a_program_that_differs_by_its_device_alone_is_told(source):
    assert tells_the_device(source)


@pytest.mark.parametrize("source", ["torch.rand(2).to(device)", "torch.topk(x.to(device), 2)", "rand = torch.ones(2)"])
def test_a_program_that_draws_on_cpu_is_fine(source):
    assert not tells_the_device(source)


def test_a_name_bound_in_any_scope_is_bound():
    assert normal_form("def f(a, *, b):\n    return [a for c in b if c]\nimport os.path\nos\n") is not None
    assert normal_form("try:\n    pass\nexcept ValueError as exc:\n    exc\n") is not None
    assert normal_form("f(a)") is None
