"""When does it fail? A small grid around the shrunk call: dtype, layout, size and gradient, one thing at a time.

A variation that the reference refuses too says nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tputriage.minimize.arguments import CONTIGUOUS, FLOATS, Call, Fill, Layout, Tensor, Way, mapped
from tputriage.minimize.shrinking import resized, sizes
from tputriage.model import Signature
from tputriage.signatures import same_bug
from tputriage.targets.runs import run_of, script_job
from tputriage.targets.seam import Runner

DTYPES = ("float32", "float64", "bfloat16", "float16", "int64")
LARGE = 8


@dataclass(frozen=True, slots=True, eq=False)
class Variation:
    axis: str  # dtype | layout | size | gradient
    name: str
    call: Call


@dataclass(frozen=True, slots=True)
class Conditions:
    """One sentence and the table behind it."""

    statement: str
    table: tuple[tuple[str, str], ...]
    runs: int


def find_conditions(
    call: Call,
    write: Callable[[Call], str],
    wanted: Signature,
    device: Runner,
    reference: Runner,
    *,
    limit_s: float,
    axes: Sequence[str] = ("dtype", "layout", "size", "gradient"),
) -> Conditions:
    """Every variation on the device, and what does not simply pass there on the reference too."""
    grid = [variation for variation in variations(call) if variation.axis in axes]
    new = [variation for variation in grid if variation.call != call]
    said = dict(zip(new, _outcomes(new, write, wanted, device, limit_s), strict=True))
    doubtful = [variation for variation in new if said[variation] != "pass"]
    refused = {v for v, no in zip(doubtful, _refused(doubtful, write, reference, limit_s), strict=True) if no}
    known = [(v.axis, v.name, said.get(v, "fail")) for v in grid if v not in refused]
    table = tuple((f"{axis}: {name}", outcome) for axis, name, outcome in known)
    return Conditions(statement(known), table, len(new) + len(doubtful))


def variations(call: Call) -> Iterator[Variation]:
    """The call with one thing changed; what is as in the call itself stands for its value on that axis."""
    floats = [tensor for tensor in call.tensors if tensor.is_float]
    if not floats:
        return
    for dtype in DTYPES:
        yield Variation("dtype", dtype, mapped(call, _with_dtype(dtype)))
    yield from _layouts(call, max(len(tensor.dims) for tensor in floats))
    large = max(sizes(call), default=0)
    for size in (0, 1, LARGE):
        if large and size != large:
            yield Variation("size", f"sizes of {size} in place of {large}", resized(call, {large: size}))
    yield Variation("gradient", "requires_grad", mapped(call, _with_gradient))


def _layouts(call: Call, rank: int) -> Iterator[Variation]:
    layouts = {"contiguous": CONTIGUOUS}
    if rank == 4:
        layouts["channels_last"] = Layout(Way.PERMUTED, (0, 2, 3, 1))
    if rank >= 2:
        layouts["transposed"] = Layout(Way.PERMUTED, (*range(rank - 2), rank - 1, rank - 2))
    if rank >= 1:
        layouts["every second element"] = Layout(Way.SLICED, step=2)
    for name, layout in layouts.items():
        yield Variation("layout", name, mapped(call, lambda t, layout=layout: _laid_out(t, layout, rank)))  # type: ignore[misc]


def _with_dtype(dtype: str) -> Callable[[Tensor], Tensor]:
    return lambda tensor: replace(tensor, dtype=dtype) if tensor.dtype in FLOATS else tensor


def _with_gradient(tensor: Tensor) -> Tensor:
    return replace(tensor, requires_grad=tensor.is_float)


def _laid_out(tensor: Tensor, layout: Layout, rank: int) -> Tensor:
    fits = tensor.is_float and len(tensor.dims) == rank and tensor.fill is not Fill.VALUES
    return replace(tensor, layout=layout) if fits else tensor


def _outcomes(
    grid: Sequence[Variation], write: Callable[[Call], str], wanted: Signature, device: Runner, limit_s: float
) -> list[str]:
    """For each variation "fail", "pass" or "error: …", in order."""
    jobs = [script_job(write(variation.call), device.target.device, limit_s=limit_s) for variation in grid]
    said = [""] * len(jobs)
    for answer in device.ask(jobs):
        place = next(place for place, job in enumerate(jobs) if job is answer.job)
        failure = run_of(answer, device.target).failure
        if failure is None:
            said[place] = "pass"
        elif same_bug(wanted, failure):
            said[place] = "fail"
        else:
            said[place] = f"error: {(failure.message.strip().splitlines() or [failure.exception])[0][:100]}"
    return said


def _refused(grid: Sequence[Variation], write: Callable[[Call], str], reference: Runner, limit_s: float) -> list[bool]:
    jobs = [script_job(write(variation.call), reference.target.device, limit_s=limit_s) for variation in grid]
    refused = [False] * len(jobs)
    for answer in reference.ask(jobs):
        place = next(place for place, job in enumerate(jobs) if job is answer.job)
        refused[place] = run_of(answer, reference.target).failure is not None
    return refused


def statement(known: Sequence[tuple[str, str, str]]) -> str:
    """One sentence from (axis, name, outcome): axes that decide first, then those that do not matter."""
    deciding, free = [], []
    for axis in dict.fromkeys(axis for axis, _, _ in known):
        fails = [name for at, name, said in known if at == axis and said == "fail"]
        passes = [name for at, name, said in known if at == axis and said == "pass"]
        if fails and passes:
            deciding.append(f"fails with {_joined(fails, 'or')}, passes with {_joined(passes, 'or')}")
        elif fails:
            free.append(axis)
    always = _always(free)
    if deciding:
        return "; ".join([*deciding, f"the same with {always}"] if always else deciding)
    return f"fails with {always}" if always else ""


def _always(axes: Sequence[str]) -> str:
    """The axes on which every value that was tried fails."""
    named = [axis for axis in axes if axis != "gradient"]
    parts = [f"any {_joined(named, 'and')} tried"] if named else []
    return ", ".join([*parts, "a gradient or none"] if "gradient" in axes else parts)


def _joined(names: Sequence[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
