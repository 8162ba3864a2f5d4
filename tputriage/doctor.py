"""What works here, and what to do about what does not: one row a check, none of which changes anything."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tputriage.config import Settings, find_suite
from tputriage.errors import TriageError
from tputriage.rendering import template_folders
from tputriage.targets.catalogue import find_target

OLDEST_PYTHON = (3, 11)
TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the table; `cure` is empty where nothing is wrong."""

    name: str
    fine: bool
    says: str
    cure: str = ""


def check_all(settings: Settings, root: Path | None, store: Path) -> tuple[Check, ...]:
    """Every check, in the order in which a newcomer meets what it is about."""
    return (
        _python(),
        *(_package(name) for name in ("torch", "torch-tpu", "libtpu")),
        *(_target(name, settings) for name in ("tpu", "emulator", settings.reference)),
        _suite(root, settings),
        _store(store),
        _token(os.environ),
        _templates(settings),
    )


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
    return Check(f"target {name}", True, f"{target.slots} at once" + (f", {target.plugin}" if target.plugin else ""))


def _suite(root: Path | None, settings: Settings) -> Check:
    if root is None:
        return Check("suite", True, "none named; --root DIR checks one")
    if not os.path.isdir(root):
        return Check("suite", False, f"{root} is not there", "point to the suite's folder with --root DIR")
    suite = find_suite(root)
    switch = settings.device_env or (suite.device_env if suite else "")
    says = f"{suite.name if suite else root.name}, device switch {switch or 'not known'}"
    return Check("suite", bool(switch), says, "" if switch else "name it with --device-env or in tputriage.toml")


def _store(folder: Path) -> Check:
    nearest = next(place for place in (folder, *Path(os.path.realpath(folder)).parents) if os.path.exists(place))
    fine = os.access(nearest, os.W_OK)
    return Check("store", fine, str(folder), "" if fine else "make it writable, or name another with --store")


def _token(environ: Mapping[str, str]) -> Check:
    found = next((name for name in TOKENS if environ.get(name)), "")
    cure = "set GITHUB_TOKEN to file issues; `file-issues --dry-run` needs none"
    return Check("token", bool(found), f"in {found}" if found else "none", "" if found else cure)


def _templates(settings: Settings) -> Check:
    try:
        folders = template_folders(Path(settings.templates) if settings.templates else None)
    except TriageError as exc:
        return Check("templates", False, settings.templates, str(exc))
    return Check("templates", bool(folders), ", ".join(map(str, folders)), "" if folders else "reinstall tputriage")
