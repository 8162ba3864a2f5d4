"""The scripts of fixtures/bench: each can be shrunk as it stands."""

from pathlib import Path

import pytest

from tputriage.config import Settings
from tputriage.errors import TargetError
from tputriage.minimize.device_argument import ARGUMENT, argued
from tputriage.minimize.reducing import tokens_of
from tputriage.minimize.shrink_script import shrink_script
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

SCRIPTS = sorted((Path(__file__).parents[2] / "fixtures" / "bench").glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_names_its_device_in_one_place(path):
    source = path.read_text("utf-8")
    assert ARGUMENT in argued(source, "tpu")
    assert tokens_of(source) > 500


@pytest.mark.emulator
def test_on_torch_tpu_a_training_loop_with_hooks_ends_at_the_call():
    try:
        target = find_target("emulator", Settings())
    except TargetError as exc:
        pytest.skip(str(exc))
    source = next(path for path in SCRIPTS if path.stem == "gradient_hooks").read_text("utf-8")
    with Worker(target) as device, Worker(find_target("cpu", Settings())) as reference:
        shrunk = shrink_script(source, device, reference, limit_s=60, budget_s=240)
    assert "kthvalue(" in shrunk.source
    assert shrunk.tokens < 40
    assert shrunk.runs < 60
