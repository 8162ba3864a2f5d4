"""The command line: what it imports, what it says, and the codes it leaves."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tputriage.cli import commands

FIXTURES = Path(__file__).parent.parent / "fixtures"
UNET = FIXTURES / "reports" / "unet2d.tpu.json"


def tputriage(*arguments, cwd, **environment):
    command = [sys.executable, "-m", "tputriage", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder whose store holds a real report."""
    folder = tmp_path_factory.mktemp("stored")
    assert tputriage("collect", "--no-rerun", UNET, cwd=folder).returncode == 0
    return folder


def test_help_imports_none_of_what_is_slow_or_dangerous(tmp_path):
    code = (
        "import sys\n"
        "from tputriage.cli import commands\n"
        "commands(['--help'], standalone_mode=False)\n"
        "print(sorted({'torch', 'libcst', 'github', 'sqlite3', 'jinja2', 'rich', 'pytest'} & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_every_command_and_option_says_what_it_is_for(name):
    command = commands.commands[name]
    assert command.help
    assert [option.name for option in command.params if option.param_type_name == "option" and not option.help] == []


def test_one_bug_under_three_shapes_is_one_bucket(stored):
    said = json.loads(tputriage("collect", "--no-rerun", UNET, "--json", cwd=stored).stdout)
    assert (said["tests"], said["outcomes"]["failed"] + said["outcomes"]["error"]) == (135, 82)
    assert [(bucket["count"], bucket["verdict"]) for bucket in said["buckets"]] == [(77, "undecided"), (5, "infra")]


def test_show_finds_what_collect_stored(stored):
    said = json.loads(tputriage("show", "--json", cwd=stored).stdout)
    assert [bucket["count"] for bucket in said["buckets"]] == [77, 5]


def test_explain_names_the_rule_that_changed_the_message(stored):
    bucket = json.loads(tputriage("show", "--json", cwd=stored).stdout)["buckets"][0]["id"]
    said = json.loads(tputriage("explain", bucket, "--json", cwd=stored).stdout)
    assert said["changes"]
    assert "[N, N, N]" in said["inputs"]["template"]


def bad_files(folder):
    (folder / "empty.json").write_text("")
    (folder / "torn.json").write_bytes(UNET.read_bytes()[:200_000])
    (folder / "other.json").write_text('{"name": "package", "version": "1.0"}')
    (folder / "text.json").write_text("once upon a time")
    return folder


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["collect", "missing.json"], "missing.json"),
        (["collect", "empty.json"], "empty"),
        (["collect", "torn.json"], "--salvage"),
        (["collect", "other.json"], "name, version"),
        (["collect", "text.json"], "neither JSON nor XML"),
        (["collect", "."], "directory"),
        (["collect", str(UNET)], "--root"),
        (["collect", str(UNET), "--root", "nowhere"], "nowhere"),
        (["collect"], "REPORTS"),
        (["collect", "--no-such-option", "x.json"], "--no-such-option"),
        (["minimize"], "--all"),
        (["minimize", "no-such-test"], "`tputriage show`"),
        (["minimize", "test_"], "could be any of"),
        (["minimize", ""], "`tputriage show`"),
        (["show", "no-such-bucket"], "`tputriage show`"),
        (["explain", "no-such-bucket"], "`tputriage show`"),
        (["show", "--store", "elsewhere"], "`tputriage collect"),
        (["minimize", "--all", "--store", "elsewhere"], "`tputriage collect"),
        (["file-issues", "--dry-run", "--store", "elsewhere"], "`tputriage collect"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_bad_input_is_one_clear_line_and_changes_nothing(stored, arguments, says):
    bad_files(stored)
    before = (stored / ".tputriage" / "store.db").read_bytes()
    done = tputriage(*arguments, cwd=stored)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert (stored / ".tputriage" / "store.db").read_bytes() == before


def test_a_first_bad_report_leaves_no_store_behind(tmp_path):
    assert tputriage("collect", "--no-rerun", "missing.json", cwd=tmp_path).returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error(stored):
    command = f"{sys.executable} -m tputriage show --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], cwd=stored, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
