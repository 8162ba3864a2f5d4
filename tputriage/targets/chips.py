"""TPU chips, told without touching them, and held so that two of our processes never use one at once.

The lock is a file lock on a file per chip: the system frees it when its holder is gone, however that went.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tputriage.errors import TargetError

DEVICES = ("/dev/accel", "/dev/vfio/")
GOOGLE = "0x1ae0"  # PCI vendor of TPU chips
LOCKS = Path(tempfile.gettempdir())


@dataclass(frozen=True, slots=True)
class Hold:
    """A chip that is ours until `release`."""

    chip: int
    env: Mapping[str, str] = field(default_factory=dict)  # pins a process to this chip; empty where it is the only one
    file: BinaryIO | None = None

    def release(self) -> None:
        if self.file is not None:
            self.file.close()


def chips() -> int:
    """TPU chips on this machine, told by the PCI bus or the device files, without opening any."""
    vendors = Path("/sys/bus/pci/devices").glob("*/vendor")
    on_bus = sum(1 for path in vendors if _text(path) == GOOGLE)
    return on_bus or len(list(Path("/dev").glob("accel[0-9]*")))


def hold_chip(count: int, folder: Path = LOCKS) -> Hold:
    """The first of `count` chips that no other process of ours holds.

    Raises TargetError, with the holder's process id, where all are taken.
    """
    holders = []
    for chip in range(count):
        path = folder / f"tputriage-chip-{chip}.lock"
        try:
            file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b")
        except OSError as exc:
            raise TargetError(f"the lock of TPU chip {chip}, {path}, cannot be opened: {exc.strerror}") from exc
        if _locked(file):
            return Hold(chip, pinned(chip) if count > 1 else {}, file)
        holders.append(file.read(20).decode("ascii", "replace").strip())
        file.close()
    raise TargetError(
        f"every TPU chip here is held by another tputriage (process {', '.join(holders)}): wait for it, or end it"
    )


def holders(places: Sequence[str] = DEVICES) -> dict[int, str]:
    """{process id: the device file that it has open}, of the processes that we may look at."""
    found = {}
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            file = os.readlink(link)
        except OSError:  # it has ended, or is another user's
            continue
        if file.startswith(tuple(places)) and file[-1].isdigit():
            found[int(link.parts[2])] = file
    return found


def pinned(chip: int) -> dict[str, str]:
    """The variables by which libtpu sees one chip only."""
    return {
        "TPU_VISIBLE_CHIPS": str(chip),
        "TPU_CHIPS_PER_PROCESS_BOUNDS": "1,1,1",
        "TPU_PROCESS_BOUNDS": "1,1,1",
    }


def _locked(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    file.truncate(0)
    file.write(str(os.getpid()).encode("ascii"))
    file.flush()
    return True


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except OSError:
        return ""
