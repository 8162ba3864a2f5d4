"""The flattened script of a test does just what the test does: on a suite that has one of everything, and on made ones.

The scripts are the whole ones, with what importing the suite does and with the teardown.
"""

import random

import pytest

from tests.minimize.flattening_odd import ODD
from tests.minimize.flattening_zoo import EXPANDED, FILES
from tests.minimize.made_suites import made_suite
from tputriage.config import Settings
from tputriage.errors import TriageError
from tputriage.minimize.flatten import flatten
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker


def written(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(folder / name) for name in files if "test_" in name]


def said(run):
    """Outcome, exception and message, without what says where: folders and addresses."""
    if run.failure is None:
        return run.outcome.value
    return run.failure.exception.rpartition(".")[2], run.failure.message


def alike(script, test):
    """The words of a bare assert are pytest's own."""
    asserts = script[0] == test[0] == "AssertionError"
    return script == test or (asserts and test[1].startswith(script[1] or "assert"))


def compared(folder, files, python=""):
    """{test id: (what the test says, what its script says)} of those that differ."""
    target = find_target("cpu", Settings(python=python))
    different = {}
    with Worker(target, folder, files=files) as worker:
        for test_id in worker.tests:
            test = runs.run_of(next(iter(worker.ask([runs.test_job(test_id, limit_s=30)]))), target)
            try:
                script = flatten(test_id, worker, whole=True)
            except TriageError as exc:
                different[test_id] = (said(test), str(exc))
                continue
            job = runs.script_job(script, "cpu", limit_s=30)
            other = runs.run_of(next(iter(worker.ask([job]))), target)
            if not alike(said(other), said(test)):
                different[test_id] = (said(test), said(other), script)
    return different


def test_each_test_of_the_zoo_says_the_same_as_a_script(tmp_path):
    assert compared(tmp_path, written(tmp_path, FILES)) == {}


def test_what_modules_do_to_each_other_is_done_in_a_script(tmp_path):
    assert compared(tmp_path, written(tmp_path, ODD)) == {}


@pytest.mark.parametrize("seed", [1, 2])
def test_each_test_of_a_made_suite_says_the_same_as_a_script(tmp_path, seed):
    assert compared(tmp_path, written(tmp_path, made_suite(random.Random(seed)))) == {}


def test_tests_that_parameterized_makes_say_the_same_as_a_script(tmp_path):
    pytest.importorskip("parameterized")
    written(tmp_path, FILES)
    assert compared(tmp_path, written(tmp_path, EXPANDED)) == {}
