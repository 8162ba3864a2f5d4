"""Each public call done on CPU too, with copies of its inputs, and everything it gives or changes compared.

Inputs are copied from the device, so that an earlier difference is not counted again: the first call whose
outputs depart though its inputs agree is the culprit. Calls that draw random numbers or hand out memory nobody
wrote are never compared. Where no public call is (backward, `torch.ops.aten`), the aten operators are compared.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from . import ops, record
from .ops_copies import Copies, copied, mapped, tensors_in
from .ops_modes import FunctionMode, OperatorMode
from .ops_record import LOOKS

MOST_FOUND = 8
# Calls that move data, start the backward pass or only set a flag.
PASSED_OVER = (
    *("backward", "torch.autograd.grad", "requires_grad_", "retain_grad", "register_hook", "data_ptr", "item"),
    *("tolist", "numpy", "torch.Tensor.cpu", "__repr__", "__format__", "manual_seed", "__hash__", "is_shared"),
)
# Where torch leaves the order among equal elements open.
TIES = (
    *("topk", "sort", "argsort", "argmax", "argmin", "max", "min", "median", "nanmedian", "mode", "kthvalue", "unique"),
    *("msort", "cummax", "cummin"),
)
# Where it leaves open the sign, phase or basis of vectors: the result that is unique all the same, if any.
BASES = {"svd": 1, "svd_lowrank": 1, "pca_lowrank": 1, "eigh": 0, "lobpcg": 0, "eig": -1, "qr": -1, "geqrf": -1}
FACTOR = 8.0  # how far beyond torch.testing's tolerance a difference must lie
ARBITER = 4.0  # and how much further from float64 than CPU's own result


class Shadow:
    def __init__(self, device: str) -> None:
        self.device = device
        self.tensors = ops.Tensors()
        self.departures: list[dict[str, Any]] = []
        self.open: list[str] = []  # calls that differ in what torch leaves open
        self.compared = 0
        self.random: list[str] = []  # calls that draw numbers or hand out unwritten memory: never compared
        self.largest = ("", 0.0)  # call with the largest difference within tolerance
        self._inside = threading.local()

    @contextmanager
    def listening(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(FunctionMode(self.public_call))
            stack.enter_context(OperatorMode(self.operator))
            yield

    def public_call(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        name = ops.public_name(func)
        if not name or name.endswith(LOOKS + PASSED_OVER):
            return func(*args, **kwargs)
        return self._compared(func, args, kwargs)

    def operator(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags or "empty" in func._opname or "resize" in func._opname:
            self._inside.random = True
        if getattr(self._inside, "busy", False):
            return func(*args, **kwargs)
        return self._compared(func, args, kwargs)

    def _compared(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        copies = None if len(self.departures) >= MOST_FOUND else copied(self.device, args, kwargs)
        if copies is None or not _touches(self.device, args, kwargs):
            return func(*args, **kwargs)
        given = ops.call_of(func, args, kwargs, self.tensors, values=copies.made)
        expected, error = _on_cpu(func, args, kwargs, copies)
        self._inside.random, self._inside.busy = False, True
        try:
            actual = func(*args, **kwargs)
        except Exception as exc:
            self._judge_error(given, error, exc)
            raise
        finally:
            self._inside.busy = False
        if self._inside.random:
            self.random.append(given["name"])
        else:
            self.compared += 1
            self._judge(given, Outcome(actual, expected, error, args, kwargs, copies), func)
        return actual

    def _judge_error(self, given: dict[str, Any], expected: Exception | None, actual: Exception) -> None:
        """Both sides refuse the call, in other words: a test may ask for CPU's."""
        if expected is None or not _is_refusal(expected) or str(expected) == str(actual):
            return
        kind = "message" if type(expected) is type(actual) else "exception"
        detail = f"{record.type_name(expected)}: {record.message_of(expected)}"
        self.departures.append({"kind": kind, "detail": detail, "output": -1, "call": given})

    def _judge(self, given: dict[str, Any], outcome: Outcome, func: Any) -> None:
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            try:
                found = outcome.departure(func)
            except Exception:  # outputs of a kind that cannot be compared
                return
        if found is None:
            if outcome.largest > self.largest[1]:
                self.largest = (given["name"], outcome.largest)
        elif found["kind"] == "open":
            self.open.append(given["name"])
        else:
            self.departures.append(found | {"call": given})


class Outcome:
    """What a call gave on the device and on CPU."""

    def __init__(
        self, actual: Any, expected: Any, error: Exception | None, args: Any, kwargs: Any, copies: Copies
    ) -> None:
        self.actual = actual
        self.expected = expected
        self.error = error
        self.inputs = tensors_in((list(args), dict(kwargs)))
        self.given = (args, kwargs)
        self.copies = copies
        self.largest = 0.0

    def departure(self, func: Any) -> dict[str, Any] | None:
        """The first difference that counts, or None."""
        if self.error is not None:
            kind = record.type_name(self.error)
            return {"kind": "no-error", "detail": kind, "output": -1} if _is_refusal(self.error) else None
        actual, expected = tensors_in(self.actual), tensors_in(self.expected)
        if len(actual) != len(expected):
            return {"kind": "count", "detail": f"{len(actual)} tensors, {len(expected)} on CPU", "output": -1}
        several = isinstance(self.actual, (tuple, list))
        left_open = None
        for place, (ours, theirs) in enumerate(zip(actual, expected, strict=True)):
            found = self._difference(ours, theirs, func, place)
            if found is not None and found["kind"] != "open":
                return found | {"output": place if several else -1}
            left_open = left_open or found
        return self._changed_inputs() or left_open

    def _difference(self, ours: Any, theirs: Any, func: Any, place: int) -> dict[str, Any] | None:
        for kind in ("shape", "dtype"):
            if getattr(ours, kind) != getattr(theirs, kind):
                return {
                    "kind": kind,
                    "detail": f"{_shown(getattr(ours, kind))}, {_shown(getattr(theirs, kind))} on CPU",
                }
        close, largest = closeness(ours, theirs)
        self.largest = max(self.largest, largest)
        if not close and ours.dtype.is_floating_point and self._cpu_is_as_far(func, ours, theirs, place):
            return None
        if not close:
            tie = not ours.dtype.is_floating_point and _may_tie(func, self.inputs)
            left_open = tie or BASES.get(_short(func), place) != place
            return {"kind": "open" if left_open else "values", "detail": f"largest difference {largest:.3g}"}
        if ours.numel() > 1 and ours.stride() != theirs.stride() and _aliases(theirs, self.copies.made.values()):
            return {"kind": "stride", "detail": f"{tuple(ours.stride())}, {tuple(theirs.stride())} on CPU"}
        return None

    def _changed_inputs(self) -> dict[str, Any] | None:
        for place, tensor in enumerate(self.copies.originals):
            close, largest = closeness(tensor, self.copies.made[id(tensor)])
            if not close:
                return {"kind": "state", "detail": f"largest difference {largest:.3g}", "output": place}
        return None

    def _cpu_is_as_far(self, func: Any, ours: Any, theirs: Any, place: int) -> bool:
        """Whether float64 says that CPU's float32 result is about as wrong as the device's."""
        try:
            args, kwargs = mapped(self.copies.of((list(self.given[0]), dict(self.given[1]))), _as_double)
            exact = tensors_in(func(*args, **kwargs))[place]
        except Exception:  # no float64 kernel, or an operator that insists on a dtype
            return False
        far = [float((side.detach().cpu().double() - exact).abs().nan_to_num().max()) for side in (ours, theirs)]
        return far[0] <= ARBITER * far[1]


def _on_cpu(func: Any, args: Any, kwargs: Any, copies: Copies) -> tuple[Any, Exception | None]:
    """The same call on the copies, which it may change, before the device may change the originals."""
    try:
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            moved, named = copies.of((list(args), dict(kwargs)))
            return func(*moved, **named), None
    except Exception as exc:
        return None, exc


def _touches(device: str, args: Any, kwargs: Any) -> bool:
    """Whether a tensor lies on the device, or is to be made there."""
    if any(tensor.device.type == device for tensor in tensors_in((list(args), dict(kwargs)))):
        return True
    place = kwargs.get("device")
    return place is not None and torch.device(place).type == device


def _is_refusal(error: Exception) -> bool:
    """An error about the arguments, not one that CPU has no such kernel."""
    text = str(error)
    return not isinstance(error, NotImplementedError) and "not implemented" not in text and "device" not in text.lower()


def closeness(ours: Any, theirs: Any) -> tuple[bool, float]:
    """(within tolerance, largest difference)."""
    left, right = ours.detach().cpu(), theirs.detach()
    if left.numel() == 0 or left.shape != right.shape:
        return left.shape == right.shape, 0.0
    if not (left.dtype.is_floating_point or left.dtype.is_complex):
        return bool(torch.equal(left, right)), float((left.double() - right.double()).abs().max())
    relative, absolute = torch.testing._comparison.default_tolerances(left, right)
    fine = torch.isclose(left, right, rtol=FACTOR * relative, atol=FACTOR * absolute, equal_nan=True)
    return bool(fine.all()), float((left - right).abs().nan_to_num(posinf=0.0, neginf=0.0).max())


def _may_tie(func: Any, inputs: Sequence[Any]) -> bool:
    if _short(func) not in TIES and not _short(func).endswith("_with_indices"):
        return False
    values = inputs[0].detach().cpu().reshape(-1)
    return bool(torch.unique(values).numel() < values.numel())


def _short(func: Any) -> str:
    """`svd` of `torch.linalg.svd` and of `aten._linalg_svd`."""
    name = str(getattr(func, "_opname", "") or getattr(func, "__name__", ""))
    return name.strip("_").removeprefix("linalg_")


def _aliases(tensor: Any, others: Any) -> bool:
    return any(tensor.untyped_storage()._cdata == other.untyped_storage()._cdata for other in others)


def _as_double(leaf: Any) -> Any:
    return leaf.double() if isinstance(leaf, torch.Tensor) and leaf.dtype.is_floating_point else leaf


def _shown(value: Any) -> str:
    return str(list(value)) if isinstance(value, torch.Size) else str(value)
