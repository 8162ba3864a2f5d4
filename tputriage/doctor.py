"""What works here, and what to do about what does not: one row a check, none of which changes anything."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from tputriage.config import Settings, device_switch, find_suite
from tputriage.errors import TriageError
from tputriage.rendering import template_folders
from tputriage.targets.catalogue import find_target
from tputriage.targets.chips import chips, hold_chip

OLDEST_PYTHON = (3, 11)
SQLITE = b"SQLite format 3\x00"  # how each of its files starts


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the table; `cure` is empty where nothing is wrong."""

    name: str
    fine: bool
    says: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Rights:
    """What filing would use: where it comes from in words, "" for nothing; or what is wrong with it."""

    source: str = ""
    trouble: str = ""


def check_all(settings: Settings, root: Path | None, store: Path, rights: Rights) -> tuple[Check, ...]:
    """Every check, in the order in which a newcomer meets what it is about."""
    return (
        _python(),
        *((_interpreter(settings.python),) if settings.python else ()),
        *(_package(name) for name in ("torch", "torch-tpu", "libtpu")),
        _chips(),
        *(_target(name, settings) for name in ("tpu", "emulator", settings.reference)),
        _suite(root, settings),
        _store(store),
        _token(rights),
        _templates(settings),
    )


def _interpreter(python: str) -> Check:
    fine = shutil.which(python) is not None
    cure = "" if fine else "correct --python, or `python` in the settings: it is the suite's own Python"
    return Check("interpreter", fine, python if fine else f"{python} is not there, or cannot be run", cure)


def _chips() -> Check:
    count = chips()
    if not count:
        return Check("tpu chips", False, "none seen", "tests run on the emulator here; a TPU needs a TPU VM")
    try:
        hold_chip(count).release()
    except TriageError as exc:
        return Check("tpu chips", False, f"{count} seen, none free", str(exc))
    return Check("tpu chips", True, f"{count} seen")


def _python() -> Check:
    version = platform.python_version()
    fine = tuple(map(int, platform.python_version_tuple()[:2])) >= OLDEST_PYTHON
    return Check("python", fine, version, "" if fine else "install Python 3.11 or newer")


def _package(name: str) -> Check:
    try:
        return Check(name, True, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Check(name, False, "not installed", "pip install 'tputriage[tpu]' (only needed where tests run)")


def _target(name: str, settings: Settings) -> Check:
    try:
        target = find_target(name, settings)
    except TriageError as exc:
        return Check(f"target {name}", False, "not available", str(exc))
    return Check(
        f"target {name}", True, f"{target.slots} at once" + (f", {Path(target.plugin).name}" if target.plugin else "")
    )


def _suite(root: Path | None, settings: Settings) -> Check:
    if root is None:
        return Check("suite", True, "none named; --root DIR checks one")
    if not os.path.isdir(root):
        return Check("suite", False, f"{root} is not there", "point to the suite's folder with --root DIR")
    suite = find_suite(root)
    switch = device_switch(settings, root)
    says = f"{suite.name if suite else root.name}, device switch {switch or 'not known'}"
    return Check("suite", bool(switch), says, "" if switch else "name it with --device-env or in tputriage.toml")


def _store(folder: Path) -> Check:
    nearest = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        return Check("store", False, f"{folder} cannot be written", "make it writable, or name another with --store")
    if not _whole(folder / "store.db"):
        cure = "move it away, or name another with --store; `tputriage collect` makes a new one from the reports"
        return Check("store", False, f"{folder / 'store.db'} is damaged", cure)
    return Check("store", True, str(folder) if folder.exists() else f"{folder}, not made yet")


def _whole(file: Path) -> bool:
    """Only its first bytes are looked at: opening a store may bring it to a newer shape, and this changes nothing."""
    try:
        with file.open("rb") as opened:
            return opened.read(len(SQLITE)) in (SQLITE, b"")
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _token(rights: Rights) -> Check:
    if rights.trouble:
        return Check("token", False, "cannot be used", rights.trouble)
    cure = "set GITHUB_TOKEN or `gh auth login` to file issues; `file-issues --dry-run` needs none"
    return Check("token", bool(rights.source), rights.source or "none", "" if rights.source else cure)


def _templates(settings: Settings) -> Check:
    try:
        folders = template_folders(Path(settings.templates) if settings.templates else None)
    except TriageError as exc:
        return Check("templates", False, settings.templates, str(exc))
    return Check("templates", bool(folders), ", ".join(map(str, folders)), "" if folders else "reinstall tputriage")
