"""What a script says when it runs: the failure in one line."""

from __future__ import annotations

from tputriage.model import Failure, Run
from tputriage.targets.runs import run_once, script_job
from tputriage.targets.seam import Runner


def run_script(source: str, runner: Runner, limit_s: float) -> Run:
    """One run of a script on a target."""
    job = script_job(source, runner.target.device, limit_s=limit_s)
    return run_once(runner, job)


def said_by(failure: Failure) -> str:
    """The failure in one line: its first, or where a bare assert says nothing, the line that it stands on.

    A first line that only announces another error, as of a process that torch spawned, gives way to the last.
    """
    line = failure.frames[-1].text if failure.frames else ""
    lines = failure.message.strip().splitlines() or [line]
    first = lines[-1] if lines[0].endswith("error:") else lines[0]
    return f"{failure.exception}: {first}" if failure.exception else first
