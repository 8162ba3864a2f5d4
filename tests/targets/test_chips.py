"""A chip is held by one process of ours at a time, and freed however that process ends."""

import os
import subprocess
import sys

import pytest

from tputriage.errors import TargetError
from tputriage.targets.chips import allowed, every_chip, hold_chip, holders

HOLDER = """
import sys, time
from pathlib import Path
from tputriage.targets.chips import hold_chip
hold = hold_chip((0,), Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_each_holder_gets_a_chip_of_its_own_and_is_pinned_to_it(tmp_path):
    first, second = hold_chip((0, 1), tmp_path), hold_chip((0, 1), tmp_path)
    assert [hold.env["TPU_VISIBLE_CHIPS"] for hold in (first, second)] == ["0", "1"]
    first.release()
    second.release()


def test_the_only_chip_needs_no_pinning(tmp_path):
    hold = hold_chip((0,), tmp_path)
    assert hold.env == {}
    hold.release()


def test_a_chip_that_is_held_is_one_line_with_its_holder(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE)
    holder.stdout.readline()
    with pytest.raises(TargetError, match=f"process {holder.pid}"):
        hold_chip((0,), tmp_path)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    hold_chip((0,), tmp_path).release()


def test_a_lock_that_cannot_be_opened_is_said(tmp_path):
    with pytest.raises(TargetError, match="cannot be opened"):
        hold_chip((0,), tmp_path / "missing")


def test_who_has_a_device_file_open_is_told(tmp_path):
    device = tmp_path / "accel0"
    device.touch()
    with device.open():
        assert holders((str(tmp_path / "accel"),)) == {os.getpid(): str(device)}
    assert holders((str(tmp_path / "accel"),)) == {}


def test_a_process_of_ours_may_use_the_chip_of_its_own_idle_worker(tmp_path):
    with every_chip((0, 1), tmp_path):
        assert hold_chip((0, 1), tmp_path, own=True).env["TPU_VISIBLE_CHIPS"] in "01"
        with pytest.raises(TargetError, match="held by another"):
            hold_chip((0, 1), tmp_path)


@pytest.mark.parametrize(
    ("pins", "chips"), [("", (0, 1, 2)), ("1", (1,)), ("0, 2", (0, 2)), ("7", ()), ("some", (0, 1, 2))]
)
def test_a_pinned_environment_may_use_what_it_is_pinned_to(tmp_path, monkeypatch, pins, chips):
    for number in range(3):
        (tmp_path / f"accel{number}").touch()
    monkeypatch.setenv("TPUTRIAGE_DEVICES", str(tmp_path))
    assert allowed({"TPU_VISIBLE_CHIPS": pins}) == chips


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path):
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / "tputriage-chip-0.lock").symlink_to(other)
    with pytest.raises(TargetError, match="cannot be opened"):
        hold_chip((0,), tmp_path)
    assert other.read_text() == "kept"
