"""The command line: options to values, one call, print, exit code. No `if` about the domain.

A command's step is imported when the command runs, so that `--help` stays quick and needs none of torch,
libcst or github.
"""

from __future__ import annotations

import importlib
import io
import math
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tputriage import __version__
from tputriage.errors import TriageError

Command = Callable[..., Any]
INTERRUPTED = 130
LONGEST_LINE = 2_000  # characters of one complaint


class _Seconds(click.FloatRange):
    """A time limit: not NaN, which passes every comparison, and not for ever."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


class _Path(click.Path):
    """A path; an empty one, as an unset variable of a script leaves, is not the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty path names nothing.", param, ctx)
        return super().convert(value, param, ctx)


SECONDS = _Seconds(min=1.0, max=604_800.0)  # a week


def _run(step: str, **options: Any) -> None:
    """Call `pipeline.<module>.<function>` and leave with the code it asks for."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as a CI job that is cancelled gets it
    module, name = step.split(":")
    console = importlib.import_module("tputriage.console")
    as_json, quiet = options.pop("as_json", False), options.get("quiet", False)
    masks = importlib.import_module("tputriage.issues.masks")
    console.set_volume(quiet=quiet, verbose=options.pop("verbose", False), mask=masks.cleaner_for(os.environ).mask)
    done = getattr(importlib.import_module(f"tputriage.pipeline.{module}"), name)(**options)
    console.say(done, as_json=as_json, quiet=quiet)
    sys.exit(done.code)


def _shared(command: Command) -> Command:
    """The options that every command takes."""
    for option in (
        click.option("-q", "--quiet", is_flag=True, help="Say nothing but the answer."),
        click.option("-v", "--verbose", is_flag=True, help="Log runs, requests and cache hits to standard error."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object to standard output."),
        click.option(
            "--store",
            type=_Path(path_type=Path, file_okay=False),
            default=Path(".tputriage"),
            envvar="TPUTRIAGE_STORE",
            show_default=True,
            help="Folder that keeps what is known (or TPUTRIAGE_STORE).",
        ),
    ):
        command = option(command)
    return command


def _machine(command: Command) -> Command:
    """The options of the commands that run tests."""
    for option in (
        click.option("--limit", "limit_s", type=SECONDS, help="Time limit of one run, in seconds."),
        click.option("--device-env", help="Environment variable that tells the suite its device."),
        click.option("--python", help="Interpreter of the suite's environment; it needs pytest and torch."),
        click.option("--plugin", help="The emulator's PJRT plugin: xla, lammps, or a path."),
        click.option("--target", help="Where to look for failures: tpu, emulator, or a target of your settings."),
        click.option("--root", type=_Path(path_type=Path), help="The suite's folder on this machine."),
    ):
        command = option(command)
    return command


VERSION_HELP = "Show the versions that matter, and exit."


def _tell_versions(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        found = importlib.import_module("tputriage.pipeline.place").installed_versions()
        said = ", ".join(f"{name} {version}" for name, version in {"tputriage": __version__, **found}.items())
        click.echo(said)
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_tell_versions, help=VERSION_HELP)
def commands() -> None:
    """From a red TPU run to a small, verified, deduplicated bug report."""


@commands.command()
@click.argument("reports", nargs=-1, required=True, type=_Path(path_type=Path))
@click.option("--rerun/--no-rerun", default=True, help="Rerun representatives on the target and on CPU, or only read.")
@click.option("--again", is_flag=True, help="Rerun also what has a verdict from these reports already.")
@click.option("--salvage", is_flag=True, help="Read the whole tests of a damaged report, and say what was lost.")
@_machine
@_shared
def collect(**options: Any) -> None:
    """Read reports, bucket failures, and find what fails where."""
    _run("collecting:collect", **options)


@commands.command()
@click.argument("ids", nargs=-1, metavar="TEST_ID...")
@click.option("--all", "every", is_flag=True, help="Every bucket that fails on the target only.")
@click.option("--budget", "budget_s", type=SECONDS, default=300.0, show_default=True, help="Seconds a bucket.")
@click.option("--again", is_flag=True, help="Minimize anew where a verified repro is stored already.")
@_machine
@_shared
def minimize(**options: Any) -> None:
    """Shrink a failing test to a verified standalone repro.

    TEST_ID is a test's or a bucket's id, or a unique part of either.
    """
    _run("minimizing:minimize", **options)


@commands.command("file-issues")
@click.option("--dry-run", is_flag=True, help="Show the plan and each issue's text, and stop. Needs no token.")
@click.option("--yes", is_flag=True, help="Apply the plan without asking.")
@click.option("--repo", "repository", help="Repository that gets the issues (owner/name).")
@click.option("--upstream", help="Repository of the suite, for what fails on CPU too (owner/name).")
@click.option("--allow-emulator", is_flag=True, help="File what only the emulator has shown.")
@click.option("--close-fixed", is_flag=True, help="Close the issues of what `verify` saw fixed.")
@click.option("--max-new", type=click.IntRange(min=0), help="New issues a run, at most.")
@click.option("--api-url", help="GitHub Enterprise: https://HOST/api/v3.")
@_shared
def file_issues(**options: Any) -> None:
    """Plan what to file, show the plan, and apply it."""
    _run("filing:file_issues", **options)


@commands.command()
@click.argument("item", required=False, metavar="[ID]")
@_shared
def show(**options: Any) -> None:
    """Show what is known: everything, or one bucket or test."""
    _run("showing:show", **options)


@commands.command()
@click.argument("item", metavar="ID")
@_shared
def explain(**options: Any) -> None:
    """Say why a bucket is one bug, and why it has its verdict."""
    _run("showing:explain", **options)


@commands.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@_machine
@_shared
def verify(**options: Any) -> None:
    """Run the stored repros against what is installed now."""
    _run("verifying:verify", **options)


@commands.command()
@click.argument("script", type=_Path(path_type=Path, dir_okay=False))
@click.option("--budget", "budget_s", type=SECONDS, default=300.0, show_default=True, help="Seconds.")
@click.option(
    "-o",
    "--output",
    type=_Path(path_type=Path, dir_okay=False),
    help="File to write; without it, NAME.small.py beside NAME.py.",
)
@_machine
@_shared
def shrink(**options: Any) -> None:
    """Shrink a script that fails on the target and passes on CPU."""
    _run("shrinking:shrink", **options)


@commands.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-m", "--module", is_flag=True, help="PROGRAM is a module, as with `python -m`.")
@click.option("--target", help="Where to run it: tpu, emulator, cpu, or a target of your settings.")
@click.option("--plugin", help="The emulator's PJRT plugin: xla, lammps, or a path.")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(program: str, arguments: tuple[str, ...], **options: Any) -> None:
    """Run a script or module on a target, unchanged.

    The exit code is the program's own.
    """
    sys.exit(importlib.import_module("tputriage.pipeline.running").run(program, arguments, **options))


@commands.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(("html", "markdown", "model-results")),
    default="html",
    show_default=True,
    help="A page, a CI job's summary, or the Hugging Face CI dashboard's JSON.",
)
@click.option(
    "-o",
    "--output",
    type=_Path(path_type=Path, dir_okay=False),
    help="File to write; without it the page is tputriage.html and the others go to standard output.",
)
@_shared
def report(**options: Any) -> None:
    """Write what is known as a page, or for a CI job or dashboard."""
    _run("reporting:report", **options)


@commands.command()
@_machine
@_shared
def doctor(**options: Any) -> None:
    """Say what works here, and what to do about what does not."""
    _run("diagnosing:doctor", **options)


def _complain(sentence: str) -> None:
    """One line, whatever a name or a library put into the sentence; of a very long one, its two ends."""
    line = "\\n".join(sentence.split("\n"))
    half = LONGEST_LINE // 2
    line = line if len(line) <= LONGEST_LINE else f"{line[:half]} … {line[-half:]}"
    importlib.import_module("tputriage.console").tell(f"tputriage: {line}")


def _ready_streams() -> None:
    """Standard streams that take any text: one that was closed, or that speaks ASCII alone, is no reason to fail."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives as long as we do
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget_output() -> None:
    """What standard output would not take is not tried again, and complained of again, when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """The one border where errors become a sentence and an exit code; no traceback reaches a user."""
    _ready_streams()
    try:
        commands(standalone_mode=False)
    except click.exceptions.Exit as exc:
        sys.exit(exc.exit_code)
    except click.exceptions.NoArgsIsHelpError as exc:
        exc.show()
        sys.exit(2)
    except click.ClickException as exc:
        where = exc.ctx.command_path if isinstance(exc, click.UsageError) and exc.ctx else "tputriage"
        _complain(f"{exc.format_message().rstrip('.')}: see `{where} --help`")
        sys.exit(2)
    except TriageError as exc:
        _complain(str(exc))
        _forget_output()
        sys.exit(exc.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _complain("stopped; what was stored so far is kept, and the same command goes on from there")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        sys.stderr.close()
        sys.exit(0)
    except OSError as exc:  # a full disk, a folder that is not ours
        _complain(f"{exc.filename or 'the system'}: {exc.strerror or exc}")
        _forget_output()
        sys.exit(1)
