"""doctor on set-ups that are broken: the fault and the cure stand in the row it is about."""

import json
import os
import sqlite3
import subprocess
import sys
import venv
from contextlib import closing

import pytest

from tests.issues.server import Account, GitHub


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
    assert (checks["torch"]["fine"], checks["pytest"]["fine"], checks["python"]["fine"]) == (False, False, True)
    assert "bare/bin/python -m pip install pytest" in checks["pytest"]["cure"]
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


def test_no_token(tmp_path):
    _, checks = doctor(tmp_path)
    assert (checks["token"]["fine"], checks["token"]["says"]) == (False, "none")
    assert "GITHUB_TOKEN" in checks["token"]["cure"]


@pytest.fixture(scope="module")
def hub():
    with GitHub() as served:
        accounts = served.world.accounts
        accounts["classic-token"] = Account("carol", scopes="public_repo, workflow")
        accounts["reader-token"] = Account("carol", scopes="read:org")
        accounts["empty-token"] = Account("carol", scopes="")
        accounts["github_pat_token"] = Account("carol", scopes=None)
        accounts["workflow-token"] = Account("github-actions[bot]", scopes=None, is_app_token=True)
        yield served


@pytest.mark.parametrize(
    ("token", "fine", "says", "cure"),
    [
        ("classic-token", True, "there, of carol, scopes: public_repo, workflow", ""),
        ("reader-token", False, "there, of carol, scopes: read:org", "scope public_repo"),
        ("empty-token", False, "there, of carol, scopes: none", "scope public_repo"),
        ("github_pat_token", True, "a fine-grained one, of carol; it must have issues: write", ""),
        ("workflow-token", True, "there, of github-actions[bot]; it must have issues: write", ""),
        ("unknown-token", False, "there, not confirmed", "wrong, expired or revoked"),
    ],
)
def test_what_a_token_may_do_is_asked_and_the_token_is_not_shown(tmp_path, hub, token, fine, says, cure):
    (tmp_path / "tputriage.toml").write_text(f'api_url = "{hub.url}"')
    said, checks = doctor(tmp_path, "-v", GITHUB_TOKEN=token)
    assert (checks["token"]["fine"], checks["token"]["says"].startswith(says)) == (fine, True)
    assert cure in checks["token"]["cure"]
    assert token not in said.stdout + said.stderr
    assert "github: GET /user" in said.stderr


def test_a_token_where_github_cannot_be_reached(tmp_path):
    (tmp_path / "tputriage.toml").write_text('api_url = "http://127.0.0.1:9"')
    _, checks = doctor(tmp_path, GITHUB_TOKEN="something")
    assert (checks["token"]["fine"], checks["token"]["says"]) == (False, "there, not confirmed")
    assert "could not be reached" in checks["token"]["cure"]


def test_a_target_that_nobody_knows(tmp_path):
    said, _ = doctor(tmp_path, "--target", "gpu")
    assert (said.returncode, said.stdout) == (2, "")
    assert "take one of auto, tpu, emulator, cpu" in said.stderr


def test_a_target_of_the_settings_is_checked(tmp_path):
    (tmp_path / "tputriage.toml").write_text('[targets.nightly]\npython = "/no/such/nightly"')
    said, checks = doctor(tmp_path, "--target", "nightly")
    assert (said.returncode, checks["target nightly"]["fine"]) == (1, False)
    assert "/no/such/nightly" in checks["target nightly"]["cure"]


def test_a_store_of_a_newer_tputriage(tmp_path):
    (tmp_path / ".tputriage").mkdir()
    with closing(sqlite3.connect(tmp_path / ".tputriage" / "store.db")) as database:
        database.execute("CREATE TABLE later (x)")
        database.execute("PRAGMA user_version = 999")
    _, checks = doctor(tmp_path)
    assert (checks["store"]["fine"], "newer tputriage" in checks["store"]["says"]) == (False, True)
    assert "upgrade" in checks["store"]["cure"]


def test_a_template_that_is_broken(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "issue.md.j2").write_text("fine\n{% if %}")
    (tmp_path / "tputriage.toml").write_text('templates = "own"')
    _, checks = doctor(tmp_path)
    assert (checks["templates"]["fine"], "issue.md.j2, line 2" in checks["templates"]["says"]) == (False, True)


@pytest.mark.parametrize("arguments", [[], ["--store", "deep/er"]])
def test_nothing_is_made_or_changed(tmp_path, arguments):
    doctor(tmp_path, *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["a" * 300, "/proc/1/root/x"], ids=["a long name", "behind a closed folder"])
def test_a_store_at_an_impossible_place(tmp_path, place):
    said, checks = doctor(tmp_path, "--store", place)
    assert "Traceback" not in said.stderr
    assert "store" in checks


def test_a_store_that_is_a_pipe(tmp_path):
    (tmp_path / ".tputriage").mkdir()
    os.mkfifo(tmp_path / ".tputriage" / "store.db")
    _, checks = doctor(tmp_path)
    assert "is damaged" in checks["store"]["says"]


def test_a_server_that_hands_the_token_back_does_not_get_it_shown(tmp_path, hub):
    token = "ghp_" + "a1B2" * 9
    hub.world.accounts[token] = Account(f"me\x1b[31m\n{token}" + "z" * 500, scopes=f"repo, {token}")
    (tmp_path / "tputriage.toml").write_text(f'api_url = "{hub.url}"\n')
    said, checks = doctor(tmp_path, GITHUB_TOKEN=token)
    assert token not in said.stdout + said.stderr
    assert "\n" not in checks["token"]["says"]
    assert len(checks["token"]["says"]) < 250
