"""The targets there are, as rows, and which of them this machine has.

Nothing here imports torch or touches a chip: packages are looked for, PCI devices and device files listed.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tputriage.config import Settings, TargetRow
from tputriage.errors import InputError, TargetError
from tputriage.targets.chips import allowed, chips
from tputriage.targets.seam import Target

# PJRT plugins that run XLA on the CPU: name -> path under site-packages.
PLUGINS = {
    "xla": "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
    "lammps": "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
}
# By what each breaks of its own of 278 tests (benches/bench_emulator.py --step 3: the fixture suite, 226 operators of
# OpInfo, torch.compile), torch_tpu 0.2.0: lammps 6, xla 12. The fixture suite alone: none, none. All 5 compiled
# functions run on lammps and none on xla; scans (cumsum) abort the process on lammps and fail cleanly on xla.
DEFAULT_PLUGIN = "lammps"
ASK = """
import importlib.util, sys
for name in sys.argv[1:]:
    spec = importlib.util.find_spec(name)
    print((spec and spec.origin) or "")
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of target as shipped."""

    device: str
    needs: tuple[str, ...]  # modules that the interpreter must have
    install: str  # what to install where they are missing
    env: Mapping[str, str] = field(default_factory=dict)
    emulated: bool = False
    hardware: bool = False


ROWS: Mapping[str, Row] = {
    "tpu": Row("tpu", ("torch", "torch_tpu"), "pip install 'tputriage[tpu]'", hardware=True),
    "emulator": Row(
        "tpu",
        ("torch", "torch_tpu"),
        "pip install 'tputriage[emulator]'",
        env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "TF_CPP_MIN_LOG_LEVEL": "3"},
        emulated=True,
    ),
    # torch_tpu patches torch globally when it is loaded: the reference must not load it.
    "cpu": Row("cpu", ("torch",), "pip install torch", env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}),
}


def find_target(name: str, settings: Settings) -> Target:
    """The target called `name`, ready to be used; "auto" is tpu where there is one, else the emulator.

    Raises TargetError, one line with what to install or do, where this machine does not have it.
    """
    if name == "auto":
        return _best(settings)
    own = settings.targets.get(name, TargetRow())
    row = _row(name, own, settings)
    python = own.python or settings.python or sys.executable
    _check_packages(name, row, python)
    env = {**row.env, **own.env}
    here = allowed({**os.environ, **env}) if row.hardware else ()
    slots = own.slots or len(here) or os.cpu_count() or 1
    return Target(
        name=name,
        device=row.device,
        python=python,
        env=env,
        plugin=_find_plugin(own.plugin or settings.plugin or DEFAULT_PLUGIN, python) if row.emulated else "",
        slots=slots,
        # One worker serves several children at once; more of them pay where forking one after the other is too slow.
        workers=min(own.workers or settings.workers or len(here) or 1, len(here) or slots),
        chips=here,
    )


def check_known(name: str, settings: Settings) -> None:
    """Raises InputError, with the names that are known, for one that no row and no setting has."""
    if name not in ("auto", *ROWS, *settings.targets):
        known = ", ".join(["auto", *ROWS, *settings.targets])
        raise InputError(f"there is no target called {name!r}: take one of {known}, or add it to the settings")


def _row(name: str, own: TargetRow, settings: Settings) -> Row:
    """A shipped row, or the one that a target of the user's is like: an emulator where it names a plugin."""
    if name in ROWS:
        return ROWS[name]
    check_known(name, settings)
    return ROWS["emulator" if own.plugin else "tpu" if own.device == "tpu" else "cpu"]


def plugin_named(target: Target) -> str:
    """What `--plugin` has to say for this target: a plugin's name, else its path; "" for the default or for none."""
    name = next((name for name, path in PLUGINS.items() if target.plugin.endswith(f"/{path}")), target.plugin)
    return "" if name == DEFAULT_PLUGIN else name


def _best(settings: Settings) -> Target:
    for name in ("tpu", "emulator"):
        try:
            return find_target(name, settings)
        except TargetError as exc:
            reason = exc
    raise TargetError(f"no TPU and no emulator here: {reason}")


def _check_packages(name: str, row: Row, python: str) -> None:
    if row.emulated and (sys.platform != "linux" or platform.machine() != "x86_64"):
        raise TargetError(f"the {name} runs on Linux on x86-64 only: torch-tpu has no wheels for other platforms")
    found = _origins(python, row.needs)
    missing = [module for module in row.needs if not found[module]]
    if missing:
        where = "" if python == sys.executable else f" in {python}"
        raise TargetError(f"target {name} needs {' and '.join(missing)}{where}: {row.install}")
    if row.hardware and not chips():
        raise TargetError(f"target {name} needs a TPU chip, and this machine shows none; --target emulator needs none")


def _find_plugin(plugin: str, python: str) -> str:
    if plugin not in PLUGINS:
        if not os.path.isfile(plugin):
            raise InputError(f"there is no PJRT plugin at {plugin}: name a file, or one of {', '.join(PLUGINS)}")
        return str(Path(plugin).resolve())
    torch = _origins(python, ("torch",))["torch"]
    path = Path(torch).parent.parent / PLUGINS[plugin]
    if not path.is_file():
        raise TargetError(f"the emulator's plugin {plugin!r} is not installed: pip install 'tputriage[emulator]'")
    return str(path)


def _origins(python: str, modules: tuple[str, ...]) -> dict[str, str]:
    """Where `python` would import each module from; "" for those it does not have."""
    if python == sys.executable:
        specs = {name: importlib.util.find_spec(name) for name in modules}
        return {name: (spec.origin or "") if spec else "" for name, spec in specs.items()}
    return dict(zip(modules, _ask(python, modules), strict=True))


@cache
def _ask(python: str, modules: tuple[str, ...]) -> tuple[str, ...]:
    try:
        done = subprocess.run([python, "-c", ASK, *modules], capture_output=True, text=True, timeout=60, check=True)
        origins = tuple(done.stdout.splitlines())
    except (OSError, ValueError) as exc:
        raise InputError(f"the interpreter {python} cannot be used: {exc}") from exc
    except subprocess.SubprocessError as exc:
        raise InputError(f"the interpreter {python} cannot be used: it ends with an error, or does not end") from exc
    if len(origins) != len(modules):
        raise InputError(f"the interpreter {python} cannot be used: it is no Python")
    return origins


def emulators(settings: Settings) -> list[str]:
    """Names of the targets that are no hardware: the shipped emulator, and the user's that load a plugin."""
    shipped = [name for name, row in ROWS.items() if row.emulated]
    return [*shipped, *(name for name, row in settings.targets.items() if row.plugin)]
