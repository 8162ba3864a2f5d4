"""A captured torch call as a value that can be made smaller: tensors by shape, layout, dtype and filling.

A `Layout` says how such a tensor comes about (a permutation, a slice, an expansion), so that a smaller tensor
keeps what matters of its strides. Read in `reading`, written in `writing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

FLOATS = frozenset({"float32", "float64", "float16", "bfloat16"})
COMPLEX = frozenset({"complex64", "complex128", "complex32"})


class Fill(StrEnum):
    """How a tensor's values come about, the plainest first."""

    ONES = "ones"
    ZEROS = "zeros"
    RANDN = "randn"
    RAND = "rand"
    EYE = "eye"
    ARANGE = "arange"
    FULL = "full"  # one captured number
    VALUES = "values"  # the captured ones, written out
    EMPTY = "empty"  # none: for a call that fails before it reads any


class Way(StrEnum):
    """How a layout comes about."""

    CONTIGUOUS = "contiguous"
    PERMUTED = "permuted"
    EXPANDED = "expanded"
    SLICED = "sliced"  # every `step`th of the last dimension
    CUT = "cut"  # the first part of the last dimension
    OFFSET = "offset"  # all but the first of the first dimension
    RAW = "raw"  # as_strided


@dataclass(frozen=True, slots=True)
class Layout:
    way: Way = Way.CONTIGUOUS
    order: tuple[int, ...] = ()  # PERMUTED: dimensions in the order of memory; EXPANDED: the expanded ones
    step: int = 1  # SLICED
    strides: tuple[int, ...] = ()  # RAW
    offset: int = 0  # RAW


CONTIGUOUS = Layout()


@dataclass(frozen=True, slots=True)
class Tensor:
    id: int
    dims: tuple[int, ...]
    dtype: str
    on_device: bool = True
    requires_grad: bool = False
    layout: Layout = CONTIGUOUS
    fill: Fill = Fill.ONES
    values: tuple[Any, ...] = ()  # flat, row-major; one for FULL
    form: str = ""  # what a strided tensor becomes at last, around a `{}`: `{}.to_sparse_csr()`, `{}.conj()`
    leaf: bool = True
    view: View | None = None

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS or self.dtype in COMPLEX


@dataclass(frozen=True, slots=True)
class View:
    """A tensor that lies in another's memory, and what is done to the other to get it: `[1:]`, `.T`."""

    base: Tensor
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """An expression that stands for itself: `torch.float32`, `...`, `float("nan")`."""

    text: str


@dataclass(frozen=True, slots=True)
class Device:
    """The device under test, or another by its type."""

    text: str


@dataclass(frozen=True, slots=True)
class Slice:
    parts: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[Value, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Pairs:
    """A dict with text as keys."""

    items: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Generator:
    """A random number generator of the device under test, or of CPU."""

    on_device: bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """What cannot be written down."""

    text: str


Value: TypeAlias = bool | int | float | str | Tensor | Name | Device | Generator | Slice | Items | Pairs | Opaque | None


@dataclass(frozen=True, slots=True)
class Call:
    """One call; `then` is what is done with its result: "" | ".cpu()" | "backward"."""

    name: str
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    parameters: tuple[str, ...] = ()
    needed: int = 0  # positional arguments that a call must give
    then: str = ""
    index: int = -1  # which item of a result that is a tuple `then` is about; -1 for the result itself
    compiled: bool = False  # the call alone under torch.compile

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Each once, in the order of the call; what another lies in comes before it."""
        tensors = (leaf for value in (*self.args, *self.kwargs.values()) for leaf in tensors_of(value))
        ordered = (part for leaf in tensors for part in ((leaf.view.base, leaf) if leaf.view else (leaf,)))
        return tuple({part.id: part for part in ordered}.values())

    @property
    def changes_in_place(self) -> bool:
        method = self.name.removesuffix(".default").rpartition(".")[2]
        setter = method in ("__setitem__", "__set__") or method.startswith("__i")
        return setter or (method.endswith("_") and not method.endswith("__"))

    @property
    def is_expressible(self) -> bool:
        found = [leaf for value in (*self.args, *self.kwargs.values()) for leaf in leaves(value)]
        return bool(self.name) and not any(isinstance(leaf, Opaque) for leaf in found)


def complex_text(text: str) -> str:
    """A complex number, as `str` has it, as an expression: `nan` and `inf` are no names."""
    return f'complex("{text.strip("()")}")' if "n" in text else text


def leaves(value: Value) -> Iterator[Value]:
    if isinstance(value, Items):
        for item in value.items:
            yield from leaves(item)
    elif isinstance(value, Pairs):
        for _, item in value.items:
            yield from leaves(item)
    else:
        yield value


def tensors_of(value: Value) -> Iterator[Tensor]:
    return (leaf for leaf in leaves(value) if isinstance(leaf, Tensor))


def mapped(call: Call, change: Callable[[Tensor], Tensor]) -> Call:
    """The call with every tensor replaced, and what tensors lie in too."""

    def changed(value: Value) -> Value:
        if not isinstance(value, Tensor):
            return value
        new = change(value)
        return replace(new, view=replace(new.view, base=change(new.view.base))) if new.view else new

    return revalued(call, changed)


def revalued(call: Call, change: Callable[[Value], Value]) -> Call:
    """The call with every leaf replaced."""
    kwargs = {key: walked(value, change) for key, value in call.kwargs.items()}
    return replace(call, args=tuple(walked(value, change) for value in call.args), kwargs=kwargs)


def walked(value: Value, change: Callable[[Value], Value]) -> Value:
    """The value with every leaf in it replaced."""
    if isinstance(value, Items):
        return replace(value, items=tuple(walked(item, change) for item in value.items))
    if isinstance(value, Pairs):
        return Pairs(tuple((key, walked(item, change)) for key, item in value.items))
    return change(value)
