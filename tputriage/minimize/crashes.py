"""The call that took the process with it: read from the journal that outlived it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tputriage.minimize.suspects import Suspect
from tputriage.model import Signature
from tputriage.signatures import same_bug
from tputriage.targets.runs import Subject, asked, run_of
from tputriage.targets.seam import Ended, Job, Runner


def find_crash(subject: Subject, wanted: Signature, device: Runner, limit_s: float) -> tuple[Suspect | None, int]:
    """(the call during which the test crashed, runs). The device finishes each call first, if it crashes then too."""
    for runs, blocking in enumerate((True, False), 1):
        found = _journaled(subject, wanted, device, limit_s, blocking)
        if found is not None:
            return found, runs
    return None, runs


def _journaled(subject: Subject, wanted: Signature, device: Runner, limit_s: float, blocking: bool) -> Suspect | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "call.json"
        job = Job("capture", {**subject, "journal": str(path), "blocking": blocking}, limit_s)
        answer = asked(device, job)
        failure = run_of(answer, device.target).failure
        if answer.ended is not Ended.CRASH or failure is None or not same_bug(wanted, failure) or not path.exists():
            return None
        calls = [call for call in json.loads(path.read_text("ascii") or "{}").values() if call]
    record = {"calls": calls, "modules": [], "forward": None, "message": failure.message}
    return Suspect(failure, record) if calls else None
