"""A report of another machine, and an interpreter that has torch and pytest and nothing of tputriage's."""

import json
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

from tputriage.pipeline.collecting import collect

SUITE = """
    import importlib.util
    import os

    def test_it():
        ours = [name for name in ("tputriage", "msgspec", "libcst") if importlib.util.find_spec(name)]
        assert ours == []
        if os.environ.get("FAULTY"):
            raise ValueError("the device is wrong about this")
"""
OURS = (
    "_tputriage",
    "__editable",
    "tputriage",
    "msgspec",
    "click",
    "rich",
    "libcst",
    "jinja2",
    "github",
    "pygithub",
    "defusedxml",
)


@pytest.fixture
def python(tmp_path):
    """An interpreter that sees the packages installed here, those aside that tputriage brings along."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(place).iterdir():
            if not entry.name.lower().startswith(OURS) and entry.suffix != ".pth":
                (packages / entry.name).symlink_to(entry)
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} -S "$@"\n', "utf-8")
    program.chmod(0o755)
    return str(program)


def a_report(folder):
    """As it was written elsewhere: neither its root nor the paths in it are on this machine."""
    place = "/elsewhere/suite/tests/test_it.py"
    crash = {"path": place, "lineno": 9, "message": "ValueError: the device is wrong about this"}
    trace = [{"path": "tests/test_it.py", "lineno": 9, "message": "ValueError"}]
    call = {"outcome": "failed", "duration": 0.1, "crash": crash, "traceback": trace}
    tests = [{"nodeid": "tests/test_it.py::test_it", "outcome": "failed", "call": call}]
    path = folder / "report.json"
    path.write_text(
        json.dumps({"created": 1.0, "exitcode": 1, "root": "/elsewhere/suite", "summary": {}, "tests": tests})
    )
    return path


def test_a_report_of_another_machine_is_compared_in_the_copy_of_the_suite_with_the_suites_python(tmp_path, python):
    root = tmp_path / "copy"
    (root / "tests").mkdir(parents=True)
    (root / "tests" / "test_it.py").write_text(textwrap.dedent(SUITE), "utf-8")
    (root / "tputriage.toml").write_text('device_env = "D"\n[targets.faulty]\ndevice = "cpu"\nenv = { FAULTY = "1" }\n')
    options = {"rerun": True, "again": False, "salvage": False, "quiet": True, "store": tmp_path / "store"}
    answer = collect(reports=[a_report(tmp_path)], root=root, python=python, target="faulty", **options)
    (bucket,) = answer.data["buckets"]
    assert bucket["verdict"] == "tpu-only", answer.data
