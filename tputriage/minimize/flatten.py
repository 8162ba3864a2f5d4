"""From a node id to one standalone script: the test, its fixtures, helpers, constants and bases, in one file.

The suite's own modules are followed through their imports; what is installed stays an import. The device is the
script's argument: names that hold it in the suite are bound to it, no text is replaced. Decorators that only skip,
mark or parametrize are left out. Nothing is run here but the question what the test is made of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tputriage.errors import TriageError
from tputriage.minimize.flattening.driver import Driver
from tputriage.minimize.flattening.pruning import pruned
from tputriage.minimize.flattening.suite import OwnModule, Suite, read_suite
from tputriage.minimize.flattening.writer import Writer
from tputriage.minimize.writing import DEVICE_LINE
from tputriage.targets.runs import asked
from tputriage.targets.seam import Ended, Job, Runner

DESCRIBE_LIMIT_S = 120.0  # a fixture may build a whole model


class FlattenError(TriageError):
    """A test that cannot be written as one script; the text says what stood in the way."""


def flatten(test_id: str, device: Runner, *, whole: bool = False) -> str:
    """The script; raises TriageError where there can be none. `whole`: see `assemble`."""
    return assemble(describe(test_id, device), device.target.device, switch=whole, whole=whole)


def describe(test_id: str, device: Runner) -> Mapping[str, Any]:
    """What the test is made of, see inside/kinds/describe.py."""
    answer = asked(device, Job("describe", {"test_id": test_id}, DESCRIBE_LIMIT_S))
    if answer.ended is not Ended.DONE or answer.value.get("reason"):
        reason = answer.value.get("reason") or answer.last_words.strip().rpartition("\n")[2] or answer.ended
        raise FlattenError(f"the test could not be described: {reason}")
    return answer.value


def scripts(told: Mapping[str, Any], device: str) -> Iterator[str]:
    """The flattened test as plain as it can be, then with more and more of what the suite's session is."""
    yield assemble(told, device)
    if told["switch"]:
        yield assemble(told, device, switch=True)
    yield assemble(told, device, switch=True, whole=True)


def assemble(told: Mapping[str, Any], device: str, *, switch: bool = False, whole: bool = False) -> str:
    """The script of a described test.

    With `switch` it sets the variable that tells the suite its device, which a library may read itself. `whole`
    adds what most failures do not need: what the suite's modules do to torch and the environment when they are
    imported, and the teardown.
    """
    try:
        return _assembled(told, device, switch=switch, whole=whole)
    except RecursionError as exc:
        raise FlattenError("what it is made of is nested too deeply") from exc


def _assembled(told: Mapping[str, Any], device: str, *, switch: bool, whole: bool) -> str:
    suite = read_suite(told["modules"])
    writer = Writer(suite)
    driver = Driver(told, writer, device, whole=whole)
    for module in _acting(suite, told) if whole else ():
        writer.effects(module)
    driver.drive()
    return pruned(_script(writer, driver, device, told["switch"] if switch else ""), told["function"])


def _acting(suite: Suite, told: Mapping[str, Any]) -> Iterator[OwnModule]:
    """The modules whose import is part of the test: conftests from the outside in, fixtures' files, its own."""
    folders = Path(told["module_file"]).parents
    conftests = [str(folder / "conftest.py") for folder in reversed(folders)]
    files = [*conftests, *(fixture.get("file", "") for fixture in told["fixtures"]), told["class_file"], told["file"]]
    for file in dict.fromkeys([*files, told["module_file"]]):
        if file in suite.by_file:
            yield suite.by_file[file]


def _script(writer: Writer, driver: Driver, device: str, switch: str) -> str:
    imports = sorted(writer.imports, key=lambda text: (text.startswith("from"), text))
    future = ["from __future__ import annotations"] if writer.future else []
    line = DEVICE_LINE.format(device=device).strip()
    # Before the other imports: what is imported may read it then.
    told = ["import os", "import sys", line, f"os.environ[{switch!r}] = device"] if switch else ["import sys"]
    parts = [*future, *told, *imports, *([] if switch else [line])]
    parts += [ast.unparse(ast.fix_missing_locations(node)) for node in writer.body]
    return "\n".join([*parts, *driver.lines]) + "\n"
