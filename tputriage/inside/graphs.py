"""The graphs that dynamo hands to the compiler while a test runs, kept with their inputs, and tried again.

Every graph passes through one method of dynamo, whatever the backend; there it is copied, since backends change
the graph they are given. A graph is in trouble where the compiled one raises, in the call, in reading its result
or in backward, or where what it gives or changes departs from the same graph run eagerly on the same inputs.
"""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.output_graph import OutputGraph
from torch.utils._python_dispatch import _disable_current_modes

from . import record
from .ops_copies import tensors_in
from .ops_shadow import closeness

MOST_GRAPHS = 24
MOST_BYTES = 1 << 30  # of copied inputs, over all graphs; parameters are not copied
HEAD = 2  # lines of a message that tell errors apart: a compiler's first one names only itself


@dataclass
class Kept:
    """One graph as it came, its inputs as they were then, and how the test compiled it."""

    module: Any
    inputs: list[Any]
    options: dict[str, Any]  # what the test gave to torch.compile, as far as it matters
    error: str = ""  # what compiling raised, told by `told`


@dataclass(frozen=True)
class Trouble:
    """How a compiled graph fails."""

    kind: str  # raised | values | state
    stage: str  # call | read | backward
    said: str  # the error, told by `told`; how large the difference is
    exception: str = ""
    message: str = ""
    output: int = -1  # which tensor of the result, or which input; -1 for the only one

    def like(self, other: Trouble | None) -> bool:
        if other is None or self.kind != other.kind or self.stage != other.stage:
            return False
        return self.kind != "raised" or self.said == other.said


@dataclass
class Graphs:
    """What was compiled while `watching`."""

    device: str
    kept: list[Kept] = field(default_factory=list)
    count: int = 0
    _bytes: int = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        graph: Any = OutputGraph
        compile_graph: Callable[..., Any] = graph.call_user_compiler

        def keep(output: Any, module: Any, inputs: Any) -> Any:
            self.count += 1
            kept = self._keep(output, module, inputs)
            try:
                return compile_graph(output, module, inputs)
            except Exception as exc:
                if kept is not None:
                    kept.error = told(exc)
                raise

        graph.call_user_compiler = keep
        try:
            yield
        finally:
            graph.call_user_compiler = compile_graph

    def _keep(self, output: Any, module: Any, inputs: Sequence[Any]) -> Kept | None:
        own = [item for item in inputs if isinstance(item, torch.Tensor) and not _is_parameter(item)]
        self._bytes += sum(tensor.untyped_storage().nbytes() for tensor in own)
        if len(self.kept) >= MOST_GRAPHS or self._bytes > MOST_BYTES:
            return None
        same = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
        given = fresh(inputs, parameters=False)
        if not torch.is_grad_enabled():  # compiled for inference, and to be compiled so again
            given = [item.detach() if isinstance(item, torch.Tensor) else item for item in given]
        self.kept.append(Kept(same, given, _options(output, self.device)))
        return self.kept[-1]

    def in_trouble(self, deadline_s: float) -> tuple[Kept, Trouble] | None:
        """The graph whose compilation raised in the test, else the first that fails when it is tried again."""
        for kept in sorted(self.kept, key=lambda kept: not kept.error):
            if time.monotonic() > deadline_s:
                return None
            found = trouble(kept.module, kept.inputs, kept.options)
            if found is not None and (found.kind == "raised" or not _is_random(kept)):
                return kept, found
        return None


def trouble(module: Any, inputs: Sequence[Any], options: Mapping[str, Any]) -> Trouble | None:
    """How the compiled graph fails on these inputs, if it does and the eager one does not."""
    torch._dynamo.reset()
    actual = _Went(torch.compile(_function(module), **options), inputs)
    expected = _Went(module, inputs)
    if expected.error is not None:
        return None
    if actual.error is not None:
        name, message = record.type_name(actual.error), record.message_of(actual.error)
        return Trouble("raised", actual.stage, told(actual.error), name, message, actual.output)
    for kind, ours, theirs in (
        ("values", actual.result, expected.result),
        ("state", actual.inputs, expected.inputs),
    ):
        place, said = _departs(ours, theirs)
        if said:
            several = kind == "state" or isinstance(actual.result, (tuple, list))
            return Trouble(kind, "call", said, output=place if several else -1)
    return None


def _function(module: Any) -> Callable[..., Any]:
    """Dynamo does not trace into a graph module itself: what it wrote is taken as compiled."""
    return lambda *inputs: module(*inputs)


class _Went:
    """One run of a graph: call, read, backward."""

    def __init__(self, call: Any, inputs: Sequence[Any]) -> None:
        self.inputs = fresh(inputs)
        self.result: Any = None
        self.error: Exception | None = None
        self.stage = "call"
        self.output = -1
        try:
            self.result = call(*self.inputs)
            self.stage = "read"
            found = tensors_in(self.result)
            for place, tensor in enumerate(found):
                self.output = place
                tensor.detach().cpu()
            self.stage = "backward"
            for place, tensor in enumerate(found):
                self.output = place
                if tensor.requires_grad and tensor.is_floating_point():
                    tensor.sum().backward(retain_graph=True)
                    break
        except Exception as exc:
            self.error = exc


def fresh(inputs: Sequence[Any], *, parameters: bool = True) -> list[Any]:
    """Leaves of the same numbers, layout and wish for a gradient; parameters themselves where not wanted anew."""
    with _disable_current_modes(), torch.no_grad():
        return [_fresh(item) if parameters or not _is_parameter(item) else item for item in inputs]


def _fresh(item: Any) -> Any:
    if not isinstance(item, torch.Tensor):
        return int(item) if isinstance(item, torch.SymInt) else item
    flat = item.detach()
    reach = sum((size - 1) * stride for size, stride in zip(flat.shape, flat.stride(), strict=True)) + 1
    if flat.is_contiguous() or flat.numel() == 0:
        anew = flat.clone()
    else:
        anew = flat.as_strided((reach,), (1,)).clone().as_strided(flat.shape, flat.stride())
    return anew.requires_grad_(item.requires_grad)


def _is_parameter(item: Any) -> bool:
    return isinstance(item, torch.nn.Parameter)


def _is_random(kept: Kept) -> bool:
    """Whether the eager graph gives two different results for one input: it draws numbers."""
    first, second = _Went(kept.module, kept.inputs), _Went(kept.module, kept.inputs)
    return first.error is not None or second.error is not None or bool(_departs(first.result, second.result)[1])


def _departs(ours: Any, theirs: Any) -> tuple[int, str]:
    """(place of the first tensor that differs, how)."""
    left, right = tensors_in(ours), tensors_in(theirs)
    if len(left) != len(right):
        return -1, f"{len(left)} tensors, eagerly {len(right)}"
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            return place, f"{list(one.shape)} of {one.dtype}, eagerly {list(other.shape)} of {other.dtype}"
        alike, largest = closeness(one, other.detach().cpu())
        if not alike:
            return place, f"largest difference {largest:.3g}"
    return -1, ""


def told(exc: BaseException) -> str:
    """What tells this error apart from another one of the same graph made smaller: type and message without numbers."""
    lines = [line for line in record.message_of(exc).splitlines() if line.strip()][:HEAD]
    return re.sub(r"\d+", "#", "\n".join((record.type_name(exc), *lines)))


def _options(output: Any, device: str) -> dict[str, Any]:
    """The arguments of torch.compile that a script has to repeat; the default backend of each device has no name."""
    name = str(getattr(output.compiler_fn, "_compiler_name", "") or "")
    usual = "inductor" if device == "cpu" else "tpu"
    known = name in torch._dynamo.list_backends(exclude_tags=()) and name != usual
    dynamic = not torch._dynamo.config.assume_static_by_default
    return ({"backend": name} if known else {}) | ({"dynamic": True} if dynamic else {})
