"""doctor on set-ups that are broken: the fault and the cure stand in the row it is about."""

import json
import os
import subprocess
import sys
import venv

import pytest


def doctor(folder, *arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GH_", "TPUTRIAGE_"))}
    said = subprocess.run(
        [sys.executable, "-m", "tputriage", "doctor", "--json", *map(str, arguments)],
        cwd=folder,
        env=clean | {"PATH": os.defpath} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return said, {check["name"]: check for check in json.loads(said.stdout)["checks"]} if said.stdout else {}


def test_an_interpreter_that_is_not_there(tmp_path):
    said, checks = doctor(tmp_path, "--python", "/no/such/python")
    assert (said.returncode, checks["interpreter"]["fine"]) == (1, False)
    assert "/no/such/python" in checks["interpreter"]["says"]
    assert "correct --python" in checks["interpreter"]["cure"]


def test_an_interpreter_without_torch(tmp_path):
    venv.create(tmp_path / "bare", with_pip=False)
    said, checks = doctor(tmp_path, "--python", tmp_path / "bare" / "bin" / "python")
    assert said.returncode == 1
    assert "needs torch" in checks["target emulator"]["cure"]
    assert "pip install" in checks["target cpu"]["cure"]


def test_a_suite_whose_device_switch_is_not_known(tmp_path):
    _, checks = doctor(tmp_path, "--root", tmp_path)
    assert (checks["suite"]["fine"], "not known" in checks["suite"]["says"]) == (False, True)
    assert "--device-env" in checks["suite"]["cure"]


def test_a_suite_that_is_not_there(tmp_path):
    said, checks = doctor(tmp_path, "--root", tmp_path / "nowhere")
    assert "nowhere" in (checks["suite"]["says"] if checks else said.stderr)
    assert "--root" in (checks["suite"]["cure"] if checks else said.stderr)


def test_a_damaged_store(tmp_path):
    (tmp_path / ".tputriage").mkdir()
    (tmp_path / ".tputriage" / "store.db").write_text("once upon a time")
    _, checks = doctor(tmp_path)
    assert "store.db is damaged" in checks["store"]["says"]
    assert "--store" in checks["store"]["cure"]


def test_a_store_that_is_a_file(tmp_path):
    (tmp_path / "taken").write_text("")
    _, checks = doctor(tmp_path, "--store", "taken/store")
    assert (checks["store"]["fine"], "--store" in checks["store"]["cure"]) == (False, True)


def test_a_plugin_that_is_not_there(tmp_path):
    said, checks = doctor(tmp_path, "--plugin", "nonsense")
    assert said.returncode == 1
    assert not checks["target emulator"]["fine"]
    if "PJRT plugin" in checks["target emulator"]["cure"]:
        assert "nonsense" in checks["target emulator"]["cure"]


def test_a_template_folder_that_is_not_there(tmp_path):
    (tmp_path / "tputriage.toml").write_text('templates = "nowhere"')
    _, checks = doctor(tmp_path)
    assert "correct `templates`" in checks["templates"]["cure"]


def test_a_mistyped_setting_is_one_line_with_its_name(tmp_path):
    (tmp_path / "tputriage.toml").write_text('devce_env = "X"')
    said, _ = doctor(tmp_path)
    assert (said.returncode, said.stdout) == (2, "")
    assert "devce_env" in said.stderr


def test_a_token_with_a_space_in_it(tmp_path):
    _, checks = doctor(tmp_path, GITHUB_TOKEN="half a token")
    assert (checks["token"]["fine"], "copy it again" in checks["token"]["cure"]) == (False, True)


def test_no_token_and_a_token(tmp_path):
    _, without = doctor(tmp_path)
    _, with_one = doctor(tmp_path, GITHUB_TOKEN="something")
    assert "GITHUB_TOKEN" in without["token"]["cure"]
    assert (with_one["token"]["fine"], "something" in str(with_one)) == (True, False)


@pytest.mark.parametrize("arguments", [[], ["--store", "deep/er"]])
def test_nothing_is_made_or_changed(tmp_path, arguments):
    doctor(tmp_path, *arguments)
    assert list(tmp_path.iterdir()) == []
