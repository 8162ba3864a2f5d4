"""Ctrl-C, sent to a real child while it works: it ends soon, says what is kept, and leaves nothing behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.issues.server import Fault
from tests.issues.values import REPOSITORY

# Two CPU targets, of which one makes the suite fail, so that no device is needed.
SETTINGS = """
device_env = "STOP_DEVICE"
target = "mine"
[targets.mine]
device = "cpu"
env = { STOP_WRONG = "1" }
slots = 1
"""
SUITE = """
import os, time

def test_one():
    assert "STOP_WRONG" not in os.environ

def test_two():
    if "STOP_WRONG" in os.environ:
        time.sleep(600)
"""


def a_failed(name, words):
    crash = {"path": "test_stop.py", "lineno": 5, "message": words}
    call = {"duration": 0.1, "outcome": "failed", "crash": crash, "longrepr": f"E   {words}"}
    return {"nodeid": f"test_stop.py::{name}", "outcome": "failed", "call": call}


def a_report_of(folder):
    tests = [a_failed("test_one", "AssertionError: one"), a_failed("test_two", "ValueError: two")]
    made = {"created": 1.0, "duration": 1.0, "exitcode": 1, "root": str(folder), "environment": {}}
    return json.dumps(made | {"summary": {"failed": 2}, "tests": tests})


def stopped(folder, sign, *arguments, sent=signal.SIGINT, **environment):
    """(exit code, stderr) of a command that got a signal once its log had `sign`."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tputriage", *map(str, arguments), "-v"],
        cwd=folder,
        env=os.environ | {"STOP_MARK": str(folder)} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    heard = []
    try:
        for line in child.stderr:
            heard.append(line)
            if sign in line:
                child.send_signal(sent)
                break
        heard.append(child.communicate(timeout=60)[1])
    finally:
        child.kill()
    return child.returncode, "".join(heard)


def left_behind(folder):
    mark = f"STOP_MARK={folder}".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found += [place.parent.name] if mark in place.read_bytes() else []
    return found


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_collect_keeps_what_it_found_and_ends_its_workers(tmp_path, sent):
    (tmp_path / "tputriage.toml").write_text(SETTINGS)
    (tmp_path / "test_stop.py").write_text(SUITE)
    (tmp_path / "report.json").write_text(a_report_of(tmp_path))
    code, said = stopped(tmp_path, "is test test_stop.py::test_two", "collect", "report.json", sent=sent)
    assert code == 130
    assert "of 2 buckets have their verdict in .tputriage: the same command goes on with the rest" in said
    assert "Traceback" not in said
    assert left_behind(tmp_path) == []
    assert (tmp_path / ".tputriage" / "store.db").is_file()


def test_collect_again_says_that_it_would_begin_anew(tmp_path):
    (tmp_path / "tputriage.toml").write_text(SETTINGS)
    (tmp_path / "test_stop.py").write_text(SUITE)
    (tmp_path / "report.json").write_text(a_report_of(tmp_path))
    code, said = stopped(tmp_path, "is test test_stop.py::test_two", "collect", "report.json", "--again")
    assert code == 130
    assert "of 2 buckets judged anew in .tputriage, and the rest as it was: the same command, with --again" in said


def test_shrink_says_that_nothing_smaller_was_found_yet(tmp_path):
    (tmp_path / "tputriage.toml").write_text(SETTINGS)
    (tmp_path / "script.py").write_text("import sys, time\ndevice = sys.argv[1]\ntime.sleep(600)\n")
    code, said = stopped(tmp_path, "is script", "shrink", "script.py")
    assert (code, "nothing smaller was found yet, and nothing was written" in said) == (130, True)
    assert left_behind(tmp_path) == []
    assert not (tmp_path / "script.small.py").exists()


def test_filing_says_that_the_same_command_files_nothing_twice(folder, hub):
    hub.world.faults.append(Fault("timeout-before", "POST", "/issues", seconds=30.0))
    asked = f"github: POST /repos/{REPOSITORY}/issues"
    code, said = stopped(folder, asked, "file-issues", "--yes", "--api-url", hub.url, GITHUB_TOKEN="token-of-bot")
    assert code == 130
    assert "0 of 1 change done, and the ledger knows what may have been sent" in said
    assert "token-of-bot" not in said
