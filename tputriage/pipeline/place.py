"""Where a command works: the settings that hold, the suite's folder, the two targets, and their workers."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from tputriage.config import Settings, checked, device_switch, find_suite, load_settings
from tputriage.errors import InputError, TriageError
from tputriage.targets.catalogue import find_target
from tputriage.targets.pool import Pool
from tputriage.targets.runs import files_of
from tputriage.targets.seam import Runner, Target

EMULATOR = "emulator"
GENERATION = "TPU_ACCELERATOR_TYPE"  # set on TPU VMs, such as v6e-8


@dataclass(frozen=True, slots=True)
class Place:
    """Where tests run: everything that the steps with a machine under them need."""

    settings: Settings
    device: Target
    reference: Target
    root: Path | None = None
    device_env: str = ""
    suite: str = ""
    also: Target | None = None  # the emulator, where the device is a chip and the plugin is installed beside it


def settings_for(root: Path | None, **given: Any) -> Settings:
    """The settings of the suite in `root`, with what the command line says on top."""
    settings = load_settings(root)
    changes = {name: value for name, value in given.items() if value is not None}
    return checked(msgspec.structs.replace(settings, **changes))


def find_place(root: Path | None, **given: Any) -> Place:
    """The place to run the suite in `root`, or scripts alone where it is None.

    Raises InputError where the suite's device switch is not known, TargetError where a target is not there.
    """
    settings = settings_for(root, **given)
    switch = device_switch(settings, root)
    if root and not (switch or settings.redirect):
        raise InputError(
            f"how the suite in {root} is told its device is not known: name the environment variable with"
            " --device-env, or as `device_env` in its tputriage.toml; where the suite hard-codes the device, name that"
            ' device there, as in redirect = "tpu"'
        )
    device = _with_env(find_target(settings.target, settings), settings)
    return Place(
        settings=settings,
        device=device,
        reference=_with_env(find_target(settings.reference, settings), settings),
        root=root,
        device_env=switch,
        suite=suite_name(root),
        also=_emulator(settings) if device.chips else None,
    )


def _with_env(target: Target, settings: Settings) -> Target:
    """Fresh processes have the suite's environment too: its library may be found by nothing else."""
    return replace(target, env={**settings.env, **target.env})


def _emulator(settings: Settings) -> Target | None:
    with suppress(TriageError):
        return _with_env(find_target(EMULATOR, settings), settings)
    return None


def suite_name(root: Path | str | None) -> str:
    """What runs of the same suite have in common: the preset's name, else the name of the folder."""
    if not root:
        return ""
    suite = find_suite(Path(root))
    return suite.name if suite else Path(root).name


def suite_folder(given: Path | None, settings_root: str, reported: str) -> Path:
    """The suite's folder on this machine; raises InputError where it is not here."""
    for candidate in (given, Path(settings_root) if settings_root else None, Path(reported) if reported else None):
        if candidate is not None:
            if os.path.isdir(candidate):
                return candidate.resolve()
            raise InputError(
                f"the suite's folder {candidate} is not on this machine: point to your copy with --root DIR"
                " (`collect --no-rerun` reads without it)"
            )
    raise InputError("no report says where the suite is: point to its folder with --root DIR")


@contextmanager
def workers(place: Place, test_ids: Sequence[str] = (), preload: Sequence[str] = ()) -> Iterator[tuple[Runner, Runner]]:
    """(device, reference): each with its workers, which collect the files of these tests, none where there are none.

    `preload` are import statements of a script, made before it runs.
    """
    files = files_of(test_ids, place.root) if place.root else ()
    pair = (_worker(place, target, files, preload) for target in (place.device, place.reference))
    with next(pair) as device, next(pair) as reference:
        yield device, reference


@contextmanager
def beside(place: Place, test_ids: Sequence[str] = ()) -> Iterator[Runner | None]:
    """The workers of one more target for one more column, which start when they are asked; None where there is none."""
    files = files_of(test_ids, place.root) if place.root else ()
    if place.also is None:
        yield None
        return
    with _worker(place, place.also, files) as runner:
        yield runner


def _worker(place: Place, target: Target, files: Sequence[str], preload: Sequence[str] = ()) -> Pool:
    settings = place.settings
    return Pool(
        target,
        place.root,
        files,
        device_env=place.device_env,
        env=settings.env,
        pytest_args=settings.pytest_args,
        several_chips=settings.several_chips,
        redirect=settings.redirect,
        preload=preload,
    )


def device_versions(place: Place, running: Mapping[str, str]) -> dict[str, str]:
    """What a worker on the device says is installed there, and the TPU's generation where the machine tells it."""
    hardware = place.device.device != place.reference.device and not place.device.plugin
    generation = os.environ.get(GENERATION, "") if hardware else ""
    return {**running, **({"tpu": generation} if generation else {})}


def installed_versions() -> dict[str, str]:
    """{name: version} of what is installed beside tputriage; what is not there is left out."""
    found = {}
    for name, package in (("torch", "torch"), ("torch_tpu", "torch-tpu"), ("libtpu", "libtpu")):
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(package)
    return found | {"python": platform.python_version()}
