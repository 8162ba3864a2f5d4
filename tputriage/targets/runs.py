"""Jobs that run a test or a script, and what their answers say in the domain's words."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tputriage.model import Failure, Frame, Outcome, Phase, Run
from tputriage.targets.catalogue import plugin_named
from tputriage.targets.seam import Answer, Ended, Job, Runner, Target

# A line of faulthandler's dump, and what native libraries say when they give up.
STACK_LINE = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<function>.+)$', re.MULTILINE)
GIVING_UP = re.compile(
    r"Check failed|CHECK failed|Assertion .* failed|terminate called|LLVM ERROR|^F\d{4} |F0000"
    r"|\*\*\* SIG|Fatal Python error|Segmentation fault|left with exit code|^ended: ",
    re.MULTILINE,
)
# What a job's environment may ask of the worker: see inside/knobs.py.
CPU_RANDOM: Mapping[str, str] = MappingProxyType({"TPUTRIAGE_CPU_RANDOM": "1"})
# Three, since a judgement that is a toss of a coin holds for one other seed in four, on two targets.
OTHER_SEEDS = tuple(MappingProxyType({"TPUTRIAGE_SEED_SHIFT": f"{by}"}) for by in (1000, 2000, 3000))
NO_COMPILE: Mapping[str, str] = MappingProxyType({"TORCH_COMPILE_DISABLE": "1"})
MACHINERY = re.compile(r"/(_pytest|pluggy|tputriage/inside)/|<frozen runpy>|/runpy\.py$|/unittest/case\.py$")
MOST_FRAMES = 200
SCRIPT = "repro.py"  # what a script is called where nobody named it

Subject = Mapping[str, Any]  # what a job listens to: {"test_id"}, or {"source"} of a script


def test_job(  # a job, not a test
    test_id: str,
    *,
    limit_s: float,
    knobs: Mapping[str, str] | None = None,  # noqa: PT028
    before: Sequence[str] = (),  # noqa: PT028
) -> Job:
    """Runs one test of the suite, after the tests `before` it in the same process."""
    return Job("test", {"test_id": test_id, "before": list(before)}, limit_s, dict(knobs or {}))


def script_job(
    source: str, device: str, *, limit_s: float, name: str = SCRIPT, knobs: Mapping[str, str] | None = None
) -> Job:
    """Runs a script that is told its device."""
    return Job("script", {"source": source, "argv": [device], "name": name}, limit_s, dict(knobs or {}))


def imports_of(source: str) -> tuple[str, ...]:
    """A script's import statements, for a worker to make before it forks: a model library takes seconds."""
    nodes = ast.parse(source).body
    found = (node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0))
    return tuple(ast.unparse(node) for node in found)


def asked(runner: Runner, job: Job) -> Answer:
    """The answer to a single job."""
    return next(iter(runner.ask([job])))


def run_once(runner: Runner, job: Job) -> Run:
    """The run of a single `test_job` or `script_job`."""
    return run_of(asked(runner, job), runner.target)


def run_of(answer: Answer, target: Target) -> Run:
    """The run that an answer to `test_job` or `script_job` tells of."""
    payload = answer.job.payload
    test_id = str(payload.get("test_id") or payload.get("name", ""))
    outcome = _outcome(answer)
    return Run(
        test_id=test_id,
        target=target.name,
        outcome=outcome,
        failure=_failure(answer, test_id, outcome),
        seconds=answer.seconds,
        signal=answer.signal,
        knobs=dict(answer.job.env),
        last_words=answer.last_words if answer.ended is not Ended.DONE else "",
        command=command(_as_it_ran(answer), target),
    )


def _as_it_ran(answer: Answer) -> Job:
    """The job under the name that its test has on this target: see inside/twins.py."""
    ran_as = answer.value.get("ran_as")
    return replace(answer.job, payload={**answer.job.payload, "test_id": ran_as}) if ran_as else answer.job


def command(job: Job, target: Target) -> str:
    """What a person types in the suite's folder to run this job again."""
    env = [f"{name}={value}" for name, value in job.env.items()]
    start = [*(["env", *env] if env else []), *run_on(target)]
    if "source" in job.payload:
        argv = job.payload.get("argv", [target.device])
        return shlex.join([*start, str(job.payload.get("name", SCRIPT)), *map(str, argv)])
    tests = [*job.payload.get("before", ()), job.payload["test_id"]]
    return shlex.join([*start, "-m", "pytest", *map(str, tests)])


def run_on(target: Target) -> list[str]:
    """The words of `tputriage run` with the options that name this target."""
    plugin = plugin_named(target)
    return ["tputriage", "run", "--target", target.name, *(["--plugin", plugin] if plugin else [])]


def files_of(test_ids: Sequence[str], root: Path) -> tuple[str, ...]:
    """The files these tests are in, as absolute paths inside `root`, each once, in order."""
    names = dict.fromkeys(test_id.split("::", 1)[0] for test_id in test_ids)
    return tuple(str(root.resolve() / name) for name in names if name)


def _outcome(answer: Answer) -> Outcome:
    if answer.ended is Ended.DONE:
        return Outcome(answer.value["outcome"])
    return {Ended.CRASH: Outcome.CRASH, Ended.TIMEOUT: Outcome.TIMEOUT, Ended.LOST: Outcome.UNAVAILABLE}[answer.ended]


def _failure(answer: Answer, test_id: str, outcome: Outcome) -> Failure | None:
    if answer.ended is not Ended.DONE:
        return _death(answer, test_id, outcome)
    records = answer.value["failures"]
    return failure_of(records[0], answer.value) if records else None


def failure_of(record: Mapping[str, Any], value: Mapping[str, Any]) -> Failure:
    """The failure that a record made inside the target tells of."""
    return Failure(
        test_id=record["test_id"],
        phase=Phase(record["phase"]),
        outcome=Outcome(record["outcome"]),
        exception=record["exception"],
        message=record["message"],
        frames=tuple(Frame(**frame) for frame in record["frames"]),
        text=record["text"],
        captured=value.get("output", ""),
        duration_s=value.get("duration_s", 0.0),
        causes=tuple(record["causes"]),
    )


def _death(answer: Answer, test_id: str, outcome: Outcome) -> Failure:
    """A failure told from the end of stderr, since the process had no time for a record."""
    words = answer.last_words
    limit = f"did not end within {answer.job.limit_s:g} s"
    return Failure(
        test_id=test_id,
        phase=Phase.CALL if outcome is Outcome.TIMEOUT else Phase.CRASH,
        outcome=outcome,
        message=limit if outcome is Outcome.TIMEOUT else death_message(words, answer.signal),
        frames=stack_frames(words),
        text=words,
        duration_s=answer.seconds,
        signal=answer.signal,
    )


def stack_frames(words: str) -> tuple[Frame, ...]:
    """Frames of faulthandler's first stack, which it writes innermost first, without the machinery's own."""
    head = words.partition("(most recent call first):")[2].partition("\n\n")[0]
    stack = [Frame(found["path"], int(found["line"]), found["function"]) for found in STACK_LINE.finditer(head)]
    stack = [frame for frame in stack if not MACHINERY.search(frame.path)]
    return tuple(reversed(stack[:MOST_FRAMES]))


def death_message(words: str, signal: int | None) -> str:
    """The line in which a library said why it gave up, else the last one."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    telling = next((line for line in lines if GIVING_UP.search(line)), "")
    return telling or (f"ended by signal {signal}" if signal else lines[-1] if lines else "no word was left")
