"""TPU chips, told without touching them, and held so that two of our processes never use one at once.

The lock is a file lock on a file per chip: the system frees it when its holder is gone, however that went.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tputriage.errors import TargetError

DEVICE_FILES = ("/dev/accel", "/dev/vfio/")
GOOGLE = "0x1ae0"  # PCI vendor of TPU chips
# Folders that a test, or a machine with its own habits, may have elsewhere.
DEVICES = "TPUTRIAGE_DEVICES"  # device files, one a chip; where it is set, the PCI bus is not asked
LOCKS = "TPUTRIAGE_LOCKS"
PINS = "TPU_VISIBLE_CHIPS"  # libtpu's own


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
    folder = os.environ.get(DEVICES)
    if folder:
        return _device_files(Path(folder))
    vendors = Path("/sys/bus/pci/devices").glob("*/vendor")
    on_bus = sum(1 for path in vendors if _text(path) == GOOGLE)
    return on_bus or _device_files(Path("/dev"))


def _device_files(folder: Path) -> int:
    return len(list(folder.glob("accel[0-9]*")))


def allowed(environ: Mapping[str, str]) -> tuple[int, ...]:
    """The numbers of the chips that a process with this environment may use: all, or those that it is pinned to."""
    pins = [pin.strip() for pin in environ.get(PINS, "").split(",")]
    every = tuple(range(chips()))
    return tuple(chip for chip in every if str(chip) in pins) if all(pin.isdigit() for pin in pins) else every


def hold_chip(among: Sequence[int], folder: Path | None = None, *, own: bool = False) -> Hold:
    """The first of these chips that nobody of ours holds.

    With `own`, where all are taken, one that this very process holds will do: a worker uses its chip in the jobs it
    is given and not between them. Raises TargetError, with the holders' process ids, where all are taken.
    """
    holders = {}
    for chip in among:
        file, holder = _try(chip, folder or _locks())
        if file is not None:
            return Hold(chip, pinned(chip, among), file)
        holders[holder] = chip
    if own and str(os.getpid()) in holders:
        chip = holders[str(os.getpid())]
        return Hold(chip, pinned(chip, among))
    raise TargetError(
        f"every TPU chip here is held by another tputriage (process {', '.join(holders)}): wait for it, or end it"
    )


def holders(places: Sequence[str] = DEVICE_FILES) -> dict[int, str]:
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


@contextmanager
def every_chip(among: Sequence[int], folder: Path | None = None) -> Iterator[None]:
    """Holds all of these chips, those aside that this process holds already.

    Raises TargetError, with the holder's process id, where another process of ours has one.
    """
    with ExitStack() as held:
        for chip in among:
            file, holder = _try(chip, folder or _locks())
            if file is not None:
                held.enter_context(file)
            elif holder != str(os.getpid()):
                raise TargetError(
                    f"TPU chip {chip} is held by another tputriage (process {holder}), and {len(among)} are wanted:"
                    f" wait for it, end it, or name the chips to use in {PINS}"
                )
        yield


def _locks() -> Path:
    return Path(os.environ.get(LOCKS) or tempfile.gettempdir())


def _try(chip: int, folder: Path) -> tuple[BinaryIO | None, str]:
    """(the lock's file, "") where the chip is ours now, else (None, the holder's process id)."""
    path = folder / f"tputriage-chip-{chip}.lock"
    try:
        file = os.fdopen(_opened(path), "r+b")
    except OSError as exc:
        raise TargetError(f"the lock of TPU chip {chip}, {path}, cannot be opened: {exc.strerror}") from exc
    if _locked(file):
        return file, ""
    holder = file.read(20).decode("ascii", "replace").strip()
    file.close()
    return None, holder


def _opened(path: Path) -> int:
    """Another user's lock file in a sticky folder can be opened, but not with O_CREAT.

    A link is not followed: everybody may lay one there, and what it leads to would be emptied.
    """
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        fd = os.open(path, flags | os.O_CREAT, 0o666)
        os.fchmod(fd, 0o666)  # whatever the umask says: the next holder may be somebody else
        return fd


def pinned(chip: int, among: Sequence[int]) -> dict[str, str]:
    """The variables by which libtpu sees this chip only; none where it is the only one."""
    if tuple(among) == (0,):
        return {}
    return {
        PINS: str(chip),
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
