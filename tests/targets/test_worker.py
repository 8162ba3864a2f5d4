"""The worker from outside: every way in which a test can end, and that nothing is left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from tests.targets.conftest import a_worker, target_or_skip, write_suite
from tputriage.errors import InputError, TargetError
from tputriage.model import Outcome, Phase
from tputriage.targets import runs
from tputriage.targets.seam import Ended, Target
from tputriage.targets.worker import Worker


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("test_passes", Outcome.PASSED),
        ("test_fails", Outcome.FAILED),
        ("test_leaves", Outcome.CRASH),
        ("test_exits", Outcome.FAILED),
        ("test_interrupts", Outcome.FAILED),
        ("test_pytest_exit", Outcome.FAILED),
        ("test_aborts", Outcome.CRASH),
        ("test_killed", Outcome.CRASH),
        ("test_closes_descriptors", Outcome.PASSED),
        ("test_prints_bytes", Outcome.FAILED),
        ("test_skipped", Outcome.SKIPPED),
        ("test_strict", Outcome.FAILED),
        ("test_expected", Outcome.XFAILED),
        ("test_setup_fails", Outcome.ERROR),
        ("test_teardown_fails", Outcome.ERROR),
        ("test_temporary", Outcome.PASSED),
        ("test_named[a/b]", Outcome.PASSED),
        ("test_named[c::d]", Outcome.PASSED),
        ("test_named[-x]", Outcome.PASSED),
        ("test_named[$(touch owned)]", Outcome.PASSED),
    ],
)
def test_a_test_ends_as_pytest_says_or_as_its_process_did(cpu, run, name, outcome):
    assert run(cpu, f"test_suite.py::{name}").outcome is outcome


def test_a_failure_is_recorded_with_its_frames_and_causes(cpu, run):
    failure = run(cpu, "test_fails").failure
    assert (failure.exception, failure.message, failure.phase) == ("ValueError", "the failure", Phase.CALL)
    assert [(frame.path, frame.function) for frame in failure.frames] == [
        ("test_suite.py", "test_fails"),
        ("test_suite.py", "wrong"),
    ]
    assert failure.causes == ("KeyError: 'the cause'",)
    assert "a word before the end" in failure.captured


def test_an_exception_without_a_text_is_recorded_all_the_same(cpu, run):
    failure = run(cpu, "test_unprintable").failure
    assert failure.exception == "test_suite.Unprintable"
    assert "str() raised ValueError" in failure.message


def test_a_crash_keeps_its_signal_and_last_words(cpu, run):
    crashed = run(cpu, "test_aborts")
    assert crashed.signal == signal.SIGABRT
    assert "Fatal Python error: Aborted" in crashed.last_words
    assert crashed.failure.frames[-1].function == "test_aborts"


@pytest.mark.parametrize("name", ["test_hangs", "test_hangs_in_c"])
def test_a_hang_is_ended_at_its_limit(cpu, run, name):
    hung = run(cpu, name, limit_s=0.5)
    assert hung.outcome is Outcome.TIMEOUT
    assert hung.seconds < 6


def test_a_hang_shows_where_it_stood(cpu, run):
    assert run(cpu, "test_hangs", limit_s=0.5).failure.frames[-1].function == "test_hangs"


def test_a_memory_hog_is_ended_alone(cpu, run):
    assert "memory" in run(cpu, "test_hog").failure.message
    assert run(cpu, "test_passes").outcome is Outcome.PASSED


def test_descendants_of_a_test_end_with_it(cpu, run):
    assert run(cpu, "test_leaves_grandchildren").outcome is Outcome.PASSED
    assert not [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == ["sleep", "611"]]


def test_tests_before_it_run_in_the_same_process(cpu, run):
    assert run(cpu, "test_second").outcome is Outcome.PASSED
    assert run(cpu, "test_second", before=("test_suite.py::test_first",)).outcome is Outcome.FAILED


def test_knobs_are_set_for_one_run_only(cpu, run):
    assert run(cpu, "test_knob", knobs={"A_KNOB": "on"}).outcome is Outcome.PASSED
    assert run(cpu, "test_knob").outcome is Outcome.FAILED


def test_an_unknown_test_is_unavailable_and_names_those_near_it(cpu, run):
    missing = run(cpu, "test_fail")
    assert missing.outcome is Outcome.UNAVAILABLE
    assert "test_suite.py::test_fails" in missing.failure.message


@pytest.mark.parametrize(
    ("test_id", "says"),
    [
        ("test_unimportable.py::test_any", "a_module_that_nobody_has"),
        ("test_gone.py::test_any", "test_gone.py is not in the suite's folder"),
    ],
)
def test_what_breaks_collection_answers_for_its_file(cpu, run, test_id, says):
    broken = run(cpu, test_id)
    assert (broken.outcome, broken.failure.phase) == (Outcome.ERROR, Phase.COLLECT)
    assert says in broken.failure.message


@pytest.mark.parametrize(
    ("files", "options", "says"),
    [
        ({"conftest": "import another_missing_module\n"}, {}, "another_missing_module"),
        ({}, {"pytest_args": ["--no-such-option"]}, "--no-such-option"),
    ],
    ids=["conftest", "option"],
)
def test_a_suite_that_cannot_be_collected_at_all_says_why(tmp_path, run, files, options, says):
    with a_worker(write_suite(tmp_path, **files), "cpu", **options) as worker:
        assert says in run(worker, "test_passes").failure.message


def test_the_suite_is_left_as_it_was(cpu, suite, run):
    run(cpu, "test_passes")
    assert {path.name for path in suite.iterdir()} <= {"test_suite.py", "test_unimportable.py", "__pycache__"}


@pytest.mark.parametrize("path", ["-p", "../outside.py", "/etc/passwd"])
def test_files_outside_the_suite_are_refused(suite, path):
    with pytest.raises(InputError, match="not a file inside"):
        Worker(target_or_skip("cpu"), suite, [path])


def test_a_device_that_cannot_come_up_is_one_line():
    target = Target("emulator", "tpu", sys.executable, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
    with Worker(target) as worker, pytest.raises(TargetError) as caught:
        next(worker.ask([runs.script_job("", "tpu", limit_s=5)]))
    assert "tpu" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_interpreter_that_is_not_there_is_one_line():
    with Worker(Target("cpu", "cpu", "/no/such/python")) as worker, pytest.raises(TargetError, match="/no/such/python"):
        next(worker.ask([runs.script_job("", "cpu", limit_s=5)]))


@pytest.mark.parametrize(
    ("source", "outcome", "message"),
    [
        ("", Outcome.PASSED, None),
        ("raise SystemExit", Outcome.PASSED, None),
        ("raise SystemExit(0)", Outcome.PASSED, None),
        ("raise SystemExit(3)", Outcome.FAILED, "the script left with code 3"),
        ("import sys; assert __name__ == '__main__'; assert sys.argv[1:] == ['cpu']", Outcome.PASSED, None),
        ("1 +", Outcome.FAILED, "invalid syntax (repro.py, line 1)"),
        ("class E(Exception): pass\nraise E('own')", Outcome.FAILED, "own"),
        ("import torch; torch.ones(2) @ torch.ones(3)", Outcome.FAILED, None),
        ("import torch; torch.ones(300, 300) @ torch.ones(300, 300)", Outcome.PASSED, None),
    ],
)
def test_a_script_passes_where_it_comes_to_its_end(cpu, run_source, source, outcome, message):
    ran = run_source(cpu, source)
    assert ran.outcome is outcome
    assert message is None or ran.failure.message == message


def test_an_exception_class_of_the_script_has_no_module_in_front(cpu, run_source):
    assert run_source(cpu, "class E(Exception): pass\nraise E").failure.exception == "E"


def test_a_kind_that_nobody_wrote_is_a_crash_with_its_name(cpu):
    (answer,) = cpu.ask([runs.Job("../main", {})])
    assert answer.ended is Ended.CRASH
    assert "no kind of job" in answer.last_words


def test_jobs_are_taken_only_when_a_slot_is_free(cpu):
    taken = []

    def jobs():
        for number in range(6):
            taken.append(number)
            yield runs.script_job("", "cpu", limit_s=30)

    answers = cpu.ask(jobs())
    next(answers)
    assert len(taken) <= cpu.target.slots + 1
    answers.close()


def test_closing_the_answers_ends_what_still_runs(cpu, run):
    jobs = [runs.test_job(f"test_suite.py::{name}", limit_s=60) for name in ("test_passes", "test_hangs")]
    answers = cpu.ask(jobs)
    next(answers)
    answers.close()
    started = time.monotonic()
    assert run(cpu, "test_passes").outcome is Outcome.PASSED
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("time_of", range(6))  # the worker has to be caught as it waits
def test_a_job_that_is_cancelled_as_it_speaks_takes_nobody_with_it(cpu, tmp_path, time_of):
    source = f"""
import os, pathlib, time
here = pathlib.Path({str(tmp_path)!r})
here.joinpath("up").touch()
while not here.joinpath("go").exists():
    time.sleep(0.01)
os.write(1, b"a word")
here.joinpath("said").touch()
time.sleep(60)
"""
    cpu.begin(runs.script_job(source, "cpu", limit_s=60))
    assert comes(tmp_path / "up")
    worker = psutil.Process(cpu.process._popen.pid)
    worker.suspend()  # so that it meets the word in the very turn in which it meets the cancellation before it
    time.sleep(0.2)
    cpu.cancel()
    (tmp_path / "go").touch()
    assert comes(tmp_path / "said")
    worker.resume()
    (answer,) = cpu.ask([runs.script_job("", "cpu", limit_s=30)])
    assert answer.ended is Ended.DONE


def comes(path):
    deadline = time.monotonic() + 30
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return path.exists()


def test_a_worker_that_dies_loses_its_jobs_and_starts_again(suite, run):
    with a_worker(suite, "cpu") as worker:
        killer = "import os, signal; os.kill(os.getppid(), signal.SIGKILL); import time; time.sleep(60)"
        (answer,) = worker.ask([runs.script_job(killer, "cpu", limit_s=60)])
        assert answer.ended is Ended.LOST
        assert run(worker, "test_passes").outcome is Outcome.PASSED


def test_a_worker_that_dies_again_and_again_is_given_up():
    killer = runs.script_job("import os; os.kill(os.getppid(), 9)", "cpu", limit_s=60)
    with Worker(target_or_skip("cpu"), slots=1) as worker, pytest.raises(TargetError, match="given up"):
        list(worker.ask([killer] * 9))


def marked(tag):
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if tag.encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def test_nothing_is_left_when_we_are_killed(tmp_path):
    program = tmp_path / "parent.py"
    program.write_text(
        textwrap.dedent(
            """
            from tputriage.config import Settings
            from tputriage.targets import runs
            from tputriage.targets.catalogue import find_target
            from tputriage.targets.worker import Worker

            hang = "import subprocess, time; subprocess.Popen(['sleep', '613']); print('up'); time.sleep(600)"
            with Worker(find_target("cpu", Settings())) as worker:
                worker.versions
                print("ready", flush=True)
                list(worker.ask([runs.script_job(hang, "cpu", limit_s=600)] * 2))
            """
        )
    )
    tag = f"LEFT_BEHIND={os.getpid()}"
    name, _, value = tag.partition("=")
    parent = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, env={**os.environ, name: value})
    parent.stdout.readline()
    deadline = time.monotonic() + 30
    while len(marked(tag)) < 6 and time.monotonic() < deadline:  # parent, worker, two children, two of theirs
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    while marked(tag) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked(tag) == []


def test_two_hundred_jobs_leave_no_process_and_no_descriptor(cpu):
    sources = [
        "",
        "raise SystemExit(1)",
        "import os; os._exit(1)",
        "import os; os.abort()",
        "import time; time.sleep(9)",
    ]
    jobs = [
        runs.script_job(sources[number % 4 if number % 40 else 4], "cpu", limit_s=0.4 if not number % 40 else 30)
        for number in range(200)
    ]
    before = len(os.listdir("/proc/self/fd"))
    answers = list(cpu.ask(jobs))
    assert len(answers) == 200
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(psutil.Process().children(recursive=True)) <= 2 * 2  # the shared workers alone


def test_an_answer_that_comes_late_goes_to_nobody_else(cpu):
    slow, quick = (runs.script_job(source, "cpu", limit_s=30) for source in ("import time; time.sleep(0.3)", ""))
    answers = cpu.ask([slow, quick])
    next(answers)
    time.sleep(1)  # the other answer is on its way
    answers.close()
    (answer,) = cpu.ask([runs.script_job("print('mine')", "cpu", limit_s=30)])
    assert "mine" in answer.value["output"]
