"""The test road: on a faked device, and once on the real torch_tpu."""

from pathlib import Path

import pytest

from tests.minimize.helpers import THE_BUG, FakeRunner
from tputriage.config import Settings
from tputriage.errors import TargetError
from tputriage.minimize.errand import Errand
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.measure import code_lines
from tputriage.minimize.saying import said_by
from tputriage.minimize.test_road import take_test_road
from tputriage.model import Failure, Frame, Level, Outcome, Phase
from tputriage.signatures import sign
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.seam import Answer, Ended
from tputriage.targets.worker import Worker

SUITE = Path(__file__).parents[2] / "fixtures" / "minisuite"
WANTED = sign(Failure("t", Phase.CALL, Outcome.FAILED, THE_BUG["exception"], THE_BUG["message"]))
OTHER = {"exception": "KeyError", "message": "'a'"}
TEST = """import torch

def helper(x):
    return x + 1

def test_x():
    helper(2)
    torch.median(torch.ones(2))
"""


class Described(FakeRunner):
    """Tells of one test, runs scripts by the rule, and leaves traces to fail."""

    def __init__(self, device, rule, about):
        super().__init__(device, rule)
        self.about = about

    def ask(self, jobs):
        for job in jobs:
            if job.kind == "describe":
                yield Answer(job, Ended.DONE, self.about, 0.1)
            elif job.kind == "script":
                yield from super().ask([job])
            else:
                yield Answer(job, Ended.CRASH, {}, 0.1)


def a_road(tmp_path, device, reference=lambda source: None, about=None, better=None):
    better = [] if better is None else better
    path = tmp_path / "test_x.py"
    path.write_text(TEST)
    plain = {
        "file": str(path),
        "class": "",
        "class_file": "",
        "function": "test_x",
        "line": 0,
        "unittest": False,
        "coroutine": False,
        "asynchronous": False,
        "setups": [],
        "setup_takes_method": False,
    }
    plain |= {"arguments": [], "params": {}, "unwritten": {}, "fixtures": []}
    plain |= {
        "module_file": str(path),
        "class_made": None,
        "switch": "",
        "modules": {str(path): {"name": "test_x", "devices": {}}},
    }
    tpu, cpu = Described("tpu", device, about or plain), FakeRunner("cpu", reference)
    oracle = Interesting(WANTED, tpu, cpu)
    return take_test_road(Errand("test_x.py::test_x", WANTED, tpu, cpu, oracle, on_better=better.append))


def test_a_test_ends_as_a_small_script(tmp_path):
    road = a_road(tmp_path, lambda source: THE_BUG if "torch.median(" in source else None)
    assert road.draft.level is Level.TEST
    assert "helper" not in road.draft.source


def test_each_better_script_runs_without_an_argument(tmp_path):
    better = []
    told = lambda source: "torch.median(" in source and "sys.argv[1]" in source  # noqa: E731
    a_road(tmp_path, lambda source: THE_BUG if told(source) else None, better=better)
    assert len(better) > 1
    assert all("if len(sys.argv) > 1 else" in source for source in better)


def test_the_draft_says_what_happens(tmp_path):
    road = a_road(tmp_path, lambda source: THE_BUG if "torch.median(" in source else None)
    assert road.draft.actual == "RuntimeError: operator 'aten::median' is not implemented for TPU"


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("no\nTraceback", "RuntimeError: no"),
        ("", "RuntimeError: f()"),
        ("-- Process 0 ended with the following error:\nTraceback\nKeyError: 'a'", "RuntimeError: KeyError: 'a'"),
    ],
)
def test_a_failure_is_said_in_one_line(message, line):
    frames = (Frame("repro.py", 1, "<module>", "f()"),)
    assert said_by(Failure("t", Phase.CALL, Outcome.FAILED, "RuntimeError", message, frames=frames)) == line


@pytest.mark.parametrize(
    ("device", "reference", "about", "words"),
    [
        (lambda source: None, lambda source: None, None, "passes on tpu"),
        (lambda source: THE_BUG, lambda source: THE_BUG, None, "fails on cpu too"),
        (
            lambda source: {"exception": "KeyError", "message": "'a'"},
            lambda source: None,
            None,
            "in another way: KeyError",
        ),
        (lambda source: THE_BUG, lambda source: None, {"reason": "no test is called so"}, "no test is called so"),
    ],
)
def test_what_stood_in_the_way_is_said(tmp_path, device, reference, about, words):
    road = a_road(tmp_path, device, reference, about)
    assert road.draft is None
    assert words in road.reason


@pytest.mark.emulator
def test_on_torch_tpu_a_test_of_the_fixture_suite_ends_in_six_lines():
    try:
        target = find_target("emulator", Settings())
    except TargetError as exc:
        pytest.skip(str(exc))
    test_id = "tests/test_training.py::test_weights_can_be_swapped"
    files = [str(SUITE / "tests" / "test_training.py")]
    device = Worker(target, SUITE, files=files, device_env="MINISUITE_TEST_DEVICE")
    with device, Worker(find_target("cpu", Settings())) as reference:
        run = runs.run_of(next(iter(device.ask([runs.test_job(test_id, limit_s=60)]))), target)
        oracle = Interesting(sign(run.failure), device, reference, limit_s=60, deadline_s=120)
        road = take_test_road(Errand(test_id, oracle.wanted, device, reference, oracle, limit_s=60))
    assert code_lines(road.draft.source) <= 6
    assert "Attempted to call `variable.set_data(tensor)`" in road.draft.actual
    # What the reducer left of the test shows the call, and the test itself that the call is the cause.
    assert road.draft.level is Level.OP
    assert "`x.data = y` done on CPU" in road.draft.cause_proven
