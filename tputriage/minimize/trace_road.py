"""The trace road: the failing call with the calls that made its inputs, 1, 2, 4, 8 … of them back.

For failures that fresh inputs do not show: deferred and fused execution, aliasing, a view's history. The
straight-line program is then shrunk: each call goes if a fresh tensor in the place of what it made does as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tputriage.minimize.arguments import Call, Tensor
from tputriage.minimize.reading import read_call
from tputriage.minimize.shrinking import Oracle, plain_values, without_options
from tputriage.minimize.writing import Names, assembled, assigned, expression, statement

LONGEST = 64  # calls in the longest program that is tried


@dataclass(frozen=True, slots=True)
class Step:
    """One call and the tensors it made or changed, by number."""

    call: Call
    made: tuple[int, ...] = ()
    several: bool = False  # the result is a tuple, which is unpacked

    @property
    def changes(self) -> tuple[int, ...]:
        """What it changes in place."""
        first = self.call.args[0] if self.call.args else None
        return (first.id,) if self.call.changes_in_place and isinstance(first, Tensor) else ()


Program = tuple[Step, ...]
Write = Callable[[Program, str], str]


def read_steps(history: Sequence[Mapping[str, Any]], device: str) -> list[Step]:
    """The calls of a history that can be written down, in order."""
    steps = []
    for record in history:
        call, result = read_call(record, device), record.get("made")
        if not call.is_expressible or not isinstance(result, Mapping):
            continue
        items = result["items"] if result["is"] in ("tuple", "list") else [result]
        if isinstance(items, list) and all(isinstance(item, Mapping) and item["is"] == "tensor" for item in items):
            numbers = tuple(item["id"] for item in items)
            steps.append(Step(call, numbers, result["is"] != "tensor"))
    return steps


def programs(steps: Sequence[Step], last: Call) -> Iterator[Program]:
    """The call with 1, 2, 4, 8 … of the calls that its inputs come from."""
    behind = _dataflow(steps, last)
    count, seen = 1, 0
    while count <= LONGEST and seen < len(behind):
        chosen = behind[-count:]
        seen = len(chosen)
        yield (*chosen, Step(last))
        count *= 2


def _dataflow(steps: Sequence[Step], last: Call) -> list[Step]:
    """Steps that the call's inputs depend on, in order."""
    needed = {tensor.id for tensor in last.tensors}
    found: list[Step] = []
    for step in reversed(steps):
        if needed.intersection(step.made) or needed.intersection(step.changes):
            found.append(step)
            needed.update(tensor.id for tensor in step.call.tensors)
    return found[::-1]


def write(program: Program, device: str) -> str:
    """The script: tensors that no step made come first, then a line a step."""
    names = Names()
    lines: list[str] = []
    for step in program:
        for tensor in step.call.tensors:
            if tensor.id not in names.given:
                names.add(tensor, "")
                lines.append(assigned(tensor, names))
        lines.append(line_of(step, names, device))
    return assembled(lines, device)


def line_of(step: Step, names: Names, device: str) -> str:
    """The call as a statement that gives a name to each thing it makes."""
    fresh = [number for number in step.made if number not in names.given]
    if not fresh or step.changes:
        return statement(step.call, names, device)[0]
    for number in step.made:
        names.add(Tensor(number, (), ""), "")
    targets = ", ".join(names.given[number] for number in step.made)
    comma = "," if step.several and len(step.made) == 1 else ""
    return f"{targets}{comma} = {expression(step.call, names, device)}"


def find_program(
    steps: Sequence[Step], last: Call, device: str, oracle: Oracle, say: Callable[[str], None]
) -> Program | None:
    """The shortest program that fails as wanted, shrunk; None where none of the lengths does."""
    for program in programs([replace(step, call=plain_values(step.call)) for step in steps], last):
        say(f"trace road: {len(program)} calls")
        if oracle(write(program, device)):
            return shrink_program(program, device, oracle)
    return None


def shrink_program(program: Program, device: str, oracle: Oracle, write: Write = write) -> Program:
    """Leaves out steps, the largest runs first and from the front, then options of those that stay."""
    size = max(1, (len(program) - 1) // 2)
    while size:
        start = 0
        while start < len(program) - 1:
            end = min(start + size, len(program) - 1)
            shorter = program[:start] + program[end:]
            if oracle(write(shorter, device)):
                program = shorter
            else:
                start = end
        size //= 2
    for place, step in enumerate(program):
        plainer = replace(step, call=plain_values(without_options(step.call)))
        candidate = (*program[:place], plainer, *program[place + 1 :])
        if plainer != step and oracle(write(candidate, device)):
            program = candidate
    return program
