"""Beside a chip the emulator is one more column: a machine whose chip is, to torch_tpu, the emulator in disguise."""

import json
import textwrap

import pytest

from tests.targets.conftest import target_or_skip
from tputriage.inside.boot import for_subprocesses
from tputriage.pipeline.collecting import collect
from tputriage.pipeline.place import find_place
from tputriage.pipeline.showing import show

SUITE = """
    import os
    import torch

    def test_median():
        torch.median(torch.ones(3, device=os.environ["SUITE_DEVICE"]))
"""
MESSAGE = "RuntimeError: operator 'aten::median' is not implemented for TPU. Please file a feature request"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A suite with its settings, on a machine with one chip."""
    plugin = target_or_skip("emulator").plugin
    monkeypatch.setenv("TPUTRIAGE_DEVICES", str(tmp_path))
    monkeypatch.setenv("TPUTRIAGE_LOCKS", str(tmp_path))
    (tmp_path / "accel0").touch()
    (tmp_path / "test_it.py").write_text(textwrap.dedent(SUITE), "utf-8")
    env = "".join(f"{name} = {json.dumps(value)}\n" for name, value in for_subprocesses(plugin, {}).items())
    settings = f'device_env = "SUITE_DEVICE"\ntarget = "pod"\n[targets.pod]\ndevice = "tpu"\n[targets.pod.env]\n{env}'
    (tmp_path / "tputriage.toml").write_text(settings, "utf-8")
    return tmp_path


@pytest.mark.emulator
def test_the_emulator_stands_beside_a_chip_and_beside_nothing_else(root):
    place = find_place(root)
    assert (place.device.chips, place.also.name) == ((0,), "emulator")
    assert find_place(root, target="emulator").also is None


@pytest.mark.emulator
def test_what_fails_on_the_emulator_too_is_said_where_the_verdict_is_shown(root):
    call = {"outcome": "failed", "duration": 0.1, "crash": {"path": "t", "lineno": 5, "message": MESSAGE}}
    tests = [{"nodeid": "test_it.py::test_median", "outcome": "failed", "call": call}]
    report = root / "report.json"
    report.write_text(json.dumps({"created": 1.0, "exitcode": 1, "root": str(root), "summary": {}, "tests": tests}))
    options = {"rerun": True, "again": False, "salvage": False, "quiet": True, "store": root / "store"}
    (bucket,) = collect(reports=[report], root=root, **options).data["buckets"]
    assert bucket["verdict"] == "tpu-only"
    verdict = json.dumps(show(item=bucket["id"], store=root / "store", quiet=True).data)
    assert '["emulator", "fails alike"]' in verdict
    assert "so the chip and libtpu are not at fault" in verdict
