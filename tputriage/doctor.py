"""What works here, and what to do about what does not: one row a check, none of which changes anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tputriage.config import Settings, device_switch, find_suite
from tputriage.errors import TriageError
from tputriage.rendering import broken_templates, template_folders
from tputriage.targets.catalogue import find_target
from tputriage.targets.chips import chips, hold_chip, holders
from tputriage.targets.tools import versions_in

OLDEST_PYTHON = (3, 11)
PACKAGES = ("torch", "torch-tpu", "libtpu", "pytest")
SQLITE = b"SQLite format 3\x00"  # how each of its files starts
VERSION_AT = 60  # of `PRAGMA user_version` in the file's header
FILING_SCOPES = frozenset(("public_repo", "repo"))


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the table; `cure` is empty where nothing is wrong."""

    name: str
    fine: bool
    says: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Rights:
    """What filing would use, and what GitHub says of it; `source` is "" where there is no token."""

    source: str = ""
    login: str = ""  # "" where GitHub was not reached
    scopes: tuple[str, ...] | None = None  # of a classic token; GitHub tells no others'
    trouble: str = ""  # a sentence with advice
    repository: str = ""  # where it would file


def check_all(
    settings: Settings, root: Path | None, store: Path, rights: Rights, newest_store: int
) -> tuple[Check, ...]:
    """Every check, in the order in which a newcomer meets what it is about; `newest_store` is the shape we know."""
    devices = dict.fromkeys(("tpu", "emulator", *settings.targets, settings.reference))
    return (
        *_interpreter(settings.python),
        _chips(),
        *(_target(name, settings) for name in devices),
        _suite(root, settings),
        _store(store, newest_store),
        _token(rights),
        _templates(settings),
    )


def _interpreter(python: str) -> tuple[Check, ...]:
    """Python and the packages that matter, of the suite's interpreter where it is not our own."""
    try:
        found = versions_in(python or sys.executable, PACKAGES)
    except TriageError as exc:
        cure = "correct --python, or `python` in the settings: it is the suite's own Python"
        return (Check("interpreter", False, str(exc), cure),)
    where = (Check("interpreter", True, python),) if python else ()
    return (*where, _python(found["python"]), *(_package(name, found, python) for name in PACKAGES))


def _python(version: str) -> Check:
    fine = tuple(map(int, version.split(".")[:2])) >= OLDEST_PYTHON
    return Check("python", fine, version, "" if fine else "install Python 3.11 or newer")


def _package(name: str, found: Mapping[str, str], python: str) -> Check:
    if name in found:
        return Check(name, True, found[name])
    pip = f"{python} -m pip" if python else "pip"
    install = f"{pip} install pytest" if name == "pytest" else f"{pip} install 'tputriage[tpu]'"
    return Check(name, False, "not installed", f"{install} (only needed where tests run)")


def _chips() -> Check:
    count = chips()
    if not count:
        return Check("tpu chips", False, "none seen", "tests run on the emulator here; a TPU needs a TPU VM")
    used = ", ".join(f"process {number} has {file}" for number, file in sorted(holders().items()))
    if used:
        return Check("tpu chips", False, f"{count} seen; {used}", "wait for it, or end it: a chip serves one process")
    try:
        hold_chip(range(count)).release()
    except TriageError as exc:
        return Check("tpu chips", False, f"{count} seen, none free", str(exc))
    return Check("tpu chips", True, f"{count} seen, none in use")


def _target(name: str, settings: Settings) -> Check:
    try:
        target = find_target(name, settings)
    except TriageError as exc:
        return Check(f"target {name}", False, "not available", str(exc))
    return Check(
        f"target {name}", True, f"{target.slots} at once" + (f", {Path(target.plugin).name}" if target.plugin else "")
    )


def _suite(root: Path | None, settings: Settings) -> Check:
    here = Path.cwd()
    if root is None and (find_suite(here) or settings.device_env):
        root = here
    if root is None:
        return Check("suite", True, "none in this folder; --root DIR checks another")
    if not os.path.isdir(root):
        return Check("suite", False, f"{root} is not there", "point to the suite's folder with --root DIR")
    suite = find_suite(root)
    switch = device_switch(settings, root)
    hard = f"device {settings.redirect} hard-coded" if settings.redirect else ""
    known = f"device switch {switch}" if switch else hard
    says = f"{suite.name if suite else root.resolve().name}, {known or 'device switch not known'}"
    return Check("suite", bool(known), says, "" if known else "name it with --device-env or in tputriage.toml")


def _store(folder: Path, newest: int) -> Check:
    # os.path says no where pathlib would raise: behind a folder that is not ours, or a name that is too long.
    whole = Path(os.path.abspath(folder))
    nearest = next(place for place in (whole, *whole.parents) if os.path.exists(place))
    if not (os.path.isdir(nearest) and os.access(nearest, os.W_OK)):
        return Check("store", False, f"{folder} cannot be written", "make it writable, or name another with --store")
    file = folder / "store.db"
    version = _shape(file)
    if version is None:
        cure = "move it away, or name another with --store; `tputriage collect` makes a new one from the reports"
        return Check("store", False, f"{file} is damaged", cure)
    if version > newest:
        cure = "upgrade tputriage, or name another with --store"
        return Check("store", False, f"{file} was written by a newer tputriage", cure)
    return Check("store", True, str(folder) if os.path.exists(folder) else f"{folder}, not made yet")


def _shape(file: Path) -> int | None:
    """The version of the database; None where it is none. Only its header is read: to open it may change it."""
    if os.path.exists(file) and not os.path.isfile(file):
        return None  # to open a pipe would wait for somebody to write
    try:
        with file.open("rb") as opened:
            head = opened.read(VERSION_AT + 4)
    except FileNotFoundError:
        return 0
    except OSError:
        return None
    if not head:
        return 0
    return int.from_bytes(head[VERSION_AT:], "big") if head.startswith(SQLITE) else None


def _token(rights: Rights) -> Check:
    """What the token may do, as far as GitHub tells; the token itself stands nowhere."""
    if not (rights.source or rights.trouble):
        cure = "set GITHUB_TOKEN or `gh auth login` to file issues; `file-issues --dry-run` needs none"
        return Check("token", False, "none", cure)
    if rights.trouble:
        said = f"{rights.source}, not confirmed" if rights.source else "cannot be used"
        return Check("token", False, said, rights.trouble)
    if rights.scopes is None:
        needs = f"it must have issues: write on {rights.repository}, which GitHub does not tell beforehand"
        return Check("token", True, f"{rights.source}, of {rights.login}; {needs}")
    said = f"{rights.source}, of {rights.login}, scopes: {', '.join(rights.scopes) or 'none'}"
    fine = bool(FILING_SCOPES.intersection(rights.scopes))
    cure = "make one with the scope public_repo (repo for a private repository): filing is refused without"
    return Check("token", fine, said, "" if fine else cure)


def _templates(settings: Settings) -> Check:
    own = Path(settings.templates) if settings.templates else None
    try:
        folders = template_folders(own)
        broken = broken_templates(own) if own else ""
    except TriageError as exc:
        return Check("templates", False, settings.templates, str(exc))
    if broken:
        return Check("templates", False, broken, "correct it, or remove it: then the shipped one is used")
    return Check("templates", bool(folders), ", ".join(map(str, folders)), "" if folders else "reinstall tputriage")
