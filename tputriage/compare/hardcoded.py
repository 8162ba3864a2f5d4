"""Runs that ask for a device which their target does not have: the suite has hard-coded its name.

That says nothing about the bucket, and the settings can mend it: `redirect` lets the target stand for that device.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tputriage.model import Run, Verdict

ASKS = (  # torch's own words for a device that this build does not know
    re.compile(r"device type at start of device string: (?P<name>\w+)"),
    re.compile(r"\bTorch not compiled with (?P<name>CUDA|XPU) enabled"),
    re.compile(r"^(?:module 'torch'|'\w+' object) has no attribute '(?P<name>tpu|cuda|xpu)'$"),
    re.compile(r"don't know how to restore data location of .* \(tagged with (?P<name>\w+)\)"),
)


def absent_device(run: Run) -> str:
    """The name that the failure asks for; "" where it asks for none."""
    message = run.failure.message if run.failure else ""
    found = next((found for found in (ask.search(message) for ask in ASKS) if found), None)
    return found["name"].lower() if found else ""


def advice(verdicts: Iterable[Verdict], redirect: str) -> Iterator[str]:
    """A note for each hard-coded device that the runs of these verdicts asked for in vain."""
    met = {(absent_device(run), run.target) for verdict in verdicts for run in verdict.runs}
    for name in sorted({name for name, _ in met} - {"", redirect}):
        targets = " and ".join(sorted(target for asked, target in met if asked == name))
        yield (
            f"tests ask for the device {name}, which {targets} does not have: the suite hard-codes it;"
            f' redirect = "{name}" in its tputriage.toml lets the other targets stand for it'
        )
