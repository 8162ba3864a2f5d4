"""One worker per target for the whole run, since starting one costs seconds; the suite it serves is below."""

import textwrap
from pathlib import Path

import pytest

from tputriage.config import Settings
from tputriage.errors import TargetError
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

SUITE = """
import os, signal, subprocess, sys, time
from pathlib import Path
import pytest
import torch

DEVICE = os.environ["SUITE_DEVICE"]

class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no text")

def test_passes():
    assert torch.ones(3, device=DEVICE).sum().item() == 3

def test_fails():
    print("a word before the end")
    wrong()

def wrong():
    try:
        raise KeyError("the cause")
    except KeyError as exc:
        raise ValueError("the failure") from exc

def test_unprintable():
    raise Unprintable

def test_leaves():
    os._exit(3)

def test_exits():
    sys.exit(3)

def test_interrupts():
    raise KeyboardInterrupt

def test_pytest_exit():
    pytest.exit("enough")

def test_hangs():
    time.sleep(600)

def test_hangs_in_c():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    time.sleep(600)

def test_aborts():
    os.abort()

def test_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def test_closes_descriptors():
    os.closerange(3, 4096)

def test_prints_bytes():
    os.write(1, bytes(range(256)))
    os.write(2, b"\\xff" * 300_000)
    assert not "printed"

def test_leaves_grandchildren():
    subprocess.Popen(["sleep", "611"])
    subprocess.Popen(["sleep", "611"], start_new_session=True)

def test_hog():
    held = []
    while True:
        held.append(bytearray(50_000_000))

@pytest.mark.skip(reason="not today")
def test_skipped():
    pass

@pytest.mark.xfail(strict=True)
def test_strict():
    pass

@pytest.mark.xfail
def test_expected():
    assert False

@pytest.fixture
def broken():
    raise RuntimeError("no fixture")

def test_setup_fails(broken):
    pass

@pytest.fixture
def dirty():
    yield
    raise RuntimeError("not clean")

def test_teardown_fails(dirty):
    pass

def test_layout():
    image = torch.randn(2, 3, 4, 4, device=DEVICE).to(memory_format=torch.channels_last)
    assert torch.relu(image).sum() == image.sum() + 1

STATE = []

def test_first():
    STATE.append(1)

def test_second():
    assert not STATE

def test_knob():
    assert os.environ.get("A_KNOB") == "on"

def test_temporary(tmp_path):
    assert tmp_path.is_dir()

@pytest.mark.parametrize("name", ["a/b", "c::d", "-x", "$(touch owned)"])
def test_named(name):
    pass
"""


def write_suite(root: Path, **files: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "test_suite.py").write_text(SUITE, "utf-8")
    for name, text in files.items():
        (root / f"{name}.py").write_text(textwrap.dedent(text), "utf-8")
    return root


def target_or_skip(name: str):
    try:
        return find_target(name, Settings())
    except TargetError as exc:
        pytest.skip(str(exc))


@pytest.fixture(scope="session")
def suite(tmp_path_factory):
    return write_suite(
        tmp_path_factory.mktemp("suites") / "suite", test_unimportable="import a_module_that_nobody_has\n"
    )


def a_worker(suite, name, extra=("test_unimportable.py", "test_gone.py"), **options):
    files = [str(suite / file) for file in ("test_suite.py", *extra)]
    return Worker(target_or_skip(name), suite, files, device_env="SUITE_DEVICE", **options)


@pytest.fixture(scope="session")
def cpu(suite):
    with a_worker(suite, "cpu", memory_bytes=1 << 30) as worker:
        yield worker


@pytest.fixture(scope="session")
def emulator(suite):
    with a_worker(suite, "emulator") as worker:
        yield worker


@pytest.fixture
def run():
    """run(worker, name, ...): the `model.Run` of one test of the suite."""

    def run_one(worker, name, limit_s=30.0, **options):
        test_id = name if "::" in name else f"test_suite.py::{name}"
        (answer,) = worker.ask([runs.test_job(test_id, limit_s=limit_s, **options)])
        return runs.run_of(answer, worker.target)

    return run_one


@pytest.fixture
def run_source():
    """run_source(worker, source, ...): the `model.Run` of a script."""

    def run_one(worker, source, limit_s=30.0, **options):
        job = runs.script_job(textwrap.dedent(source), worker.target.device, limit_s=limit_s, **options)
        (answer,) = worker.ask([job])
        return runs.run_of(answer, worker.target)

    return run_one
