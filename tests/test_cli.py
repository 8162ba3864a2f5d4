"""The command line: what it imports, what it says, and the codes it leaves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tputriage.cli import commands

FIXTURES = Path(__file__).parent.parent / "fixtures"
UNET = FIXTURES / "reports" / "unet2d.tpu.json"


def tputriage(*arguments, cwd, **environment):
    words = (argument if isinstance(argument, bytes) else str(argument) for argument in arguments)
    command = [sys.executable, "-m", "tputriage", *words]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120, env=os.environ | environment
    )


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


def test_the_list_of_commands_cuts_no_sentence_short_in_a_narrow_terminal(tmp_path):
    said = tputriage("--help", cwd=tmp_path, COLUMNS="80").stdout
    assert "..." not in said.partition("Commands:")[2]


def test_version_tells_what_matters_in_a_bug_report(tmp_path):
    said = tputriage("--version", cwd=tmp_path).stdout
    assert said.startswith("tputriage ")
    assert "python 3." in said


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
        (["collect", "x" * 5000], "cannot be read"),
        (["collect", "two\nlines.json"], r"two\nlines.json"),
        (["collect", ""], "empty path"),
        (["show", "--store", "x" * 5000], "there is no store"),
        (["collect", str(UNET), "--root", "x" * 5000], "cannot be read"),
        (["shrink", "x" * 5000], "there is no script"),
        (["run", "x" * 5000], "there is no script"),
        (["collect", str(UNET), "--no-rerun", "--store", ""], "empty path"),
        (["collect", str(UNET), "--no-rerun", "--store", "text.json"], "is a file"),
        (["collect", str(UNET), "--no-rerun", "--limit", "nan"], "no number"),
        (["collect", str(UNET), "--root", "."], "--device-env"),
        (["collect", str(UNET), "--root", ".", "--device-env", "A B"], "no variable's name"),
        (["collect", str(UNET), "--root", ".", "--device-env", "X", "--target", "nope"], "take one of auto"),
        (["collect", str(UNET), "--root", ".", "--device-env", "X", "--python", "text.json"], "cannot be used"),
        (["collect", str(UNET), "--root", "text.json"], "--root DIR"),
        (["minimize", "x", "--budget", "inf"], "--budget"),
        (["show", "two\nlines"], r"two\nlines"),
        (["show", "x" * 99_999], "…"),
        (["show", b"\xe9"], "no test or bucket"),
        (["explain", b"\xe9"], "no test or bucket"),
        (["file-issues", "--dry-run", "--repo", "nope"], "owner/name"),
        (["file-issues", "--dry-run", "--repo", "../x"], "owner/name"),
        (["file-issues", "--dry-run", "--api-url", "nope"], "no API's address"),
        (["file-issues", "--dry-run", "--max-new", "-1"], "--max-new"),
        (["shrink", "missing.py"], "missing.py"),
        (["shrink", "text.json"], "no Python that compiles"),
        (["shrink", ""], "empty path"),
        (["run", "missing.py"], "missing.py"),
        (["run", "--target", "nope", __file__], "take one of auto"),
    ],
)
def test_bad_input_is_one_clear_line_and_changes_nothing(stored, arguments, says):
    bad_files(stored)
    before = (stored / ".tputriage" / "store.db").read_bytes()
    done = tputriage(*arguments, cwd=stored)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("tputriage: ")
    assert says in line
    assert (stored / ".tputriage" / "store.db").read_bytes() == before


def test_a_pipe_that_nobody_writes_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = tputriage("collect", "--no-rerun", "pipe", cwd=tmp_path)
    assert (done.returncode, "is empty" in done.stderr) == (2, True)
    assert tputriage("shrink", "pipe", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("packed", ["cat", "gzip -c"])
def test_a_report_may_come_through_a_pipe(tmp_path, packed):
    command = f"{sys.executable} -m tputriage collect --no-rerun --json <({packed} {UNET})"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["tests"] == 135


def test_a_report_whose_root_is_no_path_is_read(tmp_path):
    (tmp_path / "odd.json").write_text(UNET.read_text("utf-8").replace("/home/ci/diffusers", "/x" * 9000), "utf-8")
    assert tputriage("collect", "--no-rerun", "odd.json", cwd=tmp_path).returncode == 0
    assert tputriage("collect", "odd.json", cwd=tmp_path).returncode == 2


def test_a_report_whose_name_is_no_text_is_read_and_kept(tmp_path):
    name = tmp_path / os.fsdecode(b"caf\xe9.json")
    name.write_bytes(UNET.read_bytes())
    said = [tputriage("collect", "--no-rerun", "--json", os.fsencode(name), cwd=tmp_path) for _ in range(2)]
    assert [json.loads(done.stdout)["tests"] for done in said] == [135, 135]


def test_collecting_reports_that_share_tests_twice_changes_nothing(tmp_path):
    again = tmp_path / "again.json"
    again.write_bytes(UNET.read_bytes() + b"\n")
    first, second = (tputriage("collect", "--no-rerun", "--json", UNET, again, cwd=tmp_path).stdout for _ in range(2))
    assert sum(bucket["count"] for bucket in json.loads(first)["buckets"]) == 82
    assert json.loads(second)["buckets"] == json.loads(first)["buckets"]


def test_a_first_bad_report_leaves_no_store_behind(tmp_path):
    assert tputriage("collect", "--no-rerun", "missing.json", cwd=tmp_path).returncode == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "show --json", f"collect --no-rerun {UNET}"])
def test_a_full_disk_under_the_answer_is_one_line(stored, command):
    shell = f"{sys.executable} -m tputriage {command} > /dev/full"
    done = subprocess.run(["bash", "-c", shell], cwd=stored, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "No space left" in done.stderr


@pytest.mark.parametrize(("command", "code"), [("show >&-", 0), ("show --json >&-", 0), ("show nope 2>&-", 2)])
def test_a_closed_stream_is_no_error(stored, command, code):
    shell = f"{sys.executable} -m tputriage {command}"
    done = subprocess.run(["bash", "-c", shell], cwd=stored, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize("coding", ["ascii", "latin-1"])
@pytest.mark.parametrize("command", [["show"], ["show", "--json"], ["show", "\u2603"]])
def test_a_terminal_that_does_not_speak_utf_8_is_no_error(tmp_path, coding, command):
    (tmp_path / "odd.json").write_text(UNET.read_text("utf-8").replace("channels_last", "\u2603 caf\u00e9"), "utf-8")
    assert tputriage("collect", "--no-rerun", "odd.json", cwd=tmp_path, PYTHONIOENCODING=coding).returncode == 0
    done = tputriage(*command, cwd=tmp_path, PYTHONIOENCODING=coding)
    assert (done.returncode, "Traceback" in done.stderr) == (2 if "\u2603" in command else 0, False)


def test_a_closed_pipe_is_no_error(stored):
    command = f"{sys.executable} -m tputriage show --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], cwd=stored, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
