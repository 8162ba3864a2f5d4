"""Scripts and modules in processes of their own."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.targets.conftest import target_or_skip
from tputriage.errors import TargetError
from tputriage.model import Outcome
from tputriage.targets.fresh import run_script

LAUNCH = """
import sys
from tputriage.config import Settings
from tputriage.targets.catalogue import find_target
from tputriage.targets.fresh import launch
module = sys.argv[2] == "-m"
sys.exit(launch(find_target(sys.argv[1], Settings()), sys.argv[3 if module else 2:], module=module))
"""


def write(folder: Path, source: str) -> Path:
    path = folder / "repro.py"
    path.write_text(source, "utf-8")
    return path


def launched(target, *argv, cwd):
    return subprocess.run(
        [sys.executable, "-c", LAUNCH, target, *map(str, argv)], cwd=cwd, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(
    ("source", "outcome", "message"),
    [
        ("import sys; assert sys.argv[1:] == ['cpu']", Outcome.PASSED, ""),
        ("raise ValueError('first\\nsecond')", Outcome.FAILED, "first\nsecond"),
        ("import sys; sys.exit('still broken')", Outcome.FAILED, "the script left with code 'still broken'"),
        ("raise SystemExit(1)", Outcome.FAILED, "the script left with code 1"),
        ("import os; os._exit(3)", Outcome.CRASH, "the process left with exit code 3 before its result was known"),
        ("1 +", Outcome.FAILED, "invalid syntax (repro.py, line 1)"),
        ("import os; os.abort()", Outcome.CRASH, "Fatal Python error: Aborted"),
        ("import os; os.kill(os.getpid(), 9)", Outcome.CRASH, "ended by signal 9"),
        ("import time; time.sleep(600)", Outcome.TIMEOUT, "did not end within 1 s"),
    ],
)
def test_a_script_ends_as_its_exit_code_says(tmp_path, source, outcome, message):
    limit_s = 1 if outcome is Outcome.TIMEOUT else 60
    (run,) = run_script(target_or_skip("cpu"), write(tmp_path, source), limit_s=limit_s, start_s=1)
    assert run.outcome is outcome
    assert (run.failure.message if run.failure else "") == message


def test_a_failure_has_the_frames_of_its_traceback(tmp_path):
    path = write(tmp_path, "def inner():\n    raise KeyError(1)\n\ninner()\n")
    (run,) = run_script(target_or_skip("cpu"), path, limit_s=60)
    assert run.failure.exception == "KeyError"
    assert [(frame.line, frame.function, frame.text) for frame in run.failure.frames] == [
        (4, "<module>", "inner()"),
        (2, "inner", "raise KeyError(1)"),
    ]


def test_each_time_is_a_process_of_its_own(tmp_path):
    path = write(tmp_path, "import os, sys; sys.exit(str(os.getpid()))")
    first, second = run_script(target_or_skip("cpu"), path, limit_s=60, times=2)
    assert first.failure.message != second.failure.message


def test_an_interpreter_that_is_not_there_is_one_line(tmp_path):
    target = replace(target_or_skip("cpu"), python=str(tmp_path / "none"))
    with pytest.raises(TargetError, match="cannot be started"):
        run_script(target, write(tmp_path, ""), limit_s=1)


def test_a_launched_script_keeps_its_streams_exit_code_and_exit_handlers(tmp_path):
    source = "import atexit, sys\natexit.register(print, 'bye')\nprint(sys.argv[1:], __name__)\nsys.exit(7)\n"
    done = launched("cpu", write(tmp_path, source), "-x", "a b", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (7, "['-x', 'a b'] __main__\nbye\n")


def test_a_launched_script_shows_its_own_traceback_only(tmp_path):
    done = launched("cpu", write(tmp_path, "1 / 0\n"), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("File ") == 1


@pytest.mark.emulator
def test_the_emulator_comes_with_torch_in_every_process(tmp_path):
    target_or_skip("emulator")
    (tmp_path / "test_it.py").write_text(
        "import torch\ndef test_it():\n    torch.ones(2, device='tpu').median()\n", "utf-8"
    )
    plugins = ["-p", "no:cacheprovider", "-p", "xdist", "-n", "1", "--json-report", "--json-report-file=report.json"]
    done = launched("emulator", "-m", "pytest", "-q", *plugins, cwd=tmp_path)
    assert done.returncode == 1
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert "aten::median" in report["tests"][0]["call"]["crash"]["message"]


def test_a_module_that_is_not_there_is_one_line(tmp_path):
    target_or_skip("cpu")
    done = launched("cpu", "-m", "no.such.module", cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "no module named no.such.module" in done.stderr
