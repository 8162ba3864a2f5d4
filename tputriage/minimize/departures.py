"""Wrong results: the first call whose outputs depart from CPU's on the same inputs, and the script that shows it.

Inputs are made on CPU and moved, so that both sides see the same numbers. Each kind of difference has its own
closing line, which fails on the device and holds on CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tputriage.minimize.arguments import Call, Fill, Tensor
from tputriage.minimize.reading import read_call
from tputriage.minimize.suspects import ended_badly
from tputriage.minimize.writing import Names, assembled, assigned, expression, names_for
from tputriage.targets.runs import Subject, asked
from tputriage.targets.seam import Ended, Job, Runner

RANDOM = "draws random numbers or hands out unwritten memory; all else agrees"
# Exceptions whose own name is a private one.
PUBLIC_NAMES = {"torch._C._LinAlgError": "torch.linalg.LinAlgError"}


@dataclass(frozen=True, slots=True)
class Departure:
    """A call whose results differ from CPU's."""

    kind: str  # values | shape | dtype | stride | count | state | no-error | exception | message
    detail: str  # "largest difference 0.5"; for no-error the exception that CPU raises, for the last two its words too
    output: int  # which tensor of the result, -1 for the only one; for state which of the arguments
    call: Call

    @property
    def says(self) -> str:
        """What the device does, in words."""
        what = {
            "values": "other values than CPU",
            "state": "another change of its arguments than on CPU",
            "no-error": f"no error where CPU raises {self.detail}",
            "exception": "another exception than CPU's",
            "message": "another message than CPU's",
        }.get(self.kind, f"another {self.kind} than CPU")
        return what if self.kind == "no-error" else f"{what}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Compared:
    """What comparing every call of one run gave."""

    departures: tuple[Departure, ...]
    reason: str = ""  # why there is none, in a sentence


def compare_calls(subject: Subject, device: Runner, limit_s: float) -> Compared:
    """Each call of the test against CPU, in one run on the device."""
    answer = asked(device, Job("shadow", subject, limit_s))
    if answer.ended is not Ended.DONE:
        return Compared((), ended_badly(answer))
    found = tuple(_departures(answer.value, device.target.device))
    return Compared(found, "" if found else _nothing(answer.value))


def _departures(value: Mapping[str, Any], device: str) -> Iterator[Departure]:
    for record in value["departures"]:
        call, kind, output = read_call(record["call"], device), record["kind"], record["output"]
        if kind == "values" and call.changes_in_place:  # its result is its first argument
            kind, output = "state", 0
        if call.is_expressible:
            yield Departure(kind, record["detail"], output, call)


def _nothing(value: Mapping[str, Any]) -> str:
    compared, left_open = value["compared"], value["open"]
    if left_open:
        return (
            f"{', '.join(left_open)} differs only in what torch leaves open: the order of equals, the sign of vectors"
        )
    if value["random"]:
        return f"{', '.join(value['random'])} {RANDOM}"
    name, largest = value["largest"]
    if name and largest > 0:
        return f"none of the {compared} calls compared departs: rounding adds up, {name} adds most ({largest:.3g})"
    return f"none of the {compared} calls compared departs from CPU"


def checks_of(kind: str) -> tuple[str, ...]:
    """Closing lines that can show a difference of this kind, the one that reads best first; "" where none is needed."""
    close = "torch.testing.assert_close(actual.cpu(), expected)"
    return {
        "values": (close, f"{close[:-1]}, equal_nan=True)"),
        "count": ("assert len(actual) == len(expected)",),
        "stride": (f"{close[:-1]}, check_stride=True)", "assert actual.stride() == expected.stride()"),
        "shape": (close, "assert actual.shape == expected.shape"),
        "dtype": (close, "assert actual.dtype == expected.dtype"),
    }.get(kind, ("",))


def script_of(departure: Departure, call: Call, device: str, check: str) -> str:
    """The script that shows the departure for `call`, a smaller version of the departure's own."""
    names = names_for(call)
    there = departure.kind == "no-error" and not _draws(call)  # only one call is made: its inputs can be made there
    made_later = departure.kind in ("exception", "message")  # views are made anew by each side
    made_here = [
        assigned(tensor, names, on_cpu=not there) for tensor in call.tensors if not (made_later and tensor.view)
    ]
    seed = ["torch.manual_seed(0)"] if _draws(call) else []
    lines = seed + made_here + _closing(departure, call, names, device, check)
    source = assembled(lines, device)
    return (
        source.replace("import sys\n", "import contextlib\nimport sys\n", 1) if departure.kind == "no-error" else source
    )


def _closing(departure: Departure, call: Call, names: Names, device: str, check: str) -> list[str]:
    if departure.kind == "no-error":
        return _no_error(departure, expression(call, names if not _draws(call) else _moved(call, names), device))
    if departure.kind in ("exception", "message"):
        return _errors(departure.kind, call, names, device)
    if departure.kind == "state":
        return _state(departure, call, names, device)
    item = f"[{departure.output}]" if departure.output >= 0 else ""
    return [
        f"expected = {_on_cpu(expression(replace(call, compiled=False), names, device))}{item}",
        *_views_there(call, names, set()),
        f"actual = {expression(call, _moved(call, names), device)}{item}",
        check,
    ]


def _no_error(departure: Departure, text: str) -> list[str]:
    error = PUBLIC_NAMES.get(departure.detail, departure.detail)
    return [
        f"with contextlib.suppress({error}):",
        f"    {text}",
        f'    raise AssertionError("no {error.rpartition(".")[2]} was raised")',
    ]


def _errors(kind: str, call: Call, names: Names, device: str) -> list[str]:
    """What each side raises, then both compared; the device comes first, on tensors that nothing has changed.

    That one side raises nothing is another difference, and ends in another error.
    """
    same = "type(actual) is type(expected)" if kind == "exception" else "str(actual) == str(expected)"
    return [
        "",
        "",
        "def raised(device):",
        *(f"    {line}" for line in _views_there(call, names, set())),
        "    try:",
        f"        {expression(call, _moved(call, names), device)}",
        "    except Exception as error:",
        "        return error",
        '    raise SystemExit("nothing was raised")',
        "",
        "",
        'actual, expected = raised(device), raised("cpu")',
        f"assert {same}, actual",
    ]


def _state(departure: Departure, call: Call, names: Names, device: str) -> list[str]:
    """The call on a tensor and on its copy on the device, then both compared."""
    changed = call.tensors[min(departure.output, len(call.tensors) - 1)]
    whole = changed.view.base if changed.view else changed
    name = names.given[whole.id]
    moved = _moved(call, names)
    moved.given[whole.id] = f"{name}_there"
    return [
        f"{name}_there = {name}.clone().to(device)",
        *_views_there(call, names, {whole.id}),
        _on_cpu(expression(call, names, device)),
        expression(call, moved, device),
        f"torch.testing.assert_close({name}_there.cpu(), {name})",
    ]


def _views_there(call: Call, names: Names, made_already: set[int]) -> list[str]:
    """Lines that make the views of one tensor on the device views of one tensor there too."""
    lines = []
    for tensor in call.tensors:
        if tensor.view is None:
            continue
        base, name = tensor.view.base, names.given[tensor.view.base.id]
        if base.id not in made_already:
            lines.append(f"{name}_there = {_there(base, name)}")
            made_already.add(base.id)
        lines.append(f"{names.given[tensor.id]}_there = {name}_there{tensor.view.text}")
    return lines


def _moved(call: Call, names: Names) -> Names:
    """The names of the same tensors on the device."""
    shared = {part.id for tensor in call.tensors if tensor.view for part in (tensor, tensor.view.base)}

    def there(tensor: Tensor) -> str:
        name = names.given[tensor.id]
        return f"{name}_there" if tensor.id in shared else _there(tensor, name)

    return Names({tensor.id: there(tensor) for tensor in call.tensors})


def _there(tensor: Tensor, name: str) -> str:
    return f"{name}.to(device)" if tensor.on_device else name


def _draws(call: Call) -> bool:
    return any(tensor.fill in (Fill.RANDN, Fill.RAND) for tensor in call.tensors)


def _on_cpu(text: str) -> str:
    return text.replace("device=device", 'device="cpu"')
