"""The op road on what the reducer has left: when it is tried, and what it stops. On a faked device."""

import pytest

from tests.minimize.helpers import THE_BUG, FakeRunner
from tputriage.minimize.errand import Errand
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.shortcut import Shortcut
from tputriage.model import Failure, Outcome, Phase
from tputriage.signatures import sign
from tputriage.targets.seam import Answer, Ended

WANTED = sign(Failure("t", Phase.CALL, Outcome.FAILED, THE_BUG["exception"], THE_BUG["message"]))
LONG = "import torch\n" + "print(1, 2, 3)\n" * 20 + "torch.median(torch.ones(2))\n"
SHORT = "import torch\ntorch.median(torch.ones(2))\n"


class Listening(FakeRunner):
    """Runs scripts by the rule, and says of each that it is listened to that no call raised."""

    def __init__(self):
        super().__init__("tpu", lambda source: THE_BUG if "median" in source else None)
        self.heard = []

    def ask(self, jobs):
        for job in jobs:
            if job.kind == "script":
                yield from super().ask([job])
            else:
                self.heard.append((job.kind, job.payload.get("source")))
                yield Answer(job, Ended.CRASH, {}, 0.1)


@pytest.fixture
def tpu():
    return Listening()


@pytest.fixture
def shortcut(tpu):
    cpu = FakeRunner("cpu", lambda source: None)
    return Shortcut(Errand("t", WANTED, tpu, cpu, Interesting(WANTED, tpu, cpu)), LONG)


def test_a_script_of_half_the_size_is_listened_to(shortcut, tpu):
    assert shortcut(SHORT)
    assert {source for _, source in tpu.heard} == {SHORT}


def test_a_script_that_is_little_smaller_is_not(shortcut, tpu):
    assert shortcut(LONG.replace("print(1, 2, 3)\n", "", 1))
    assert tpu.heard == []


def test_a_script_that_does_not_fail_is_not(shortcut, tpu):
    assert not shortcut("import torch\ntorch.ones(2)\n")
    assert tpu.heard == []


def test_the_last_script_is_listened_to_once(shortcut, tpu):
    almost = LONG.replace("print(1, 2, 3)\n", "", 3)
    assert not shortcut.leads_from(almost)
    asked = len(tpu.heard)
    assert asked
    assert not shortcut.leads_from(almost)
    assert len(tpu.heard) == asked


def test_nothing_is_listened_to_when_the_budget_is_spent(tpu):
    cpu = FakeRunner("cpu", lambda source: None)
    shortcut = Shortcut(Errand("t", WANTED, tpu, cpu, Interesting(WANTED, tpu, cpu, max_runs=0)), LONG)
    assert not shortcut.leads_from(SHORT)
    assert tpu.heard == []


def test_without_a_call_the_reducer_goes_on(shortcut):
    assert shortcut(SHORT)
    assert not shortcut.exhausted
    assert shortcut.runs > 0
