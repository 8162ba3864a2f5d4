"""Writes docs/reference.md from the code: `python docs/make_reference.py`. A test holds that it is up to date.

Commands come from click, settings from config.py, verdicts from model.py, and JSON keys from answers that commands
really gave on a report in fixtures/; where an answer needs a device, from the code that builds it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tputriage import errors
from tputriage.cli import commands
from tputriage.config import SUITES, Settings, TargetRow
from tputriage.dashboard.numbers import MEANINGS
from tputriage.model import Level, Repro, ReproStatus
from tputriage.pipeline.views import minimized_view

DOCS = Path(__file__).resolve().parent
REPORT = DOCS.parent / "fixtures" / "reports" / "unet2d.tpu.json"
FIELD = re.compile(r"^    (\w+): [^#]*?(?: = ([^#]*?))?\s*(?:# (.*))?$")
TOP = "<!-- Made by docs/make_reference.py from the code: change the code, then run it. -->"


def reference() -> str:
    """The page's text."""
    return "\n".join([TOP, "# Reference", "", *_commands(), *_settings(), *_answers(), *_codes(), *_verdicts()])


def _commands() -> Iterator[str]:
    yield from ("## Commands", "")
    for name, command in sorted(commands.commands.items()):
        arguments = [
            one.make_metavar(click.Context(command)) for one in command.params if one.param_type_name == "argument"
        ]
        yield from (f"### tputriage {' '.join([name, *arguments])}", "", inspect.cleandoc(command.help or ""), "")
        yield from ("| option | |", "|---|---|")
        for option in command.params:
            if isinstance(option, click.Option):
                names = ", ".join([*option.opts, *option.secondary_opts])
                yield f"| `{names}`{_takes(option)} | {option.help}{_default(option)} |"
        yield ""


def _takes(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return " " + ", ".join(f"`{choice}`" for choice in option.type.choices)
    return "" if option.is_flag else " …"


def _default(option: click.Option) -> str:
    return f" Default: `{option.default}`." if option.show_default and not callable(option.default) else ""


def _settings() -> Iterator[str]:
    yield from ("## Settings", "", inspect.getdoc(importlib.import_module("tputriage.config")) or "", "")
    yield from _fields(Settings)
    yield from ("", "### A target", "", inspect.getdoc(TargetRow) or "", "")
    yield from _fields(TargetRow)
    yield from ("", "### Suites that need no settings", "", "| suite | its device switch | upstream |", "|---|---|---|")
    for suite in SUITES:
        yield f"| {suite.name} | {f'`{suite.device_env}`' if suite.device_env else 'none'} | {suite.upstream} |"
    yield ""


def _fields(struct: type) -> Iterator[str]:
    yield from ("| key | default | |", "|---|---|---|")
    for line in inspect.getsource(struct).splitlines():
        found = FIELD.match(line)
        if found:
            yield f"| `{found[1]}` | {f'`{found[2]}`' if found[2] else ''} | {(found[3] or '').replace('|', ' ')} |"


def _answers() -> Iterator[str]:
    yield from ("## JSON", "", "Each command prints one object with `--json`. Lists hold rows of the keys shown.", "")
    for command, keys in _keys():
        yield from (f"`tputriage {command} --json`", "", *(f"    {line}" for line in keys), "")


def _keys() -> Iterator[tuple[str, list[str]]]:
    with tempfile.TemporaryDirectory() as folder:
        yield "collect report.json", _shape(_answer(folder, "collect", "--no-rerun", str(REPORT)))
        shown = _answer(folder, "show")
        bucket = shown["buckets"][0]["id"]
        yield "show", _shape(shown)
        yield "show ID", _shape(_answer(folder, "show", bucket))
        yield "explain ID", _shape(_answer(folder, "explain", bucket))
        yield "file-issues --dry-run", _shape(_answer(folder, "file-issues", "--dry-run"))
        yield "report", _shape(_answer(folder, "report"))
        yield "doctor", _shape(_answer(folder, "doctor"))
    a_repro = Repro("b0", "test", ReproStatus.VERIFIED, Level.OP)
    yield "minimize TEST_ID", _shape(minimized_view([a_repro]).data)
    yield "verify", ["verifications: [", *(f"  {key}" for key in _literal_keys("verifying", "bucket")), "]"]
    yield "shrink script.py", _literal_keys("shrinking", "script")


def _answer(folder: str, *arguments: str) -> Any:
    # Without a token, and without gh, which has one: the plan is then made from the store alone.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GH_", "TPUTRIAGE_"))
    }
    environment |= {"PATH": os.defpath, "PYTHONPATH": str(DOCS.parent)}
    command = [sys.executable, "-m", "tputriage", *arguments, "--json"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    return json.loads(done.stdout)


def _shape(value: Any, depth: int = 0) -> list[str]:
    """Keys, nested as the answer is; of a list, those of its first row."""
    lines: list[str] = []
    for key, item in value.items():
        row = item[0] if isinstance(item, list) and item else item
        if isinstance(row, dict) and row and depth < 2 and key not in ("outcomes", "inputs", "versions"):
            is_list = isinstance(item, list)
            lines += [f"{key}: {'[' if is_list else '{'}", *(f"  {line}" for line in _shape(row, depth + 1))]
            lines += ["]" if is_list else "}"]
        else:
            lines.append(key)
    return lines


def _literal_keys(module: str, having: str) -> list[str]:
    """The keys of the dictionary with the key `having` that a step's module writes down, in their order."""
    tree = ast.parse((DOCS.parent / "tputriage" / "pipeline" / f"{module}.py").read_text("utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    keys = ([key.value for key in one.keys if isinstance(key, ast.Constant)] for one in found)
    return next([str(key) for key in one] for one in keys if having in one)


def _codes() -> Iterator[str]:
    yield from ("## Exit codes", "", "0: done. 130: stopped by Ctrl-C; what was found so far is stored.", "")
    yield from (inspect.getdoc(errors) or "").splitlines()[2:8]
    yield ""


def _verdicts() -> Iterator[str]:
    yield from ("## Verdicts", "", "| verdict | means |", "|---|---|")
    yield from (f"| `{kind}` | {meaning} |" for kind, meaning in MEANINGS.items())
    yield ""


if __name__ == "__main__":
    (DOCS / "reference.md").write_text(reference(), "utf-8")
