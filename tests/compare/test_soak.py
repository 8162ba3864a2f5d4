"""500 runs on two workers at once, with deaths of every kind planted and more of them dealt out from outside."""

import os
import random
import signal
import threading
import time
from collections import Counter

import psutil
import pytest

from tputriage.compare.desk import Desk, Question, Side
from tputriage.config import Settings
from tputriage.model import Outcome
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

RUNS = 500
LIMIT_S = 1.0
KILLS = 12  # of children, by a hand from outside
SUITE = """
import os, signal, subprocess, sys, time

def test_passes():
    pass

def test_fails():
    raise ValueError("no " * 1000)

def test_aborts():
    os.abort()

def test_is_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def test_leaves():
    os._exit(3)

def test_hangs():
    while True:
        time.sleep(60)

def test_leaves_a_process_behind():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(601.5)"])

def test_hangs_with_a_deaf_grandchild():
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(601.5)"
    subprocess.Popen([sys.executable, "-c", deaf])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(601.5)

def test_takes_memory():
    assert len(b"x" * 30_000_000)
"""
ENDS = {
    "test_passes": (Outcome.PASSED, 60),
    "test_fails": (Outcome.FAILED, 12),
    "test_aborts": (Outcome.CRASH, 8),
    "test_is_killed": (Outcome.CRASH, 6),
    "test_leaves": (Outcome.CRASH, 6),
    "test_hangs": (Outcome.TIMEOUT, 2),
    "test_hangs_with_a_deaf_grandchild": (Outcome.TIMEOUT, 1),
    "test_leaves_a_process_behind": (Outcome.PASSED, 3),
    "test_takes_memory": (Outcome.PASSED, 6),
}


@pytest.fixture
def workers(tmp_path):
    path = tmp_path / "test_ends.py"
    path.write_text(SUITE, "utf-8")
    target = find_target("cpu", Settings())
    with Worker(target, tmp_path, [str(path)]) as device, Worker(target, tmp_path, [str(path)]) as reference:
        yield {Side.DEVICE: device, Side.REFERENCE: reference}


class Killer(threading.Thread):
    """Kills children of the workers at random moments, and remembers how many it met."""

    def __init__(self, chance):
        super().__init__(daemon=True)
        self.chance = chance
        self.killed = 0
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(self.chance.uniform(0.05, 0.4)) and self.killed < KILLS:
            grandchildren = [child for worker in psutil.Process().children() for child in children_of(worker)]
            if grandchildren:
                try:
                    self.chance.choice(grandchildren).send_signal(signal.SIGKILL)
                    self.killed += 1
                except psutil.NoSuchProcess:
                    continue


def children_of(process):
    try:
        return process.children()
    except psutil.NoSuchProcess:
        return []


def soak(workers, chance):
    """[(question, run)] of RUNS questions, and the resident bytes of this process and the workers on the way."""
    names = chance.choices(list(ENDS), [weight for _, weight in ENDS.values()], k=RUNS)
    asked = [Question(chance.choice(list(workers)), f"test_ends.py::{name}", LIMIT_S) for name in names]
    told, memory = [], []
    with Desk(workers) as desk:
        desk.put(7, asked)
        while desk.open:
            (_, number), run = desk.get()
            told.append((asked[number], run))
            if len(told) % 50 == 0:
                processes = [psutil.Process(), *psutil.Process().children()]
                memory.append(sum(process.memory_info().rss for process in processes))
    return told, memory


def test_five_hundred_runs_leave_nothing_behind_and_lose_no_result(workers):
    others = {process.pid for process in psutil.Process().children()}  # of tests before: a browser's driver, say
    chance = random.Random(11)
    killer = Killer(chance)
    killer.start()
    told, memory = soak(workers, chance)
    killer.done.set()
    killer.join()

    wrong = [
        (question.test_id, run.outcome)
        for question, run in told
        if run.outcome is not ENDS[question.test_id.partition("::")[2]][0]
    ]
    assert len(told) == RUNS
    assert len(wrong) <= killer.killed, Counter(wrong)
    assert {outcome for _, outcome in wrong} <= {Outcome.CRASH}
    # Half the way everything is warm; from there on memory stays where it is, give or take the allocator's breath.
    assert memory[-1] - memory[len(memory) // 2] < 16 << 20

    for worker in workers.values():
        worker.close()
    assert stray_processes(others) == []


def stray_processes(others):
    """What a worker started and is still there, zombies of ours included, once they had a moment to go."""
    deadline = time.monotonic() + 5
    while True:
        found = [
            process.pid
            for process in psutil.process_iter()
            if process.pid not in (os.getpid(), *others) and is_ours(process)
        ]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def is_ours(process):
    try:
        if process.ppid() == os.getpid():
            return True
        return "test_ends" in "".join(process.cmdline()) or "time.sleep(601.5)" in "".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
