"""Answers in the domain's words, and the commands that repeat them."""

import shlex
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tputriage.cli import commands
from tputriage.model import Outcome, Phase
from tputriage.targets import runs
from tputriage.targets.catalogue import DEFAULT_PLUGIN, PLUGINS
from tputriage.targets.seam import Answer, Ended, Job, Target

TARGET = Target("emulator", "tpu", "python")
HOSTILE = "tests/test_a.py::test[$(touch owned); 'x' \"y\" --option]"
ABORT = """\
F0000 00:00:1796021339.240331    8801 inversion.cc:112] in-place operations on overlapping views
*** Check failure stack trace: ***
Fatal Python error: Aborted

Current thread 0x00007f0 (most recent call first):
  File "/suite/modeling.py", line 7 in windows
  File "/suite/tests/test_a.py", line 3 in test_a
  File "/lib/site-packages/_pytest/python.py", line 166 in pytest_pyfunc_call

Thread 0x00007f1 (most recent call first):
  File "/lib/threading.py", line 1 in run
"""


def an_answer(ended=Ended.DONE, value=None, **changes):
    job = changes.pop("job", runs.test_job("tests/test_a.py::test_a", limit_s=5))
    return Answer(job, ended, value or {}, 1.5, **changes)


def test_a_pass_has_no_failure():
    run = runs.run_of(an_answer(value={"outcome": "passed", "failures": []}), TARGET)
    assert (run.outcome, run.failure, run.seconds, run.target) == (Outcome.PASSED, None, 1.5, "emulator")


def test_a_native_abort_is_told_by_the_line_that_says_why():
    failure = runs.run_of(an_answer(Ended.CRASH, signal=signal.SIGABRT, last_words=ABORT), TARGET).failure
    assert "inversion.cc:112" in failure.message
    assert [frame.function for frame in failure.frames] == ["test_a", "windows"]
    assert (failure.phase, failure.signal) == (Phase.CRASH, signal.SIGABRT)


def test_a_silent_death_is_told_by_its_signal():
    assert "signal 9" in runs.run_of(an_answer(Ended.CRASH, signal=9), TARGET).failure.message


def test_a_time_out_says_its_limit():
    run = runs.run_of(an_answer(Ended.TIMEOUT), TARGET)
    assert (run.outcome, run.failure.message) == (Outcome.TIMEOUT, "did not end within 5 s")


def test_a_lost_worker_is_no_verdict_on_the_test():
    run = runs.run_of(an_answer(Ended.LOST, last_words="killed"), TARGET)
    assert run.outcome is Outcome.UNAVAILABLE
    assert not run.outcome.is_failure


@pytest.mark.parametrize(
    "job",
    [
        runs.test_job(HOSTILE, limit_s=1, knobs={"A": "b c"}),
        runs.test_job(HOSTILE, limit_s=1, before=["tests/test_a.py::test_b c"]),
        runs.script_job("", "tpu", limit_s=1, name="my repro.py"),
    ],
)
def test_the_command_is_one_a_shell_takes_apart_as_meant(job):
    words = shlex.split(runs.command(job, TARGET))
    assert words[words.index("run") : words.index("run") + 3] == ["run", "--target", "emulator"]
    assert words[-1] == (job.payload["argv"][0] if job.kind == "script" else HOSTILE)


@pytest.mark.parametrize("test_id", [HOSTILE, "tests/test_a.py::TestA::test_b[-k]"])
def test_the_command_is_one_that_we_parse_ourselves(test_id):
    words = shlex.split(runs.command(runs.test_job(test_id, limit_s=1), TARGET))
    assert words[:2] == ["tputriage", "run"]
    given = commands.commands["run"].make_context("run", words[2:]).params
    assert (given["program"], given["arguments"], given["module"]) == ("pytest", (test_id,), True)
    assert given["target"] == "emulator"


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        (f"/lib/{PLUGINS[DEFAULT_PLUGIN]}", []),
        *((f"/lib/{path}", ["--plugin", name]) for name, path in PLUGINS.items() if name != DEFAULT_PLUGIN),
        ("/own/plugin.so", ["--plugin", "/own/plugin.so"]),
    ],
)
def test_the_command_names_a_plugin_that_is_not_the_default(plugin, words):
    start = ["tputriage", "run", "--target", "emulator"]
    assert runs.run_on(replace(TARGET, plugin=plugin)) == [*start, *words]


def test_files_are_named_once_and_inside_the_root(tmp_path):
    ids = ["tests/a.py::T::test[x::y]", "tests/b.py::test", "tests/a.py::test"]
    assert runs.files_of(ids, tmp_path) == (str(tmp_path / "tests/a.py"), str(tmp_path / "tests/b.py"))


def test_jobs_hold_json_values_only():
    job = runs.test_job("a.py::test", limit_s=2, before=("a.py::first",))
    assert job == Job("test", {"test_id": "a.py::test", "before": ["a.py::first"]}, 2, {})
    assert Path(runs.script_job("", "cpu", limit_s=1).payload["name"]).suffix == ".py"
