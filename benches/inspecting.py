"""Is a repro still the test's own failure, and fit to be shown? Looked at by script, in fresh processes.

Slipped is a repro whose exception type, message template or aten operator is not that of the failing test; unfit
one that ruff would format or that it finds unused names in, one that warns when it is compiled, or one that does
not end in fresh processes as it should: an error on the device, nothing on CPU, every warning an error there.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tputriage.minimize.aimed import operator_in
from tputriage.model import Failure, Run
from tputriage.signatures import Kind, family_of, same_bug, sign
from tputriage.targets.fresh import run_script
from tputriage.targets.runs import run_of, test_job
from tputriage.targets.seam import Runner

RULES = "F,E,W"  # unused names and imports, style, warnings
BLOCKING = {"TORCH_TPU_LAUNCH_BLOCKING": "1"}
STRICT = {"PYTHONWARNINGS": "error"}
LIMIT_S = 120.0


@dataclass(frozen=True)
class Inspected:
    """What looking at one repro showed: "" where all is well."""

    slipped: str = ""
    fresh: str = ""  # how it ended in fresh processes, where not as it should


def spread(count: int, of: int) -> list[int]:
    """`count` numbers below `of`, evenly spread; all of them where there are fewer."""
    return [place * of // count for place in range(count)] if count < of else list(range(of))


def inspect(script: Path, test: str, seen: Failure, device: Runner, reference: Runner) -> Inspected:
    """Run afresh on both sides and compared with the failure that the test was seen with."""
    there = run_script(device.target, script, limit_s=LIMIT_S)[0]
    strict = replace(reference.target, env={**reference.target.env, **STRICT})
    here = run_script(strict, script, limit_s=LIMIT_S)[0]
    return Inspected(_slipped(there, _cause(test, seen, device)), _fresh(there, here))


def _fresh(there: Run, here: Run) -> str:
    if there.failure is None:
        return "passes on the device"
    return f"fails on CPU: {here.failure.message[:200]}" if here.failure is not None else ""


def _cause(test: str, seen: Failure, device: Runner) -> Failure:
    """Of an error that only says that an earlier one happened, or came up late: that one."""
    job = test_job(test, limit_s=LIMIT_S, knobs=BLOCKING)
    run = run_of(next(iter(device.ask([job]))), device.target)
    late = family_of(seen).kind is Kind.SECONDARY
    return run.failure if late and run.failure is not None else seen


def _slipped(run: Run, wanted: Failure) -> str:
    """In which way the script's failure is another than the test's."""
    found = run.failure
    if found is None:
        return ""  # told as `fresh`
    if found.exception.rpartition(".")[2] != wanted.exception.rpartition(".")[2]:
        return f"{found.exception} for {wanted.exception}"
    if operator_in(found) != operator_in(wanted) or sign(found).operator != sign(wanted).operator:
        return f"{operator_in(found) or sign(found).operator} for {operator_in(wanted) or sign(wanted).operator}"
    same_family = sign(found).family == sign(wanted).family
    if not same_family or not same_bug(sign(wanted), found):
        return f"{found.message.splitlines()[0][:100]!r} for {wanted.message.splitlines()[0][:100]!r}"
    return ""


def unfit(scripts: Sequence[Path]) -> Mapping[str, str]:
    """{name of a script: what is wrong with its text}."""
    found = {script.name: said for script in scripts if (said := _warning(script))}
    for words in (
        ("format", "--check", "--output-format=concise"),
        ("check", "--select", RULES, "--output-format=concise"),
    ):
        command = [sys.executable, "-m", "ruff", words[0], "--isolated", "--no-cache", *words[1:], *map(str, scripts)]
        said = subprocess.run(command, check=False, capture_output=True, text=True).stdout
        for line in said.splitlines():
            name, _, rest = line.partition(":")
            if name.endswith(".py"):
                found.setdefault(Path(name).name, rest.strip())
    return found


def _warning(script: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(script.read_text("utf-8"), script.name, "exec")
        except (SyntaxError, Warning) as exc:
            return f"{type(exc).__name__}: {exc}"
    return ""
