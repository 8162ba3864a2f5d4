"""Several workers as one runner, with real processes; chips are device files in a folder of the test's own."""

import sys
import time
from collections import Counter

import pytest

from tests.targets.conftest import target_or_skip
from tputriage.errors import TargetError
from tputriage.targets import runs
from tputriage.targets.chips import every_chip, hold_chip
from tputriage.targets.pool import Pool
from tputriage.targets.seam import Ended, Target

SUITE = """
import os, signal, time
import pytest

CHIPS = 1 if os.environ.get("TPU_VISIBLE_CHIPS") else int(os.environ.get("SUITE_CHIPS", "1"))

def test_chip():
    print("chip", os.environ.get("TPU_VISIBLE_CHIPS"), "worker", os.getppid())

def test_slow():
    time.sleep(0.7)
    test_chip()

@pytest.mark.skipif(CHIPS < 2, reason="test requires multiple accelerators")
def test_many():
    test_chip()

def test_kills_its_worker():
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(30)

def test_named_as_wide():
    print("sees", CHIPS)
"""


def make_machine(folder, patch):
    """A machine with four chips, whose locks are the test's own."""
    for number in range(4):
        (folder / f"accel{number}").touch()
    patch.setenv("TPUTRIAGE_DEVICES", str(folder))
    patch.setenv("TPUTRIAGE_LOCKS", str(folder))
    (folder / "test_pool.py").write_text(SUITE, "utf-8")
    return folder


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return make_machine(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two workers on two chips."""
    with pytest.MonkeyPatch.context() as patch:
        root = make_machine(tmp_path_factory.mktemp("pair"), patch)
        with a_pool(root, workers=2, chips=2, several_chips=["*::test_named_*"]) as pool:
            yield pool


def a_pool(root, *, workers, chips=0, slots=None, **options):
    env = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "SUITE_CHIPS": str(chips)}
    target = Target(
        "tpu", "cpu", sys.executable, env, slots=slots or workers, workers=workers, chips=tuple(range(chips))
    )
    return Pool(target, root, [str(root / "test_pool.py")], **options)


def jobs(name, count, limit_s=20.0):
    return [runs.test_job(f"test_pool.py::{name}", limit_s=limit_s) for _ in range(count)]


def printed(answers, word):
    """What each answer's output says after `word`."""
    return [answer.value["output"].split(f"{word} ")[1].split()[0] for answer in answers]


def test_each_worker_has_a_chip_of_its_own_and_the_jobs_are_spread_over_them(pair):
    answers = list(pair.ask(jobs("test_slow", 6)))
    shares = Counter(zip(printed(answers, "chip"), printed(answers, "worker"), strict=True))
    assert sorted(chip for chip, _ in shares) == ["0", "1"]
    assert min(shares.values()) >= 2


def test_answers_come_as_jobs_end_and_jobs_are_taken_when_there_is_a_place(pair):
    taken = []

    def source():
        for job in [*jobs("test_slow", 1), *jobs("test_chip", 5)]:
            taken.append(job)
            yield job

    answers = pair.ask(source())
    first = next(answers)
    assert first.job is not taken[0]
    assert len(taken) <= 3
    assert len([first, *answers]) == 6


def test_a_test_that_says_it_needs_several_chips_gets_all_of_them_alone(pair):
    answers = list(pair.ask([*jobs("test_many", 1), *jobs("test_slow", 3)]))
    outcomes = {answer.job.payload["test_id"]: answer.value["outcome"] for answer in answers}
    assert outcomes["test_pool.py::test_many"] == "passed"
    assert len(answers) == 4
    assert printed(pair.ask(jobs("test_many", 1)), "chip") == ["None"]  # pinned to none, and known by now


def test_a_test_that_the_settings_name_runs_with_all_chips_at_once(pair):
    assert printed(pair.ask(jobs("test_named_as_wide", 1)), "sees") == ["2"]


def test_a_single_job_starts_one_interpreter(machine):
    with a_pool(machine, workers=2, chips=2) as pool:
        for _ in range(2):
            list(pool.ask(jobs("test_chip", 1)))
        assert len([lane for lane in pool._lanes if lane.worker.process]) == 1
        hold_chip((0, 1)).release()  # the other chip is still free for others


def test_a_worker_that_dies_loses_its_own_jobs_only(machine):
    with a_pool(machine, workers=2) as pool:
        asked = [*jobs("test_chip", 2), *jobs("test_kills_its_worker", 1), *jobs("test_slow", 3)]
        answers = list(pool.ask(asked))
    assert [answer.job for answer in answers if answer.ended is Ended.LOST] == [asked[2]]
    assert len(answers) == len(asked)
    assert Counter(answer.ended for answer in answers)[Ended.DONE] == 5


def test_a_chip_that_somebody_else_holds_is_left_alone(machine):
    with every_chip((0,)):  # chip 0
        other_process_holds(machine, 0)
        with a_pool(machine, workers=2, chips=2) as pool:
            answers = list(pool.ask(jobs("test_slow", 4)))
    assert set(printed(answers, "chip")) == {"1"}


def other_process_holds(machine, chip):
    """The lock says that its holder is another process."""
    (machine / f"tputriage-chip-{chip}.lock").write_text("1", "ascii")


def test_where_every_chip_is_held_it_is_one_error(machine):
    with (
        every_chip((0, 1)),
        a_pool(machine, workers=2, chips=2) as pool,
        pytest.raises(TargetError, match="held by another"),
    ):
        list(pool.ask(jobs("test_chip", 3)))


def test_where_a_chip_is_held_elsewhere_a_test_that_needs_all_of_them_says_so(machine):
    with every_chip((0,)):
        other_process_holds(machine, 0)
        with a_pool(machine, workers=1, chips=2, several_chips=["*::test_named_*"]) as pool:
            answers = list(pool.ask([*jobs("test_named_as_wide", 1), *jobs("test_chip", 1)]))
    told = {answer.job.payload["test_id"].partition("::")[2]: answer for answer in answers}
    assert told["test_named_as_wide"].ended is Ended.LOST
    assert "chip 0 is held by another tputriage (process 1)" in told["test_named_as_wide"].last_words
    assert told["test_chip"].ended is Ended.DONE


def test_a_suite_that_cannot_start_is_one_error_and_leaves_nothing(machine):
    target = Target("cpu", "cpu", "/no/such/python", slots=2, workers=2)
    with Pool(target) as pool, pytest.raises(TargetError, match="/no/such/python"):
        list(pool.ask([runs.script_job("", "cpu", limit_s=5)] * 3))


def test_closing_while_workers_start_ends_them(machine):
    with a_pool(machine, workers=2) as pool:
        answers = pool.ask(jobs("test_slow", 2))
        begun = time.monotonic()
        next(answers)
        answers.close()
    assert time.monotonic() - begun < 30
    assert not [lane for lane in pool._lanes if lane.worker.process or lane.worker._coming]


@pytest.mark.emulator
def test_two_workers_share_the_emulator(machine):
    target = target_or_skip("emulator")
    two = Target(target.name, target.device, target.python, target.env, target.plugin, slots=2, workers=2)
    source = "import os, sys, torch; print('worker', os.getppid(), torch.ones(2, device=sys.argv[1]).sum().item())"
    with Pool(two) as pool:
        answers = list(pool.ask([runs.script_job(source, "tpu", limit_s=60) for _ in range(2)]))
    assert len(set(printed(answers, "worker"))) == 2
    assert all("2.0" in answer.value["output"] for answer in answers)


def test_the_slots_are_shared_between_the_workers(machine):
    with a_pool(machine, workers=2, slots=4) as pool:
        assert [lane.worker.free for lane in pool._lanes] == [2, 2]
