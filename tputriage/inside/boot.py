"""Brings a target's device up as far as importing goes; the device itself is touched only after the fork.

For the emulator this does by hand what torch_tpu's loader does when it finds a TPU on the PCI bus, with a CPU
PJRT plugin in the place of libtpu.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# Words of PJRT's C interface (pjrt_c_api.h): PJRT_Api is struct_size, extension_start, a version struct of
# three words, then function pointers, of which PJRT_Client_Create is the eleventh. PJRT_Client_Create_Args is
# struct_size, extension_start, create_options, num_options, …
WORD = ctypes.sizeof(ctypes.c_void_p)
CLIENT_CREATE = 15 * WORD
NUM_OPTIONS = 3 * WORD
GENERIC = "PYTORCH_TESTING_DEVICE_ONLY_FOR"  # the switch of PyTorch's device-generic tests
DEVICES = 4  # what a CPU plugin says once it is asked
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
AUTOLOAD = str(Path(__file__).resolve().parent / "autoload")
_up: list[str] = []  # the plugin over which this process has its device
_kept: list[Any] = []  # ctypes callbacks live as long as the process may call them


def bring_up(device: str, plugin: str) -> None:
    """Imports torch with `device` registered; raises what torch raises where that cannot be."""
    if plugin:
        os.environ.update(TORCH_DEVICE_BACKEND_AUTOLOAD="0", TPU_LIBRARY_PATH=plugin)
        bring_up_emulator(plugin)
        os.environ.update(for_subprocesses(plugin, os.environ))
    # Imported by hand, since the environment of the target has to stand before.
    importlib.import_module("torch").device(device)


def for_subprocesses(plugin: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables with which `import torch` in another process brings up the emulator: see autoload/."""
    path = environ.get("PYTHONPATH", "")
    places = [AUTOLOAD, *(place for place in path.split(os.pathsep) if place and place != AUTOLOAD)]
    return {
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
        "TPUTRIAGE_PLUGIN": plugin,
        "TPU_LIBRARY_PATH": plugin,  # torch_tpu's own entry point may come first, and reads it when imported
        "PYTHONPATH": os.pathsep.join(places),
    }


def bring_up_emulator(plugin: str) -> None:
    """Registers the device over `plugin`, once; torch may be in the last line of its own import."""
    if plugin in _up:
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    torch = importlib.import_module("torch")
    loader = importlib.import_module("torch_tpu._loader")
    _up.append(plugin)
    os.environ["TPU_LIBRARY_PATH"] = plugin  # importing torch_tpu may have pointed it to libtpu
    accept_options(plugin)
    loader._init_device("tpu")
    if GENERIC in os.environ:
        count_devices_before_use()
    switch_attention_kernels(torch, on=False)


def count_devices_before_use() -> None:
    """Makes `torch.tpu.is_available()` true before the device is used, as it is where the PCI bus shows chips.

    PyTorch's device-generic tests ask for it when they are imported, and are not made without.
    """
    module: Any = importlib.import_module("torch_tpu._internal.device._device_module")
    on_bus = vars(module.hardware)
    module.hardware = SimpleNamespace(**{**on_bus, "get_tpu_device_count": lambda: DEVICES})


def switch_attention_kernels(torch: Any, *, on: bool) -> None:
    """Attention on `tpu` is a TPU custom kernel that no CPU plugin has; the math path runs everywhere."""
    torch.backends.cuda.enable_cudnn_sdp(on)
    torch.backends.cuda.enable_flash_sdp(on)
    torch.backends.cuda.enable_mem_efficient_sdp(on)


def accept_options(plugin: str) -> None:
    """Makes the plugin's PJRT_Client_Create try again without options where it refuses the ones it is given.

    torch_tpu passes `premapped_buffer_size`, which newer CPU plugins reject as unknown.
    """
    library = ctypes.CDLL(plugin)
    library.GetPjrtApi.restype = ctypes.c_void_p
    slot = library.GetPjrtApi() + CLIENT_CREATE
    create = _FUNCTION(ctypes.c_void_p.from_address(slot).value or 0)

    def create_or_retry(arguments: int) -> int | None:
        error = create(arguments)
        count = ctypes.c_size_t.from_address(arguments + NUM_OPTIONS)
        if error and count.value:
            count.value = 0
            error = create(arguments)
        return error

    replacement = _FUNCTION(create_or_retry)
    _kept.extend((library, create, replacement))
    _make_writable(slot)
    ctypes.c_void_p.from_address(slot).value = ctypes.cast(replacement, ctypes.c_void_p).value


def _make_writable(address: int) -> None:
    page = os.sysconf("SC_PAGESIZE")
    start = address & ~(page - 1)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(2 * page), 3) != 0:
        raise OSError(ctypes.get_errno(), "the plugin's function table cannot be made writable")
