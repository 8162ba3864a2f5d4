"""Settings that torch and torch_tpu offer as calls and not as variables; a job names them in its environment.

    TPUTRIAGE_MATMUL_PRECISION=highest   torch.set_float32_matmul_precision
    TPUTRIAGE_CPU_FALLBACK=1             operators without a TPU kernel run on CPU
    TPUTRIAGE_CPU_RANDOM=1               random numbers are drawn on CPU, from its stream, and moved
    TPUTRIAGE_SEED_SHIFT=1000            torch.manual_seed takes a seed that is so much higher
    TPUTRIAGE_ATTENTION_KERNELS=1        attention takes the TPU's kernels, which boot.py keeps from the emulator
    TORCH_TPU_LAUNCH_BLOCKING=1          read by torch_tpu when it registers the device, long before the fork;
    TORCH_TPU_DEFER_AND_FUSE=0|1         so these two are calls here as well (tried: without, they change nothing)
    TORCH_COMPILE_DISABLE=1              read by torch when it is imported, which a worker has done long before

Nothing is imported before a variable asks for it: the environment of the target has to stand before torch is.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Mapping
from typing import Any

EXECUTION = "torch_tpu._internal.execution_mode"
BLOCKING = "DEFER_NEVER_AND_LAUNCH_BLOCKING"


def apply(environ: Mapping[str, str], device: str) -> None:
    """Make the calls that `environ` names; in a process that ends with its job, so none is undone."""
    precision = environ.get("TPUTRIAGE_MATMUL_PRECISION")
    if precision:
        importlib.import_module("torch").set_float32_matmul_precision(precision)
    if device != "cpu" and "torch_tpu" in sys.modules:
        _set_execution(environ, importlib.import_module(EXECUTION))
    if environ.get("TORCH_COMPILE_DISABLE") == "1":
        dynamo: Any = importlib.import_module("torch._dynamo.config")
        dynamo.disable = True
    if environ.get("TPUTRIAGE_ATTENTION_KERNELS"):
        boot = importlib.import_module(".boot", __package__)
        boot.switch_attention_kernels(importlib.import_module("torch"), on=True)
    if environ.get("TPUTRIAGE_SEED_SHIFT"):
        importlib.import_module(".seeds", __package__).shift_seeds(int(environ["TPUTRIAGE_SEED_SHIFT"]))
    if environ.get("TPUTRIAGE_CPU_RANDOM") and device != "cpu":
        importlib.import_module(".cpu_random", __package__).CpuRandom().__enter__()


def _set_execution(environ: Mapping[str, str], execution: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch_tpu calls these interfaces experimental each time
        if environ.get("TPUTRIAGE_CPU_FALLBACK"):
            execution.enable_cpu_fallback = True
        if "TORCH_TPU_DEFER_AND_FUSE" in environ:
            deferred = environ["TORCH_TPU_DEFER_AND_FUSE"] == "1"
            execution.eager_mode = execution.EagerMode.DEFER_AND_FUSE if deferred else execution.EagerMode.DEFER_NEVER
        if environ.get("TORCH_TPU_LAUNCH_BLOCKING") == "1":
            execution.eager_mode = execution.EagerMode[BLOCKING]
