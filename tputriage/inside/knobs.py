"""Settings that torch and torch_tpu offer as calls and not as variables; a job names them in its environment.

    TPUTRIAGE_MATMUL_PRECISION=highest   torch.set_float32_matmul_precision
    TPUTRIAGE_CPU_FALLBACK=1             operators without a TPU kernel run on CPU
    TPUTRIAGE_CPU_RANDOM=1               random numbers are drawn on CPU, from its stream, and moved
    TORCH_COMPILE_DISABLE=1              read by torch when it is imported, which a worker has done long before

Nothing is imported before a variable asks for it: the environment of the target has to stand before torch is.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping


def apply(environ: Mapping[str, str], device: str) -> None:
    """Make the calls that `environ` names; in a process that ends with its job, so none is undone."""
    precision = environ.get("TPUTRIAGE_MATMUL_PRECISION")
    if precision:
        importlib.import_module("torch").set_float32_matmul_precision(precision)
    if environ.get("TPUTRIAGE_CPU_FALLBACK") and device != "cpu" and "torch_tpu" in sys.modules:
        importlib.import_module("torch_tpu._internal.execution_mode").enable_cpu_fallback = True
    if environ.get("TORCH_COMPILE_DISABLE") == "1":
        importlib.import_module("torch._dynamo.config").disable = True
    if environ.get("TPUTRIAGE_CPU_RANDOM") and device != "cpu":
        importlib.import_module(".cpu_random", __package__).CpuRandom().__enter__()
