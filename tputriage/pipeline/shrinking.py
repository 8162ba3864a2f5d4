"""`tputriage shrink`: the reducer alone, on a script that people already have. Touches no store."""

from __future__ import annotations

import os
import re
import tempfile
import time
import tokenize
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tputriage.console import Done, plural, progress, stoppable
from tputriage.errors import InputError
from tputriage.minimize.device_argument import argued
from tputriage.minimize.measure import code_lines
from tputriage.minimize.reducing import tokens_of
from tputriage.minimize.saying import said_by
from tputriage.minimize.shrink_script import Shrunk, check_compiles, shrink_script
from tputriage.minimize.tidying import tidy
from tputriage.minimize.trees import led_by
from tputriage.pipeline.minimizing import run_on_both
from tputriage.pipeline.place import Place, find_place, workers
from tputriage.targets.runs import SCRIPT, imports_of

CODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")


def shrink(
    *, script: Path, budget_s: float, output: Path | None, store: Path, quiet: bool, root: Path | None, **machine: Any
) -> Done:
    """Writes the smallest script found beside the given one, or to `output`; the given one stays as it is."""
    if not os.path.isfile(script):
        raise InputError(f"there is no script {script}")
    source = read_script(script)
    check_compiles(source)
    target = output or script.with_name(f"{script.stem}.small.py")
    place, began_s = find_place(None, **machine), time.monotonic()
    best = [source]
    with stoppable(lambda: _kept(target, best)), progress("shrinking", quiet=quiet) as step:
        step(0, 1, f"starting, {plural(code_lines(source), 'line')}", budget_s)

        def keep(better: str) -> None:
            _write(target, better)
            best.append(better)
            step(0, 1, plural(code_lines(better), "line"), max(0.0, budget_s - (time.monotonic() - began_s)))

        with workers(place, preload=imports_of(source)) as (device, reference):
            found = shrink_script(
                source, device, reference, limit_s=place.settings.limit_s, budget_s=budget_s, on_better=keep
            )
        _write(target, found.source)
        step(0, 1, "checking it in fresh processes")
        found, doubt = _standing(place, found, imports_of(source))
        _write(target, found.source)
    return _answer(found, target, source, doubt)


def read_script(script: Path) -> str:
    """As Python reads it, byte order mark and coding line included; what is written is UTF-8, and says nothing else."""
    try:
        with tokenize.open(script) as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError, SyntaxError) as exc:
        raise InputError(f"{script} cannot be read: {exc}") from exc
    return "\n".join([*("" if CODING.match(line) else line for line in lines[:2]), *lines[2:]])


def _kept(target: Path, found: Sequence[str]) -> str:
    if len(found) == 1:
        return "nothing smaller was found yet, and nothing was written"
    return f"{target} is the smallest so far, {plural(code_lines(found[-1]), 'line')}: shrink that to go on"


def _write(path: Path, source: str) -> None:
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(source, "utf-8")
        draft.replace(path)
    except OSError as exc:
        raise InputError(f"{path} cannot be written: {exc.strerror or exc}; name another with -o") from exc


def _standing(place: Place, found: Shrunk, imports: Sequence[str]) -> tuple[Shrunk, str]:
    """(what runs as it stands, what is to be said where nothing does).

    A worker has imported what the first script does before the others run in its children: where a fresh process
    misses one of these imports they all come back.
    """
    doubt = _doubt(place, found)
    if doubt:
        kept = imports_of(found.source)
        source = tidy(led_by(found.source, "\n".join(one for one in imports if one not in kept)))
        whole = replace(found, source=source, tokens=tokens_of(source))
        if not _doubt(place, whole):
            return whole, ""
    return found, doubt


def _doubt(place: Place, found: Shrunk) -> str:
    """What it does other than to fail on the device and to pass on the reference, in a fresh process on each."""
    with tempfile.TemporaryDirectory(prefix="tputriage-") as folder:
        path = Path(folder) / SCRIPT
        path.write_text(argued(found.source, place.device.device) or found.source, "utf-8")
        runs = run_on_both(place, path, times=1)
    (here,), (there,) = runs
    if here.failure is None or not found.likeness.holds(here.failure):
        said = f"it fails as {said_by(here.failure)}" if here.failure else "it passes"
        return f"but in a process of its own on {place.device.name} {said}"
    said = said_by(there.failure) if there.failure else ""
    return f"but in a process of its own it fails on {place.reference.name} too: {said}" if said else ""


def _answer(found: Shrunk, path: Path, source: str, doubt: str) -> Done:
    lines = code_lines(found.source)
    data = {
        "script": str(path),
        "lines_before": code_lines(source),
        "lines": lines,
        "tokens_before": found.tokens_before,
        "tokens": found.tokens,
        "oracle_runs": found.runs,
        "seconds": round(found.seconds, 1),
        "exhausted": found.exhausted,
        "verified": not doubt,
        "failure": f"{found.failure.exception}: {found.failure.message}".strip(": "),
        "findings": [f"{finding.exception}: {finding.message}" for finding in found.findings],
    }
    ended = "; the budget ended first, --budget gives it more" if found.exhausted else ""
    says = (
        f"{path} written: {plural(lines, 'line')} of code, {data['lines_before']} before;"
        f" {plural(found.runs, 'run')} in {data['seconds']} s{ended}"
    )
    return Done(data, (says, *([doubt] if doubt else []), "", found.source.rstrip()), code=int(bool(doubt)))
