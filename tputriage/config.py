"""Settings: what the user wrote, the presets of known suites, and defaults, in that order.

`tputriage.toml` beside the suite, or `[tool.tputriage]` in the suite's pyproject.toml. Unknown keys are an
error, since a mistyped key that is silently ignored costs an afternoon.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tputriage.errors import InputError

LONGEST_RUN_S = 604_800.0  # a week
_DEVICE = re.compile(r"(?!cpu\Z)[a-z0-9_]*")
MOST_WORKERS = 64
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/(?!\.{1,2}\Z)[A-Za-z0-9_.-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Suite(msgspec.Struct, frozen=True):
    """How a known suite is recognised and told which device to use."""

    name: str
    marker: str  # a file that only this suite's root has
    device_env: str  # environment variable that selects the device; "" where there is none
    upstream: str  # repository where the suite's own bugs belong
    env: Mapping[str, str] = {}


SUITES = (
    Suite("diffusers", "src/diffusers/__init__.py", "DIFFUSERS_TEST_DEVICE", "huggingface/diffusers"),
    Suite("transformers", "src/transformers/__init__.py", "TRANSFORMERS_TEST_DEVICE", "huggingface/transformers"),
    Suite("accelerate", "src/accelerate/__init__.py", "ACCELERATE_TORCH_DEVICE", "huggingface/accelerate"),
    # peft's tests take what its `infer_device` finds, which no variable changes.
    Suite("peft", "src/peft/__init__.py", "", "huggingface/peft"),
    Suite("pytorch", "torch/testing/__init__.py", "PYTORCH_TESTING_DEVICE_ONLY_FOR", "pytorch/pytorch"),
)


class TargetRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A target that the user adds, or a shipped one that they change: `[tool.tputriage.targets.NAME]`."""

    device: str = "tpu"  # what the suite's device switch is set to
    python: str = ""  # interpreter with pytest and torch; "" for the setting of this name
    plugin: str = ""  # PJRT plugin that makes it an emulator: "xla", "lammps" or a path
    env: Mapping[str, str] = {}  # environment variables of every run on it
    slots: int = 0  # runs at once; 0: as many as the machine has cores, or chips
    workers: int = 0  # as the setting of this name, for this target alone


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set; each field is a key of the settings file."""

    target: str = "auto"  # where failures are looked for: "auto" takes tpu, then emulator
    reference: str = "cpu"  # the target that the device is compared with
    python: str = ""  # interpreter of the suite; "" for our own
    root: str = ""  # the suite's folder on this machine
    device_env: str = ""  # environment variable that tells the suite its device
    redirect: str = ""  # the device's name that the suite has hard-coded, "tpu" or "cuda": other targets stand for it
    env: Mapping[str, str] = {}  # environment variables of every run
    pytest_args: tuple[str, ...] = ()  # given to pytest on every run
    targets: Mapping[str, TargetRow] = {}  # targets of your own, or shipped ones changed: see the next table
    plugin: str = ""  # "xla", "lammps" or a path: the emulator's PJRT plugin
    limit_s: float = 120.0  # time limit of one run
    workers: int = 0  # processes that collect the suite and share the runs; 0: one a chip, one elsewhere
    several_chips: tuple[str, ...] = ()  # tests that need several chips, as node ids with * for anything: run alone
    repository: str = "google-pytorch/torch_tpu"  # gets the issues, as owner/name
    upstream: str = ""  # gets what fails on CPU too, as owner/name; "" files none of it
    api_url: str = "https://api.github.com"  # GitHub Enterprise: https://HOST/api/v3
    labels: tuple[str, ...] = ()  # put on each new issue
    veto_label: str = "tputriage: ignore"  # an issue that has it is left alone
    authors: tuple[str, ...] = ()  # whose markers count, besides our own
    distinct: tuple[str, ...] = ()  # buckets known to be other bugs than the issues people filed that look like them
    max_new: int = 5  # new issues a run, at most
    templates: str = ""  # folder of templates that replace the shipped ones


def load_settings(folder: Path | None) -> Settings:
    """Settings of the suite in `folder`; raises InputError naming the file and key at fault."""
    for path, table in _candidates(folder):
        values = _table(path, table)
        if values is not None:
            return _convert(values, path)
    return Settings()


def checked(settings: Settings) -> Settings:
    """The same settings; raises InputError for a value that no command could do anything with."""
    variables = [settings.device_env, *settings.env, *(name for row in settings.targets.values() for name in row.env)]
    texts = [*settings.env.values(), *(text for row in settings.targets.values() for text in row.env.values())]
    counts = [settings.workers, *(row.workers for row in settings.targets.values())]
    for wrong, sentence in (
        (not _REPOSITORY.fullmatch(settings.repository), f"{settings.repository!r} is no repository: say owner/name"),
        (
            bool(settings.upstream) and not _REPOSITORY.fullmatch(settings.upstream),
            f"{settings.upstream!r} is no repository: say owner/name",
        ),
        (not _is_address(settings.api_url), f"{settings.api_url!r} is no API's address: say https://HOST/api/v3"),
        (not 1.0 <= settings.limit_s <= LONGEST_RUN_S, f"a time limit of {settings.limit_s} s: say from 1 s to a week"),
        (not _DEVICE.fullmatch(settings.redirect), f"{settings.redirect!r} is no device's name: say tpu, or cuda"),
        *((not 0 <= count <= MOST_WORKERS, f"{count} workers: say 1 to {MOST_WORKERS}") for count in counts),
        (settings.max_new < 0, f"{settings.max_new} new issues: say 0 or more"),
        (any("\0" in text for text in texts), "a variable's value holds a NUL byte, which no environment can hold"),
        *((not _VARIABLE.fullmatch(name), f"{name!r} is no variable's name") for name in variables if name),
    ):
        if wrong:
            raise InputError(sentence)
    return settings


def _is_address(url: str) -> bool:
    """Whether the URL is one of a server: no credentials in it, which belong in GITHUB_TOKEN, and no query.

    Without TLS it must be this machine: the token would travel in clear.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError:
        return False
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    return plain and safe and bool(parts.hostname) and port > 0 and url.split() == [url]


def find_suite(root: Path) -> Suite | None:
    """The preset whose marker file stands in `root`, or None.

    A report names its root, so it may be no path at all: os.path says no where pathlib would raise.
    """
    return next((suite for suite in SUITES if os.path.isfile(root / suite.marker)), None)


def device_switch(settings: Settings, root: Path | None) -> str:
    """The environment variable that tells the suite in `root` its device; "" where it is not known."""
    suite = find_suite(root) if root else None
    return settings.device_env or (suite.device_env if suite else "")


def _candidates(folder: Path | None) -> list[tuple[Path, tuple[str, ...]]]:
    places = [folder] if folder else []
    places += [Path.cwd()]
    return [
        (place / name, table)
        for place in places
        for name, table in (("tputriage.toml", ()), ("pyproject.toml", ("tool", "tputriage")))
    ]


def _table(path: Path, keys: tuple[str, ...]) -> Mapping[str, Any] | None:
    try:
        values: Any = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        said = getattr(exc, "strerror", None) or exc
        raise InputError(f"the settings in {path} cannot be read: {said}") from exc
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values if isinstance(values, dict) else None


def _convert(values: Mapping[str, Any], path: Path) -> Settings:
    try:
        settings = msgspec.convert({key.replace("-", "_"): value for key, value in values.items()}, Settings)
    except msgspec.ValidationError as exc:
        raise InputError(f"the settings in {path} are wrong: {exc}") from exc
    try:
        return checked(settings)
    except InputError as exc:
        raise InputError(f"the settings in {path} are wrong: {exc}") from exc
