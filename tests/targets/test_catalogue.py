"""Which targets this machine has, and what is said about those it has not."""

import sys
from pathlib import Path

import pytest

from tests.targets.conftest import target_or_skip
from tputriage.config import Settings, TargetRow
from tputriage.errors import InputError, TargetError
from tputriage.targets.catalogue import PLUGINS, emulators, find_target
from tputriage.targets.chips import chips


@pytest.fixture
def bare_python(tmp_path):
    """An interpreter without site-packages."""
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n', "utf-8")
    path.chmod(0o755)
    return str(path)


def test_the_reference_is_clean_of_torch_tpu():
    target = find_target("cpu", Settings())
    assert (target.device, target.plugin) == ("cpu", "")
    assert target.env["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "0"


def test_nothing_here_imports_torch():
    find_target("cpu", Settings())
    assert "torch" not in sys.modules


@pytest.mark.emulator
@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_each_plugin_is_found_by_its_name(name):
    target_or_skip("emulator")
    assert Path(find_target("emulator", Settings(plugin=name)).plugin).is_file()


@pytest.mark.emulator
def test_a_plugin_is_found_by_its_path(tmp_path):
    target_or_skip("emulator")
    plugin = tmp_path / "plugin.so"
    plugin.touch()
    assert find_target("emulator", Settings(plugin=str(plugin))).plugin == str(plugin)


@pytest.mark.emulator
def test_a_plugin_that_is_not_there_is_one_clear_line():
    target_or_skip("emulator")
    with pytest.raises(InputError, match=r"no PJRT plugin at /no/plugin\.so: name a file, or one of xla, lammps"):
        find_target("emulator", Settings(plugin="/no/plugin.so"))


@pytest.mark.parametrize(("name", "install"), [("emulator", "tputriage[emulator]"), ("tpu", "tputriage[tpu]")])
def test_what_is_missing_is_named_with_what_to_install(bare_python, name, install):
    with pytest.raises(TargetError) as caught:
        find_target(name, Settings(python=bare_python))
    assert install in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(chips() > 0, reason="this machine has a TPU")
@pytest.mark.emulator
def test_hardware_that_is_not_there_is_said_plainly():
    target_or_skip("emulator")
    with pytest.raises(TargetError, match="shows none; --target emulator needs none"):
        find_target("tpu", Settings())


@pytest.mark.skipif(chips() > 0, reason="this machine has a TPU")
@pytest.mark.emulator
def test_auto_takes_the_emulator_where_there_is_no_chip():
    target_or_skip("emulator")
    assert find_target("auto", Settings()).name == "emulator"


def test_an_unknown_target_lists_those_that_are_known():
    with pytest.raises(InputError, match="take one of auto, tpu, emulator, cpu"):
        find_target("gpu", Settings())


def test_a_target_of_the_users_is_taken_as_written():
    row = TargetRow(device="cpu", env={"A": "1"}, slots=3)
    target = find_target("mine", Settings(targets={"mine": row}))
    assert (target.name, target.device, target.slots, target.env["A"]) == ("mine", "cpu", 3, "1")


@pytest.mark.emulator
def test_a_target_of_the_users_with_a_plugin_is_an_emulator():
    target_or_skip("emulator")
    target = find_target("mine", Settings(targets={"mine": TargetRow(plugin="xla")}, plugin="lammps"))
    assert (target.device, Path(target.plugin).name) == ("tpu", "xla_cpu_pjrt.so")


def test_a_shipped_target_can_be_changed_but_stays_what_it_is():
    target = find_target("cpu", Settings(targets={"cpu": TargetRow(env={"A": "1"}, slots=1)}))
    assert target.env == {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "A": "1"}
    assert (target.device, target.slots) == ("cpu", 1)


@pytest.mark.emulator
def test_hardware_has_one_worker_for_each_chip_unless_the_settings_say_fewer(tmp_path, monkeypatch):
    target_or_skip("emulator")
    for number in range(4):
        (tmp_path / f"accel{number}").touch()
    monkeypatch.setenv("TPUTRIAGE_DEVICES", str(tmp_path))
    every, fewer = find_target("tpu", Settings()), find_target("tpu", Settings(workers=2))
    assert (every.chips, every.workers, every.slots) == ((0, 1, 2, 3), 4, 4)
    assert (fewer.chips, fewer.workers) == ((0, 1, 2, 3), 2)
    own = {"second": TargetRow(env={"TPU_VISIBLE_CHIPS": "1"})}
    assert find_target("second", Settings(targets=own)).chips == (1,)


def test_elsewhere_one_worker_serves_all_slots_unless_the_settings_say_more():
    assert find_target("cpu", Settings()).workers == 1
    assert find_target("cpu", Settings(workers=2, targets={"cpu": TargetRow(slots=4)})).workers == 2


def test_an_interpreter_that_cannot_run_is_one_line(tmp_path):
    with pytest.raises(InputError, match="cannot be used"):
        find_target("cpu", Settings(python=str(tmp_path / "python")))


@pytest.mark.parametrize("says", ["exit 0", "exit 3"])
def test_a_program_that_is_no_python_is_one_line(tmp_path, says):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match="cannot be used") as caught:
        find_target("cpu", Settings(python=str(program)))
    assert "\n" not in str(caught.value)


def test_a_users_target_with_a_plugin_is_no_hardware():
    own = {"mine": TargetRow(plugin="/p.so"), "pod": TargetRow()}
    assert emulators(Settings(targets=own)) == ["emulator", "mine"]
