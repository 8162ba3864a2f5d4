"""A small function that fails once it is compiled, as a script: the function, its inputs, and how the failure shows.

An error shows in the call, in reading its result or in backward; wrong numbers, and a wrong change of an input,
beside the same function run eagerly. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tputriage.minimize.arguments import Fill, Tensor
from tputriage.minimize.making import made
from tputriage.minimize.trace_road import Program, line_of
from tputriage.minimize.wrapping import WIDTH, wrapped
from tputriage.minimize.writing import DEVICE_LINE, PREAMBLE, Names, assigned, expression, names_for

INDENT = "    "
RANDOM = (Fill.RANDN, Fill.RAND)


@dataclass(frozen=True, slots=True)
class Shows:
    """How the failure shows; see inside/graphs.py."""

    kind: str = "raised"  # raised | values | state
    stage: str = "call"  # call | read | backward
    output: int = -1  # which tensor of the result, which input; -1 for the only one
    options: Mapping[str, object] = field(default_factory=dict)  # of torch.compile

    @property
    def given(self) -> str:
        """The options as arguments."""
        return ", ".join(
            f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}" for key, value in self.options.items()
        )


def inputs_of(program: Program) -> tuple[Tensor, ...]:
    """Tensors that no earlier call made, each once, in the order of their use."""
    known: set[int] = set()
    found: dict[int, Tensor] = {}
    for step in program:
        found |= {tensor.id: tensor for tensor in step.call.tensors if tensor.id not in known | found.keys()}
        known.update(step.made)
    return tuple(found.values())


def results_of(program: Program) -> tuple[int, ...]:
    """What the function returns, by number: all that was made and that no later call takes."""
    taken = {tensor.id for step in program for tensor in step.call.tensors}
    last = program[-1]
    loose = [number for step in program[:-1] for number in step.made if number not in taken]
    return (*loose, *(number for number in last.made if number not in taken or not last.changes))


def script_of(program: Program, shows: Shows, device: str) -> str:
    names = names_for(program[0].call) if len(program) == 1 else Names()
    inputs = inputs_of(program)
    for tensor in inputs:
        names.add(tensor, "")
    given = [names.given[tensor.id] for tensor in inputs]
    head = [f"def f({', '.join(given)}):", *(INDENT + line for line in _body(program, names, device)), "", ""]
    if shows.kind == "raised":
        head.insert(0, f"@torch.compile({shows.given})" if shows.given else "@torch.compile")
    seed = ["torch.manual_seed(0)"] if any(tensor.fill in RANDOM for tensor in inputs) else []
    lines = ["", "", *head, *seed, *_closing(inputs, names, shows)]
    return PREAMBLE + DEVICE_LINE.format(device=device) + "\n".join(wrapped(line) for line in lines) + "\n"


def _body(program: Program, names: Names, device: str) -> list[str]:
    lines = [line_of(step, names, device) for step in program[:-1]]
    last = program[-1]
    if not last.changes and results_of(program) == last.made:
        return [*lines, f"return {expression(last.call, names, device)}"]
    lines.append(line_of(last, names, device))
    results = [names.given[number] for number in results_of(program) if number in names.given]
    if last.changes:
        results.append(names.given[last.changes[0]])
    return [*lines, f"return {', '.join(dict.fromkeys(results))}"]


def _closing(inputs: Sequence[Tensor], names: Names, shows: Shows) -> list[str]:
    given = [names.given[tensor.id] for tensor in inputs]
    made_here = [assigned(tensor, names) for tensor in inputs]
    item = f"[{shows.output}]" if shows.output >= 0 else ""
    arguments = ", ".join(given)
    if shows.kind == "raised":
        end = {"call": "", "read": f"{item}.cpu()", "backward": f"{item}.sum().backward()"}[shows.stage]
        alone = f"f({made(inputs[0])}){end}" if len(inputs) == 1 else ""
        return [alone] if alone and len(alone) <= WIDTH else [*made_here, f"f({arguments}){end}"]
    compiled = f"torch.compile(f{', ' + shows.given if shows.given else ''})"
    if shows.kind == "values":
        called = (f"{compiled}({arguments}){item}.cpu()", f"f({arguments}){item}.cpu()")
        return [*made_here, f"torch.testing.assert_close({', '.join(called)})"]
    return [*made_here, *_state(given, arguments, compiled, given[max(shows.output, 0)])]


def _state(given: Sequence[str], arguments: str, compiled: str, name: str) -> list[str]:
    """Both change a copy of their own of that input."""
    other = ", ".join("expected" if one == name else one for one in given)
    ours = ", ".join("actual" if one == name else one for one in given)
    return [
        f"expected, actual = {name}.clone(), {name}.clone()",
        f"f({other})",
        f"{compiled}({ours})",
        "torch.testing.assert_close(actual.cpu(), expected.cpu())",
    ]
