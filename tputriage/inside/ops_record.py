"""Modes that listen to every torch call of a test: public calls, aten operators (backward too), modules.

A bounded history of public calls keeps metadata only, so that a test of a million calls costs little. Calls
are numbered in the order they start, which is the same in every run of a deterministic test: a second run can
therefore be told which call to look at closely (`Recorder.watched`).
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import torch

from . import ops, record
from .ops_journal import Journal
from .ops_modes import FunctionMode, OperatorMode

HISTORY = 2000  # public calls that are remembered
MOST_RAISED = 24  # different errors that are remembered; a test may catch many
# Calls that only look at a tensor: they make no data and their records would fill the history.
LOOKS = ("__get__", "size", "dim", "stride", "numel", "is_floating_point", "is_complex", "__len__", "data_ptr")


class Recorder:
    """What was called and what raised; `listening` is entered around a test."""

    def __init__(
        self,
        watched: Sequence[int] = (),
        *,
        operators: bool = True,
        blocking: bool = False,
        journal: Journal | None = None,
    ) -> None:
        self.tensors = ops.Tensors()
        self.history: deque[dict[str, Any]] = deque(maxlen=HISTORY)
        self.watched = frozenset(watched)
        self.seen: dict[int, dict[str, Any]] = {}  # watched calls with values, by number
        self.count = 0
        self.raised: list[dict[str, Any]] = []
        self._operators = operators
        self._blocking = blocking
        self._journal = journal
        self._busy = threading.local()

    @contextmanager
    def listening(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(_modules(self))
            if self._blocking:
                stack.enter_context(_each_call_finished())
            stack.enter_context(FunctionMode(self.public_call))
            if self._operators:
                stack.enter_context(OperatorMode(self.operator))
            yield

    def public_call(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        name = ops.public_name(func)
        if name.endswith(LOOKS):
            return func(*args, **kwargs)
        entry = self._enter(func, args, kwargs)
        try:
            result = func(*args, **kwargs)
        except Exception as exc:
            self._note(exc, "public", func, args, kwargs, entry)
            raise
        if self._journal:
            self._journal.end("public")
        entry["made"] = ops.describe(result, self.tensors)
        entry["to"] = torch.autograd._get_sequence_nr()
        return result

    def _enter(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        self.count += 1
        number = self.count
        entry = ops.call_of(func, args, kwargs, self.tensors, values=number in self.watched)
        entry.update(number=number, grad=torch.is_grad_enabled())
        entry["from"] = torch.autograd._get_sequence_nr()
        self.history.append(entry)
        if self._journal:
            self._journal.begin("public", entry)
        if number in self.watched:
            self.seen[number] = entry
        return entry

    def operator(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if self._journal:
            self._journal.begin("aten", ops.call_of(func, args, kwargs, self.tensors))
        try:
            return func(*args, **kwargs)
        except Exception as exc:
            self._note(exc, "aten", func, args, kwargs, {})
            raise

    def module_call(self, module: Any, call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        try:
            return call(module, *args, **kwargs)
        except Exception as exc:
            found = self._group(exc)
            if found is not None:
                found["modules"].append(self._module(module, args, kwargs))
            raise

    def _module(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        kind = type(module)
        return {
            "kind": f"{kind.__module__}.{kind.__qualname__}",
            "repr": repr(module) if not any(module.children()) else "",
            "training": module.training,
            "args": [ops.describe(item, self.tensors, values=True) for item in args],
            "kwargs": {key: ops.describe(item, self.tensors, values=True) for key, item in kwargs.items()},
        }

    def _note(self, exc: Exception, level: str, func: Any, args: Any, kwargs: Any, entry: Mapping[str, Any]) -> None:
        found = self._group(exc)
        if found is None or any(call["level"] == level for call in found["calls"]):
            return
        node = torch._C._current_autograd_node()
        call = ops.call_of(func, args, kwargs, self.tensors, values=True)
        call.update(level=level, number=entry.get("number", self.count), grad=torch.is_grad_enabled())
        found["calls"].append(call)
        if node is not None and not found["node"]:
            found["node"] = {"name": node.name(), "sequence": node._sequence_nr()}
            found["forward"] = self._forward_of(node._sequence_nr())

    def _group(self, exc: Exception) -> dict[str, Any] | None:
        """The record of this error; the same text passing through further calls is the same error."""
        key = (record.type_name(exc), record.message_of(exc))
        for found in self.raised:
            if (found["exception"], found["message"]) == key:
                return found
        if len(self.raised) >= MOST_RAISED:
            return None
        fresh: dict[str, Any] = {"exception": key[0], "message": key[1], "calls": [], "modules": []}
        fresh.update(node=None, forward=None)
        self.raised.append(fresh)
        return fresh

    def _forward_of(self, sequence: int) -> dict[str, Any] | None:
        """The public call during which the autograd node of that number was made."""
        for entry in reversed(self.history):
            if entry["from"] <= sequence < entry.get("to", entry["from"]):
                return entry
        return None


def _each_call_finished() -> AbstractContextManager[Any]:
    """The device finishes each call before the next. Its environment variable counts only before the import."""
    device = getattr(torch, "tpu", None)
    if device is None or not hasattr(device, "set_eager_mode"):
        return nullcontext()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it calls itself experimental
        return device.set_eager_mode(device.EagerMode.DEFER_NEVER_AND_LAUNCH_BLOCKING)


@contextmanager
def _modules(recorder: Recorder) -> Iterator[None]:
    """`nn.Module.__call__` replaced while the test runs; this process serves one test and ends."""
    call = torch.nn.Module.__call__

    def listen(module: Any, *args: Any, **kwargs: Any) -> Any:
        return recorder.module_call(module, call, args, kwargs)

    torch.nn.Module.__call__ = listen
    try:
        yield
    finally:
        torch.nn.Module.__call__ = call
