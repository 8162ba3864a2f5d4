"""Random numbers from CPU, on the real torch_tpu: what differs by its random stream alone then agrees."""

import pytest

from tputriage.config import Settings
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

DRAWN = """
import sys, torch
device = sys.argv[1]

def draw(where):
    torch.manual_seed(0)
    own = torch.Generator(device=where).manual_seed(3)
    ones = torch.ones(64, device=where, requires_grad=True)
    return torch.cat([
        torch.randn(5, device=where),
        torch.rand(4, generator=own, device=where),
        torch.rand(4, generator=own, device=where),
        torch.nn.functional.dropout(ones, 0.5).detach(),
        torch.empty(5, device=where).uniform_(2, 3),
        torch.randperm(8, device=where).float(),
    ]).cpu()

torch.testing.assert_close(draw(device), draw("cpu"))
"""
WRONG = """
import sys, torch
drawn = torch.randn(5, device=sys.argv[1])
torch.testing.assert_close((drawn * 2).cpu(), drawn.cpu())
"""


@pytest.mark.emulator
def test_only_the_random_stream_is_taken_from_cpu():
    target = find_target("emulator", Settings())
    jobs = [
        runs.script_job(source, target.device, limit_s=60, name=name, knobs=knobs)
        for name, source in (("drawn", DRAWN), ("wrong", WRONG))
        for knobs in ({}, {"TPUTRIAGE_CPU_RANDOM": "1"})
    ]
    with Worker(target) as worker:
        done = [runs.run_of(answer, target) for answer in worker.ask(jobs)]
    ended = {(run.test_id, bool(run.knobs)): run.outcome.value for run in done}
    assert ended == {
        ("drawn", False): "failed",
        ("drawn", True): "passed",
        ("wrong", False): "failed",
        ("wrong", True): "failed",
    }
