import random

import pytest

from tests.compare.scripted import CRASHES, PASSES, bucket_of, fails
from tputriage.compare.casebook import Casebook, Rules
from tputriage.compare.desk import Side
from tputriage.compare.order import MOST_RUNS, by_file, earlier, search
from tputriage.targets.runs import run_of
from tputriage.targets.seam import Answer, Ended, Target

FILE = "tests/test_a.py"
ORDER = [f"{FILE}::test_{n:02}" for n in range(40)]
LAST = ORDER[-1]
TPU = Target("tpu", "tpu", "python")
FAILS = fails("left over", "ValueError")


def find(rule):
    """(shortest sequence, runs made) of a search in which `rule(before)` says what a run does."""
    bucket = bucket_of(LAST, message="left over", exception="ValueError")
    book = Casebook(bucket, Rules(10.0, "tpu", "cpu", {FILE: ORDER}), 10.0)
    going, made = search(book, LAST), 0
    try:
        asked = next(going)
        while True:
            made += len(asked)
            asked = going.send([answer(question, rule) for question in asked])
    except StopIteration as end:
        return end.value[0], made


def answer(question, rule):
    said = rule(question.test_id, question.before) if question.side is Side.DEVICE else PASSES
    job = question.job()
    if isinstance(said, Ended):
        return run_of(Answer(job, said, {}, 0.1), TPU)
    records = [{**record, "test_id": question.test_id} for record in said["failures"]]
    return run_of(Answer(job, Ended.DONE, {**said, "failures": records}, 0.1), TPU)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_culprits_are_found(count, seed):
    culprits = set(random.Random(seed).sample(ORDER[:-1], count))
    found, made = find(lambda test, before: FAILS if culprits <= set(before) else PASSES)
    assert set(found) == culprits
    assert made <= MOST_RUNS + 10


def test_the_order_that_they_ran_in_is_kept():
    found, _ = find(lambda test, before: FAILS if {ORDER[30], ORDER[2]} <= set(before) else PASSES)
    assert found == (ORDER[2], ORDER[30])


def test_a_test_that_ends_the_process_is_left_out():
    def rule(test, before):
        if ORDER[7] in (*before, test):
            return CRASHES
        return FAILS if ORDER[3] in before else PASSES

    assert find(rule)[0] == (ORDER[3],)


def test_where_the_order_changes_nothing_one_run_says_so():
    assert find(lambda test, before: PASSES) == ((), 1)


def test_a_flake_is_not_taken_for_order():
    coin = random.Random(5)
    assert find(lambda test, before: FAILS if coin.random() < 0.5 else PASSES)[0] == ()


def test_only_the_same_file_ran_earlier():
    book = Casebook(bucket_of(LAST), Rules(10.0, "tpu", "cpu", {FILE: ORDER, "tests/b.py": ["tests/b.py::t"]}), 10.0)
    assert earlier(ORDER[2], book) == tuple(ORDER[:2])
    assert earlier("tests/other.py::test_x", book) == ()


def test_tests_are_ordered_within_their_files():
    assert by_file(["a.py::x", "b.py::y", "a.py::z"]) == {"a.py": ("a.py::x", "a.py::z"), "b.py": ("b.py::y",)}
