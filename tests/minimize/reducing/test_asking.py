"""Several questions at once lead the way that one at a time does."""

import random
from dataclasses import replace

import pytest

from tests.minimize.reducing.test_driver import INDEPENDENT, SCAFFOLDED
from tputriage.config import Settings
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.reducing import reduce_source
from tputriage.minimize.reducing.asking import Asking
from tputriage.model import Failure, Outcome, Phase
from tputriage.signatures import sign
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker


class Workers:
    """A bug that is a rule on the text; `asked` are the questions whose answers came, in order."""

    def __init__(self, rule, workers=1, most=10_000):
        self.rule, self.workers, self.most = rule, workers, most
        self.asked, self.rounds, self.runs = [], 0, 0

    @property
    def exhausted(self):
        return self.runs >= self.most

    def __call__(self, source):
        return self.first([source]) is not None

    def first(self, sources):
        assert len(sources) <= self.workers
        self.rounds += 1
        sources = sources[: self.most - self.runs]
        self.runs += len(sources)
        for place, source in enumerate(sources):
            self.asked.append(source)
            if self.rule(source):
                return place
        return None


def generated(chance):
    """A program of assignments, calls, blocks and functions that use each other."""
    lines = []
    for number in range(chance.randint(5, 25)):
        value = f"g({', '.join(f'x{chance.randint(0, number)}' for _ in range(chance.randint(0, 3)))})"
        shape = chance.choice(["x{0} = {1}", "x{0} = {1}", "if x{2}:\n    x{0} = {1}", "def x{0}(a):\n    return {1}"])
        lines.append(shape.format(number, value, chance.randint(0, number)))
    return "".join(f"{line}\n" for line in ["import g", *(f"x{number} = 0" for number in range(3)), *lines])


def way_of(source, rule, workers, **options):
    way, bug = [], Workers(rule, workers, **options)
    best = reduce_source(source, bug, on_better=way.append)
    return best, way, bug


@pytest.mark.parametrize("seed", range(6))
def test_more_workers_ask_the_same_questions_and_accept_the_same(seed):
    chance = random.Random(seed)
    source = generated(chance)
    needed = [f"x{chance.randint(0, 4)}" for _ in range(2)]
    some = chance.choice([1, 2, 3])

    def rule(text):
        return all(word in text for word in needed) and len(text) % (some + 1) < some

    best, way, alone = way_of(source, rule, 1)
    for workers in (2, 4):
        other, other_way, bug = way_of(source, rule, workers)
        assert (other, other_way, bug.asked) == (best, way, alone.asked)
        assert bug.rounds <= alone.rounds
    assert alone.rounds == alone.runs == len(alone.asked)


def test_one_worker_asks_what_a_plain_callable_is_asked():
    asked = []

    def rule(text):
        return "median" in text and "Tester" in text

    reduce_source(SCAFFOLDED, lambda text: asked.append(text) or rule(text))
    assert way_of(SCAFFOLDED, rule, 1)[2].asked == asked


def test_two_workers_take_fewer_rounds_and_few_more_runs():
    def rule(text):
        return "torch.median(" in text and "reshape" in text and "class Tester" in text

    alone, together = (way_of(SCAFFOLDED, rule, workers)[2] for workers in (1, 2))
    assert together.rounds < 0.8 * alone.rounds
    assert together.runs <= 1.25 * alone.runs


def test_what_always_works_costs_nothing_more():
    _, _, bug = way_of(INDEPENDENT, lambda text: True, 4)
    assert bug.runs <= 12


def test_one_needed_statement_among_a_thousand_costs_few_runs_more():
    needed = 500
    best, _, bug = way_of(INDEPENDENT, lambda text: f"x{needed} = g({needed})\n" in text, 2)
    assert best == f"x{needed} = g({needed})\n"
    assert len(bug.asked) < 60
    assert bug.runs < 90


@pytest.mark.parametrize("most", [7, 8, 9, 20, 21])
def test_a_budget_that_ends_among_several_questions_leaves_the_best_so_far(most):
    best, way, bug = way_of(SCAFFOLDED, lambda text: "median" in text and "Tester" in text, 4, most=most)
    assert bug.runs == most
    assert best == way[-1]
    _, whole, _ = way_of(SCAFFOLDED, lambda text: "median" in text and "Tester" in text, 1)
    assert way == whole[: len(way)]


class Told:
    """Answers that are given, each after its seconds."""

    workers = 2

    def __init__(self, answers, seconds):
        self.answers, self.seconds, self.now, self.batches = answers, seconds, 0.0, []

    def __call__(self, source):
        return self.first([source]) is not None

    def first(self, sources):
        self.batches.append(list(sources))
        self.now += max(self.seconds.get(source, 1.0) for source in sources)
        return next((place for place, source in enumerate(sources) if self.answers[source]), None)


def test_others_are_asked_along_only_after_a_no():
    told = Told({"a": True, "b": False, "c": False, "d": True}, {})
    asking = Asking(told, lambda: told.now)
    found = [asking.is_found(one, ahead) for one, ahead in (("a", "b"), ("b", "cd"), ("c", "d"), ("d", ""))]
    assert found == [True, False, False, True]
    assert told.batches == [["a"], ["b"], ["c", "d"]]


def test_an_unknown_answer_is_asked_for_in_its_turn():
    told = Told({"a": False, "b": True, "c": True}, {})
    asking = Asking(told, lambda: told.now)
    assert [asking.is_found(one, ahead) for one, ahead in (("a", ""), ("b", "c"), ("c", ""))] == [False, True, True]
    assert told.batches == [["a"], ["b", "c"], ["c"]]


def test_a_candidate_that_waited_for_another_is_not_taken_for_slow():
    told = Told({"a": True, "b": False, "hangs": False, "c": True}, {"hangs": 60.0})
    asking = Asking(told, lambda: told.now)
    assert asking.is_found_quickly("a") == (True, True)
    assert asking.is_found_quickly("b") == (False, True)
    assert asking.is_found_quickly("hangs", ["c"]) == (False, True)
    assert asking.is_found_quickly("c") == (True, True)
    assert asking.pace_s == 1.0


def test_a_slow_candidate_is_slow_in_company_too():
    told = Told({"a": True, "b": False, "c": False, "slow": True}, {"slow": 60.0})
    asking = Asking(told, lambda: told.now)
    answers = [asking.is_found_quickly(one, ahead) for one, ahead in (("a", ""), ("b", ""), ("c", ["slow"]))]
    assert answers == [(True, True), (False, True), (False, True)]
    assert asking.is_found_quickly("slow") == (True, False)
    assert asking.pace_s == 1.0


@pytest.mark.emulator
def test_on_the_emulator_two_candidates_are_under_way_at_once(tmp_path):
    target = replace(find_target("emulator", Settings()), slots=2)
    wanted = sign(Failure("t", Phase.CALL, Outcome.FAILED, "RuntimeError", "nothing says this"))
    waits = f"""
import pathlib, time
folder = pathlib.Path({str(tmp_path)!r})
for _ in range(600):
    if (folder / "other").exists():
        (folder / "met").touch()
        break
    time.sleep(0.05)
"""
    other = f"import pathlib\npathlib.Path({str(tmp_path / 'other')!r}).touch()\n"
    with Worker(target) as device:
        asking = Asking(Interesting(wanted, device, device), lambda: 0.0)
        assert not asking.is_found("x = 1\n", [waits])
        assert not asking.is_found(waits, [other])
    assert (tmp_path / "met").exists()
    assert list(asking.early) == [other]
