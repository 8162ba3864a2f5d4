"""When does it fail? A small grid around the shrunk call: dtype, layout, size, gradient, eager or compiled.

One thing at a time. A variation that the reference refuses too says nothing and is left out, and so is one that
only the emulator's plugin stops at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tputriage.minimize.arguments import COMPLEX, CONTIGUOUS, FLOATS, Call, Fill, Layout, Tensor, Way, mapped
from tputriage.minimize.dimensions import resized, sizes
from tputriage.model import Signature
from tputriage.signatures import Kind, family_of, same_bug
from tputriage.targets.runs import run_of, script_job
from tputriage.targets.seam import Runner

DTYPES = ("float32", "float64", "bfloat16", "float16", "int64")
COMPLEX_DTYPES = ("complex64", "complex128")
WHOLE_DTYPES = ("int64", "int32", "uint8", "float32")  # of a call on one tensor of whole numbers
SIZES = (0, 1, 8)
AXES = ("dtype", "layout", "size", "gradient", "mode")
# How each axis is spoken of: what stands around its values, and how it is named where it makes no difference.
AROUND = {"dtype": ("for ", ""), "layout": ("for ", " input"), "size": ("for dimensions of ", "")}
ALIKE = {"gradient": "with and without requires_grad", "mode": "eager and compiled"}
NAMED = {"mode": "compiling"}
WORDS = {
    Way.CONTIGUOUS: "contiguous",
    Way.PERMUTED: "permuted",
    Way.EXPANDED: "expanded",
    Way.SLICED: "sliced ([..., ::2])",
    Way.CUT: "cut ([..., :-1])",
    Way.OFFSET: "offset ([1:])",
    Way.RAW: "strided",
}
LEFT_OUT = ""


@dataclass(frozen=True, slots=True, eq=False)
class Variation:
    axis: str
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
    axes: Sequence[str] = AXES,
) -> Conditions:
    """Every variation on the device, and what does not simply pass there on the reference too."""
    grid = [variation for variation in variations(call) if variation.axis in axes]
    new = [variation for variation in grid if variation.call != call]
    said = dict(zip(new, _outcomes(new, write, wanted, device, limit_s), strict=True))
    doubtful = [variation for variation in new if said[variation] not in ("pass", LEFT_OUT)]
    refused = {v for v, no in zip(doubtful, _refused(doubtful, write, reference, limit_s), strict=True) if no}
    known: dict[tuple[str, str], str] = {}
    for variation in grid:
        if variation not in refused and (outcome := said.get(variation, "fail")) != LEFT_OUT:
            known.setdefault((variation.axis, variation.name), outcome)
    tried = Counter(axis for axis, _ in known)  # one value of an axis says nothing
    table = tuple((f"{axis}: {name}", outcome) for (axis, name), outcome in known.items() if tried[axis] > 1)
    return Conditions(
        statement([(axis, name, said) for (axis, name), said in known.items()]), table, len(new) + len(doubtful)
    )


def variations(call: Call) -> Iterator[Variation]:
    """The call with one thing changed; what is as in the call itself stands for its value on that axis.

    Of several with one name the first that the reference takes counts.
    """
    if not call.tensors:
        return
    for dtype in _dtypes(call):
        yield Variation("dtype", dtype, mapped(call, _with_dtype(dtype)))
    yield from _layouts(call)
    yield from _sizes(call)
    if any(tensor.is_float for tensor in call.tensors):
        for name, grows in (("without requires_grad", False), ("with requires_grad", True)):
            yield Variation("gradient", name, mapped(call, _with_gradient(grows)))
    if not call.changes_in_place:
        yield Variation("mode", "in eager mode", call)
        yield Variation("mode", "under torch.compile", replace(call, compiled=True))


def _dtypes(call: Call) -> Sequence[str]:
    found = {tensor.dtype for tensor in call.tensors}
    if found & FLOATS:
        return DTYPES
    if found & COMPLEX:
        return COMPLEX_DTYPES
    return WHOLE_DTYPES if len(call.tensors) == 1 else ()


def _with_dtype(dtype: str) -> Callable[[Tensor], Tensor]:
    """Tensors of a dtype of the same family; whole numbers only for the whole-number grid."""
    family = FLOATS if dtype in DTYPES else COMPLEX

    def change(tensor: Tensor) -> Tensor:
        alone = not tensor.is_float and dtype in WHOLE_DTYPES
        return replace(tensor, dtype=dtype) if tensor.dtype in family or alone else tensor

    return change


def _layouts(call: Call) -> Iterator[Variation]:
    shown = [tensor for tensor in call.tensors if tensor.is_float] or list(call.tensors)
    rank = max(len(tensor.dims) for tensor in shown)
    layouts = {WORDS[Way.CONTIGUOUS]: CONTIGUOUS}
    if rank == 4:
        layouts["channels_last"] = Layout(Way.PERMUTED, (0, 2, 3, 1))
    if rank >= 2:
        layouts["transposed"] = Layout(Way.PERMUTED, (*range(rank - 2), rank - 1, rank - 2))
    if rank >= 1:
        layouts[WORDS[Way.SLICED]] = Layout(Way.SLICED, step=2)
    own = next((tensor.layout for tensor in shown if len(tensor.dims) == rank), CONTIGUOUS)
    if own not in layouts.values():
        yield Variation("layout", WORDS[own.way], call)
    for name, layout in layouts.items():
        yield Variation("layout", name, mapped(call, _laid_out(layout, rank, any(t.is_float for t in shown))))


def _laid_out(layout: Layout, rank: int, floats: bool) -> Callable[[Tensor], Tensor]:
    def change(tensor: Tensor) -> Tensor:
        fits = len(tensor.dims) == rank and tensor.fill is not Fill.VALUES and not tensor.form
        return replace(tensor, layout=layout) if fits and tensor.is_float == floats else tensor

    return change


def _sizes(call: Call) -> Iterator[Variation]:
    """Every dimension, else the largest alone: some sizes are tied to other arguments."""
    known = sizes(call)
    if not known:
        return
    if known[0] not in SIZES:
        yield Variation("size", str(known[0]), call)
    for size in SIZES:
        for new in (dict.fromkeys(known, size), {known[0]: size}):
            yield Variation("size", str(size), _with_values(resized(call, new), call))


def _with_values(call: Call, original: Call) -> Call:
    """Tensors whose values decide stay as they were."""
    kept = {tensor.id: tensor for tensor in original.tensors if tensor.fill is Fill.VALUES}
    return mapped(call, lambda tensor: kept.get(tensor.id, tensor))


def _with_gradient(grows: bool) -> Callable[[Tensor], Tensor]:
    return lambda tensor: replace(tensor, requires_grad=grows and tensor.is_float)


def _outcomes(
    grid: Sequence[Variation], write: Callable[[Call], str], wanted: Signature, device: Runner, limit_s: float
) -> list[str]:
    """For each variation "fail", "pass", "error: …", or LEFT_OUT where the plugin is what stops it, in order."""
    jobs = [script_job(write(variation.call), device.target.device, limit_s=limit_s) for variation in grid]
    said = [""] * len(jobs)
    for answer in device.ask(jobs):
        place = next(place for place, job in enumerate(jobs) if job is answer.job)
        failure = run_of(answer, device.target).failure
        if failure is None:
            said[place] = "pass"
        elif same_bug(wanted, failure):
            said[place] = "fail"
        elif family_of(failure).kind in (Kind.EMULATOR, Kind.INFRA, Kind.TIMEOUT):
            said[place] = LEFT_OUT
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
        by_outcome: dict[str, list[str]] = {"fail": [], "pass": [], "other": []}
        for _, name, said in (entry for entry in known if entry[0] == axis):
            by_outcome[said if said in by_outcome else "other"].append(name)
        if by_outcome["pass"] or by_outcome["other"]:
            deciding.append(_decides(axis, by_outcome))
        elif len(by_outcome["fail"]) > 1:
            free.append(axis)
    if not deciding:
        values = [name for axis, name, _ in known if axis == "dtype"] if free == ["dtype"] else []
        return f"fails {_always(free)}" + (f" ({', '.join(values)})" if values else "") if free else ""
    named = [NAMED.get(axis, axis) for axis in free]
    alike = [f"{_joined(named, 'and')} make{'s' if len(free) == 1 else ''} no difference"] if free else []
    return "; ".join([*filter(None, deciding), *alike])


def _decides(axis: str, by_outcome: Mapping[str, Sequence[str]]) -> str:
    before, after = AROUND.get(axis, ("", ""))
    verbs = {"fail": "fails", "pass": "passes", "other": "stops at another error"}
    told = ((verb, _joined(by_outcome[said], "or")) for said, verb in verbs.items() if by_outcome[said])
    return ", ".join(f"{verb} {before}{values}{after}" for verb, values in told)


def _always(axes: Sequence[str]) -> str:
    """Of axes on which every value that was tried fails."""
    named = [axis for axis in axes if axis not in ALIKE]
    parts = [f"for every {_joined(named, 'and')} tried"] if named else []
    return ", ".join([*parts, *(ALIKE[axis] for axis in axes if axis in ALIKE)])


def _joined(names: Sequence[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
