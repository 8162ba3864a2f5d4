"""Makes a captured call smaller, a step at a time, each asked of the oracle as a whole script.

Steps change the call as a value and write it anew, so every candidate is well-formed. The boldest guess comes
first: most failures depend on nothing but which operator it is, and then three or four runs are enough. What
is not kept leaves no trace; the oracle is asked a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from tputriage.minimize.arguments import CONTIGUOUS, FLOATS, Call, Fill, Tensor, Value, Way, mapped, revalued
from tputriage.minimize.dimensions import SMALL, of_rank, resized, sizes, without_dimension
from tputriage.minimize.making import memory_format

MOST_QUESTIONS = 60
MANY = 3  # tensors of a call, from which on it is tried whether it takes fewer
Change = Callable[[Tensor], Tensor]


class Oracle(Protocol):
    """Whether a script fails on the device as wanted and passes on the reference."""

    def __call__(self, source: str, /) -> bool: ...


class Shrink:
    """The smallest call known to fail as wanted, and the ways to a smaller one."""

    def __init__(
        self,
        write: Callable[[Call], str],
        oracle: Oracle,
        most: int = MOST_QUESTIONS,
        on_better: Callable[[str], None] = lambda source: None,
    ) -> None:
        self._write = write
        self._oracle = oracle
        self._left = most
        self._on_better = on_better
        self._asked: set[str] = set()
        self.best: Call | None = None

    @property
    def source(self) -> str:
        assert self.best is not None
        return self._write(self.best)

    def start(self, call: Call) -> bool:
        """Finds a first script that fails as wanted, from the boldest guess to the captured call itself."""
        return any(self.consider(guess) for guess in openings(call))

    def consider(self, call: Call) -> bool:
        """Adopts the call if its script is new and fails as wanted."""
        source = self._write(call)
        if source in self._asked or self._left <= 0:
            return False
        self._asked.add(source)
        self._left -= 1
        if not self._oracle(source):
            return False
        self.best = call
        self._on_better(source)
        return True

    def shrink(self) -> None:
        """Every step once; the order is that of what a reader would miss least."""
        for step in STEPS:
            step(self)

    def one_by_one(self, change: Change, applies: Callable[[Tensor], bool]) -> None:
        """`change` for all tensors at once, else for each alone."""
        assert self.best is not None
        fitting = [tensor.id for tensor in self.best.tensors if applies(tensor)]
        if not fitting or self.consider(_changed(self.best, change, fitting)) or len(fitting) == 1:
            return
        for number in fitting:
            self.consider(_changed(self.best, change, [number]))


def openings(call: Call) -> Iterator[Call]:
    plain = plain_values(call)
    small = resized(_flat(plain), {size: SMALL for size in sizes(plain) if size > SMALL})
    if 0 in sizes(small):  # an empty tensor reads like a boundary case, so it stays only where it decides
        yield without_options(resized(small, {0: SMALL}))
    yield without_options(small)
    yield small
    yield mapped(plain, lambda tensor: replace(tensor, requires_grad=False))
    yield mapped(call, lambda tensor: replace(tensor, requires_grad=False))
    yield plain
    yield call


def _flat(call: Call) -> Call:
    """Contiguous, float32, no gradient, in memory of its own."""
    return mapped(call, lambda tensor: replace(_as_float32(tensor), layout=CONTIGUOUS, requires_grad=False, view=None))


def _as_float32(tensor: Tensor) -> Tensor:
    return replace(tensor, dtype="float32") if tensor.dtype in FLOATS else tensor


def plain_values(call: Call) -> Call:
    return mapped(call, _plain)


def _plain(tensor: Tensor) -> Tensor:
    return replace(tensor, fill=Fill.ONES if tensor.is_float or tensor.dtype == "bool" else Fill.ZEROS, leaf=True)


def _changed(call: Call, change: Change, numbers: Iterable[int]) -> Call:
    chosen = set(numbers)
    return mapped(call, lambda tensor: change(tensor) if tensor.id in chosen else tensor)


def without_options(call: Call) -> Call:
    """Only what the function asks for; an out= goes too."""
    required = set(call.parameters[: call.needed]) | set(call.parameters[: len(call.args)])
    kwargs = {key: value for key, value in call.kwargs.items() if key in required or isinstance(value, Tensor)}
    needed = max(call.needed, 1) if call.parameters else len(call.args)
    return replace(call, args=call.args[:needed], kwargs={k: v for k, v in kwargs.items() if k in required})


def drop_gradients(shrink: Shrink) -> None:
    shrink.one_by_one(lambda tensor: replace(tensor, requires_grad=False), lambda tensor: tensor.requires_grad)


def drop_options(shrink: Shrink) -> None:
    """All optional arguments at once; else each keyword, and positional ones from the end."""
    assert shrink.best is not None
    if shrink.consider(without_options(shrink.best)):
        return
    for key in tuple(shrink.best.kwargs):
        kwargs = {name: value for name, value in shrink.best.kwargs.items() if name != key}
        shrink.consider(replace(shrink.best, kwargs=kwargs))
    while len(shrink.best.args) > max(shrink.best.needed, 1):
        if not shrink.consider(replace(shrink.best, args=shrink.best.args[:-1])):
            break
    _drop_tensors(shrink)


def _drop_tensors(shrink: Shrink) -> None:
    """None for tensors that operators take as optional, where there are many: a norm's weight and bias."""
    assert shrink.best is not None
    if len(shrink.best.tensors) < MANY:
        return
    for place, value in enumerate(shrink.best.args[1:], 1):
        if isinstance(value, Tensor):
            args = shrink.best.args
            shrink.consider(replace(shrink.best, args=(*args[:place], None, *args[place + 1 :])))


def make_values_plain(shrink: Shrink) -> None:
    """Ones for floats, zeros for integers; then numbers of no meaning, and what keeps a matrix invertible."""
    shrink.one_by_one(_plain, lambda tensor: _plain(tensor) != tensor)
    for fill in (Fill.RANDN, Fill.RAND, Fill.EYE, Fill.ARANGE):
        shrink.one_by_one(
            lambda tensor, fill=fill: replace(tensor, fill=fill),  # type: ignore[misc]
            lambda tensor, fill=fill: tensor.is_float and _is_long(tensor) and _fits(fill, tensor),  # type: ignore[misc]
        )


def _is_long(tensor: Tensor) -> bool:
    return tensor.fill is Fill.VALUES and len(tensor.values) > SMALL


def _fits(fill: Fill, tensor: Tensor) -> bool:
    return fill is not Fill.EYE or (len(tensor.dims) >= 2 and tensor.dims[-1] == tensor.dims[-2])


def make_contiguous(shrink: Shrink) -> None:
    shrink.one_by_one(lambda tensor: replace(tensor, layout=CONTIGUOUS), lambda tensor: tensor.layout != CONTIGUOUS)
    shrink.one_by_one(lambda tensor: replace(tensor, view=None), lambda tensor: tensor.view is not None)
    shrink.one_by_one(lambda tensor: replace(tensor, form=""), lambda tensor: bool(tensor.form))


def make_float32(shrink: Shrink) -> None:
    shrink.one_by_one(_as_float32, lambda tensor: tensor.dtype in FLOATS - {"float32"})


def shrink_sizes(shrink: Shrink) -> None:
    """All sizes to two at once, else each class of equal sizes to the least that is tried."""
    assert shrink.best is not None
    large = [size for size in sizes(shrink.best) if size > SMALL]
    if not large or shrink.consider(resized(shrink.best, dict.fromkeys(large, SMALL))):
        return
    for size in large:
        smaller = dict.fromkeys(part for part in (SMALL, 3, 4, size // 4, size // 2) if SMALL <= part < size)
        tries = ({size: part} for part in smaller)
        any(shrink.consider(resized(shrink.best, new, tied=tied)) for new in tries for tied in (True, False))


def make_counts_small(shrink: Shrink) -> None:
    """Whole numbers to two: groups, kernel sizes, counts; sizes that depend on them can shrink further then."""
    assert shrink.best is not None

    def small(value: Value) -> Value:
        return SMALL if type(value) is int and value > SMALL else value

    shrink.consider(revalued(shrink.best, small))


def lower_rank(shrink: Shrink) -> None:
    """One dimension, else one fewer, where every tensor has the same number of them."""
    assert shrink.best is not None
    ranks = {len(tensor.dims) for tensor in shrink.best.tensors}
    if len(ranks) != 1 or max(ranks) < 2:
        return
    if any(tensor.layout != CONTIGUOUS for tensor in shrink.best.tensors):
        _drop_dimensions(shrink)
        return
    for rank in dict.fromkeys((1, max(ranks) - 1)):
        if shrink.consider(mapped(shrink.best, lambda tensor, rank=rank: of_rank(tensor, rank))):  # type: ignore[misc]
            return


def _drop_dimensions(shrink: Shrink) -> None:
    """One dimension after the other, the last first, of tensors whose order in memory decides."""
    assert shrink.best is not None
    if any(tensor.view or tensor.layout.way not in (Way.CONTIGUOUS, Way.PERMUTED) for tensor in shrink.best.tensors):
        return
    for place in reversed(range(len(shrink.best.tensors[0].dims))):
        smaller = mapped(shrink.best, lambda tensor, place=place: without_dimension(tensor, place))  # type: ignore[misc]
        if any(tensor.layout != CONTIGUOUS for tensor in smaller.tensors) and shrink.consider(smaller):
            _drop_dimensions(shrink)
            return


def make_numbers_plain(shrink: Shrink) -> None:
    """Odd floats become ones: 0.7372 reads as if it mattered."""
    assert shrink.best is not None

    def rounded(value: Value) -> Value:
        return 1.0 if isinstance(value, float) and value not in (0.0, 0.5, 1.0, 2.0) else value

    shrink.consider(revalued(shrink.best, rounded))


def make_in_layout(shrink: Shrink) -> None:
    """Made channels_last, where no value matters: one call fewer for the reader to suspect.

    For calls that raise alone; numbers that differ would be those of memory that nobody wrote. It has to fail with
    NaN as well, which is what such memory may hold.
    """
    assert shrink.best is not None
    known, fitting = shrink.best, [tensor.id for tensor in shrink.best.tensors if _is_made_in_layout(tensor)]
    odd = _changed(known, lambda tensor: replace(tensor, fill=Fill.FULL, values=("nan",)), fitting)
    unwritten = _changed(known, lambda tensor: replace(tensor, fill=Fill.EMPTY), fitting)
    if fitting and shrink.consider(odd) and not shrink.consider(unwritten):
        shrink.best = known


def _is_made_in_layout(tensor: Tensor) -> bool:
    plain = tensor.fill is Fill.ONES and tensor.is_float and tensor.leaf and not tensor.form and tensor.view is None
    return plain and bool(memory_format(tensor.layout))


STEPS = (
    drop_options,
    drop_gradients,
    make_values_plain,
    make_contiguous,
    make_float32,
    make_counts_small,
    shrink_sizes,
    lower_rank,
    make_numbers_plain,
)
