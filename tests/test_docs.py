"""The documents say what is so: commands, options, links, templates, the reference, and the tutorial word for word."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.targets.conftest import target_or_skip
from tputriage.cli import commands
from tputriage.config import Settings
from tputriage.model import VerdictKind
from tputriage.rendering import environment

ROOT = Path(__file__).resolve().parent.parent
TUTORIAL = ROOT / "docs" / "tutorial.md"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
TEMPLATES = sorted((ROOT / "templates").glob("*.j2"))
# Options of other programs that the documents name.
FOREIGN = {"--json-report", "--json-report-file", "--tputriage-journal", "--extra-index-url", "--timeout"}
COMMAND = re.compile(
    r"(?:`|^ {4,}(?:- run: )?|^ {4}\$ )tputriage ((?:[a-z-]+)(?: [^`|#\n]*?)?)(?=`|\||#|;|>>| \\|$)", re.MULTILINE
)


def by_name(paths):
    return {"argvalues": paths, "ids": [path.relative_to(ROOT).as_posix() for path in paths]}


def options_of(command):
    own = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return own | {"-h", "--help"}


def quoted_commands(path):
    for found in COMMAND.findall(path.read_text("utf-8")):
        name, _, rest = found.partition(" ")
        yield name, shlex.split(rest.replace("…", "").replace("'", ""))


@pytest.mark.parametrize("path", **by_name(PAGES))
def test_every_command_that_is_named_exists_with_its_options(path):
    for name, words in quoted_commands(path):
        assert name in commands.commands or path.name == "CONTRIBUTING.md", f"tputriage {name}"
        if name in commands.commands:
            options = {word.partition("=")[0] for word in words if word.startswith("-") and word.rstrip("-")}
            foreign = FOREIGN | {"-m", "-p", "-q", "-n", "-k"}
            assert options <= options_of(commands.commands[name]) | foreign, f"tputriage {name}"


@pytest.mark.parametrize("path", **by_name(PAGES))
def test_every_option_that_is_named_exists(path):
    known = set().union(*map(options_of, commands.commands.values())) | {"--version"} | FOREIGN
    text = re.sub(r"```yaml.*?```", "", path.read_text("utf-8"), flags=re.S)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - known == set()


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_every_command_is_in_the_readme_and_the_reference(name):
    assert f"tputriage {name}" in (ROOT / "README.md").read_text("utf-8")
    assert f"### tputriage {name}" in (ROOT / "docs" / "reference.md").read_text("utf-8")


def test_the_reference_is_up_to_date():
    place = ROOT / "docs" / "make_reference.py"
    spec = importlib.util.spec_from_file_location("make_reference", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "reference.md").read_text("utf-8") == module.reference(), f"run python {place.name}"


def test_every_setting_says_what_it_is_for():
    text = (ROOT / "docs" / "reference.md").read_text("utf-8")
    settings = text.partition("## Settings")[2].partition("### Suites")[0]
    assert [line for line in settings.splitlines() if line.endswith("|  |")] == []


def test_the_readme_is_short_and_names_every_verdict():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert [kind for kind in VerdictKind if f"`{kind}`" not in text] == []


@pytest.mark.parametrize("path", **by_name(PAGES))
def test_every_link_leads_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", **by_name(PAGES))
def test_every_settings_example_can_be_read(path):
    for block in re.findall(r"```toml\n(.*?)```", path.read_text("utf-8").replace("\n   ", "\n"), re.S):
        assert tomllib.loads(block).keys() <= set(Settings.__struct_fields__)


@pytest.mark.parametrize("path", **by_name(TEMPLATES))
def test_every_template_compiles_and_is_used(path):
    environment(html=True).get_template(path.name)
    users = [*(ROOT / "tputriage").rglob("*.py"), *TEMPLATES]
    assert any(f'"{path.name}"' in user.read_text("utf-8") for user in users)


def test_the_ci_recipe_analyses_without_the_right_to_write():
    text = (ROOT / "docs" / "how-to" / "ci.md").read_text("utf-8")
    analyse, _, file = text.partition("\n  file:\n")
    assert "\npermissions: {}\n" in analyse
    assert ("write" in analyse.partition("```yaml")[2], "token" in analyse.partition("jobs:")[2]) == (False, False)
    assert re.findall(r"(\w+): write", file) == ["issues"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_made_as_the_page_says(shell):
    made = subprocess.run(
        [sys.executable, "-c", "import sys; from tputriage.cli import main; sys.argv[0] = 'tputriage'; main()"],
        env=os.environ | {"_TPUTRIAGE_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "_TPUTRIAGE_COMPLETE" in made.stdout, made.stderr


def tutorial_steps(text):
    """(command, the lines shown under it) in order."""
    steps = []
    for line in text.splitlines():
        if line.startswith("    $ "):
            steps.append((line[6:], []))
        elif steps and line.startswith("    "):
            steps[-1][1].append(line[4:])
        elif line.strip() and not line.startswith("    "):
            steps.append(("", []))
    return [(command, shown) for command, shown in steps if command]


def missing(shown, said):
    """The lines shown that were not said, in which … stands for anything."""
    patterns = [".*".join(map(re.escape, line.rstrip().split("…"))) for line in shown if line.strip(" …")]
    lines = said.splitlines()
    return [one for one in patterns if not any(re.fullmatch(f"{one}\\s*", line) for line in lines)]


@pytest.mark.emulator
def test_the_tutorial_word_for_word(tmp_path):
    target_or_skip("emulator")
    text = TUTORIAL.read_text("utf-8")
    (tmp_path / "test_small.py").write_text(re.search(r"```python\n(.*?)```", text, re.S)[1], "utf-8")
    (tmp_path / "tputriage.toml").write_text(re.search(r"```toml\n(.*?)```", text, re.S)[1], "utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"
    environ = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GH_", "TPUTRIAGE"))
    }
    for command, shown in tutorial_steps(text):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        assert missing(shown, done.stdout) == [], f"{command}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr, command
