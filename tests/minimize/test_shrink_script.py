"""A script of one's own, through real workers."""

from collections import Counter

import pytest

from tests.minimize.helpers import THE_BUG, FakeRunner
from tputriage.config import Settings
from tputriage.errors import InputError, TriageError
from tputriage.minimize.shrink_script import shrink_script
from tputriage.minimize.tidying import tidy
from tputriage.targets.catalogue import find_target
from tputriage.targets.seam import Answer, Ended
from tputriage.targets.worker import Worker

SCRIPT = '''\
"""What stands around a median."""
import torch


class Tester:
    sizes = [2, 8]

    def inputs(self):
        return torch.rand(self.sizes).to("tpu")

    def check(self):
        values = self.inputs()
        assert scale(values).shape == ()


def scale(values, eps=1e-6):
    flat = values.reshape(-1)
    middle = torch.median(flat)
    return middle + eps


if __name__ == "__main__":
    for name in ["inputs", "check"]:
        getattr(Tester(), name)()
    print("OK")
'''


@pytest.mark.emulator
def test_a_script_shrinks_to_the_call_that_fails():
    with (
        Worker(find_target("emulator", Settings())) as device,
        Worker(find_target("cpu", Settings())) as reference,
    ):
        shrunk = shrink_script(SCRIPT, device, reference, limit_s=60, budget_s=120)
    assert "torch.median" in shrunk.source
    assert shrunk.tokens < 50
    assert shrunk.runs < 80


class Unwatched(FakeRunner):
    """Its runs cannot be traced."""

    def ask(self, jobs):
        for job in jobs:
            yield from [Answer(job, Ended.LOST, {}, 0.1)] if job.kind == "watch" else super().ask([job])


def test_where_the_way_goes_back_from_a_race_so_does_the_best_so_far():
    asked, better = Counter(), []

    def on_device(source):
        """Without `steady` it fails the first time that it is asked."""
        asked[source] += 1
        return THE_BUG if "fail(" in source and ("steady" in source or asked[source] == 1) else None

    device, reference = Unwatched("tpu", on_device), FakeRunner("cpu", lambda source: None)
    script = 'from a import fail\nother = fail\nother(2)\nsteady = fail\nsteady(1)\nfail("tpu")\n'
    shrunk = shrink_script(script, device, reference, limit_s=1, budget_s=60, on_better=better.append)
    race = max(place for place, one in enumerate(better) if "steady" not in one)
    assert better[race + 1] in (script, *better[:race])
    assert tidy(better[-1]) == shrunk.source


def test_a_script_that_does_not_fail_is_refused():
    device, reference = (FakeRunner(name, lambda source: None) for name in ("tpu", "cpu"))
    with pytest.raises(TriageError, match="does not fail on tpu"):
        shrink_script(SCRIPT, device, reference, limit_s=1, budget_s=1)


def test_a_script_that_fails_everywhere_is_refused():
    device, reference = (FakeRunner(name, lambda source: THE_BUG) for name in ("tpu", "cpu"))
    with pytest.raises(TriageError, match="fails on cpu too"):
        shrink_script(SCRIPT, device, reference, limit_s=1, budget_s=1)


def test_a_script_that_does_not_parse_its_device_is_told_how_it_is_run():
    left = {"exception": "SystemExit", "message": "the script left with code 2"}
    device, reference = (FakeRunner(name, lambda source: left) for name in ("tpu", "cpu"))
    with pytest.raises(TriageError, match="its device as its only argument"):
        shrink_script('f("tpu")\nparser.parse_args()\n', device, reference, limit_s=1, budget_s=1)


def test_a_script_without_a_device_is_refused():
    device, reference = (FakeRunner(name, lambda source: THE_BUG) for name in ("tpu", "cpu"))
    with pytest.raises(InputError, match="in one place"):
        shrink_script("print(1)\n", device, reference, limit_s=1, budget_s=1)
