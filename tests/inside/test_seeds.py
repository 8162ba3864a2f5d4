"""The knob that gives a script other seeds than it asks for."""

import pytest

from tputriage.config import Settings
from tputriage.model import Outcome
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

SCRIPT = """\
import torch
torch.manual_seed(1)
first = torch.rand(3)
torch.random.manual_seed({})
assert torch.equal(first, torch.rand(3))
"""


@pytest.fixture(scope="module")
def cpu():
    with Worker(find_target("cpu", Settings())) as worker:
        yield worker


def outcome(cpu, source, knobs):
    return runs.run_once(cpu, runs.script_job(source, "cpu", limit_s=30, knobs=knobs)).outcome


@pytest.mark.parametrize("knobs", [{}, *runs.OTHER_SEEDS])
def test_what_holds_for_any_seed_still_does(cpu, knobs):
    assert outcome(cpu, SCRIPT.format(1), knobs) is Outcome.PASSED
    assert outcome(cpu, SCRIPT.format(2), knobs) is Outcome.FAILED


def test_what_holds_for_one_seed_does_not(cpu):
    source = "import torch\ngenerator = torch.manual_seed(1)\nassert generator.initial_seed() == 1\n"
    assert outcome(cpu, source, {}) is Outcome.PASSED
    assert outcome(cpu, source, runs.OTHER_SEEDS[0]) is Outcome.FAILED
