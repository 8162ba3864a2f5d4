"""A suite that hard-codes its device's name, run on another device: the name is redirected, the text is not touched.

`named` is what the suite writes ("tpu", "cuda"), `device` what this process has. A function mode rewrites the name in
the arguments of every call that torch lets a mode see, `torch.device(...)` among them; the few doors that no mode
sees are wrapped; and the device's own module and methods (`torch.tpu`, `x.cuda()`) stand for those of `device`.
torch itself still sees the truth: what it calls in torch.cuda is not redirected.

Limits: threads that a test starts are not redirected, and `x.device.type` says the real device.
"""

from __future__ import annotations

import functools
import re
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Function = Callable[..., Any]
DEVICE = torch.device  # a test may put something else in its place
WRAPPED = (  # Python functions whose arguments may name a device, and that no mode sees
    (torch.amp.autocast_mode.autocast, "__init__"),
    (torch.random, "fork_rng"),
    (torch, "load"),
    (torch, "get_device_module"),
)
_undo: list[Callable[[], None]] = []


def install(named: str, device: str) -> None:
    """From here on `named` is `device`, in this thread and in what is forked off it; until `lift`."""
    if named == device or _undo:
        return
    mode = Redirect(named, device)
    mode.__enter__()
    _undo.append(lambda: mode.__exit__(None, None, None))
    for place, name in WRAPPED:
        _set(place, name, _renaming(getattr(place, name), mode))
    _set(torch, "Generator", _generator(mode))
    _offer_module(named, device)
    for kind in (torch.Tensor, torch.nn.Module):
        if not hasattr(kind, named):
            _set(kind, named, lambda self, *args, **options: self.to(device))
    if not hasattr(torch.Tensor, f"is_{named}"):
        _set(torch.Tensor, f"is_{named}", property(lambda self: self.device.type == device))


def lift() -> None:
    """As before `install`: a script is told its device, and must not be helped."""
    while _undo:
        _undo.pop()()


class Redirect(TorchFunctionMode):
    """Rewrites the device's name in each call."""

    def __init__(self, named: str, device: str) -> None:
        super().__init__()
        self._named = named
        self._device = device
        self._name = re.compile(rf"{re.escape(named)}(:\d+)?")
        self._moves = getattr(torch.Tensor, named, None)  # Tensor.cuda
        getter = getattr(torch.Tensor, f"is_{named}", None)
        self._asks = getattr(getter, "__get__", None)  # Tensor.is_cuda

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is self._moves:
            return args[0].to(self._device)
        if func == self._asks:
            return args[0].device.type == self._device
        options = dict(kwargs or {})
        new_args, new_options = self.renamed(args, options)
        if func is DEVICE and self._device == "cpu" and (new_args, new_options) != (args, options):
            return func("cpu")  # without a number: "cpu:0" is not the "cpu" that tensors say
        return func(*new_args, **new_options)

    def renamed(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(map(self.rename, args)), {name: self.rename(value) for name, value in kwargs.items()}

    def rename(self, value: Any) -> Any:
        if isinstance(value, str):
            found = self._name.fullmatch(value)
            return value if not found else self._device + (found[1] or "" if self._device != "cpu" else "")
        if isinstance(value, DEVICE) and value.type == self._named:
            return DEVICE(self._device)
        return value


def _set(place: Any, name: str, value: Any) -> None:
    """`place.name = value`, to be undone."""
    had, before = name in vars(place), vars(place).get(name)
    setattr(place, name, value)
    _undo.append(lambda: setattr(place, name, before) if had else delattr(place, name))


def _renaming(function: Function, mode: Redirect) -> Function:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        new_args, new_kwargs = mode.renamed(args, kwargs)
        return function(*new_args, **new_kwargs)

    return wrapped


def _generator(mode: Redirect) -> type:
    """A class in torch.Generator's place that makes real ones, and of which real ones are instances."""
    real = torch.Generator

    class Meta(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            new_args, new_kwargs = mode.renamed(args, kwargs)
            return real(*new_args, **new_kwargs)

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, real)

    return Meta("Generator", (), {"__doc__": real.__doc__})


def _offer_module(named: str, device: str) -> None:
    """`torch.<named>`: made where it is not there, else its functions answer for `device` to all but torch itself."""
    offered = _functions(device)
    module = getattr(torch, named, None)
    if module is None:
        module = types.ModuleType(f"torch.{named}")
        vars(module).update(offered)
        _set(torch, named, module)
        return
    for name, function in offered.items():
        if hasattr(module, name):
            _set(module, name, _for_all_but_torch(getattr(module, name), function))


def _for_all_but_torch(real: Function, other: Function) -> Function:
    @functools.wraps(real)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        caller = str(sys._getframe(1).f_globals.get("__name__", ""))
        return (real if caller == "torch" or caller.startswith("torch.") else other)(*args, **kwargs)

    return chosen


def _functions(device: str) -> dict[str, Function]:
    """What a device's module offers: the accelerator's own interface has it under other names, and on CPU what it
    comes to there. (torch_tpu keeps the functions of `torch.tpu` to torch itself.)"""
    if device != "cpu":
        there = torch.accelerator
        return {
            "is_available": lambda: True,
            "device_count": there.device_count,
            "current_device": there.current_device_index,
            "set_device": there.set_device_index,
            "synchronize": there.synchronize,
            "manual_seed": torch.manual_seed,
            "manual_seed_all": torch.manual_seed,
            "empty_cache": getattr(there, "empty_cache", _nothing),
        }
    generator = torch.default_generator
    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *args: True,
        "device_count": lambda: 1,
        "manual_seed": generator.manual_seed,
        "manual_seed_all": generator.manual_seed,
        "get_rng_state": lambda *args: generator.get_state(),
        "set_rng_state": lambda state, *args: generator.set_state(state),
        **dict.fromkeys(("current_device", "memory_allocated", "max_memory_allocated", "memory_reserved"), _zero),
        **dict.fromkeys(("init", "set_device", "synchronize", "empty_cache", "reset_peak_memory_stats"), _nothing),
    }


def _zero(*args: Any, **kwargs: Any) -> int:
    return 0


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None
