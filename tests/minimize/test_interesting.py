"""The oracle: what it asks, in which order, and what never counts."""

import pytest

from tests.minimize.helpers import THE_BUG, FakeRunner, a_value
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.memory import Memory
from tputriage.minimize.names import normal_form, tells_the_device, unbound_names
from tputriage.model import Failure, Outcome, Phase
from tputriage.signatures import sign
from tputriage.targets.seam import Answer, Ended

OTHER = {"exception": "RuntimeError", "message": "something else went wrong deep inside"}


def wanted(said=THE_BUG):
    return sign(Failure("t", Phase.CALL, Outcome.FAILED, said["exception"], said["message"]))


def oracle(device=lambda source: THE_BUG if "bug" in source else None, reference=lambda source: None, **options):
    return Interesting(
        options.pop("wanted", wanted()), FakeRunner("tpu", device), FakeRunner("cpu", reference), **options
    )


def test_the_bug_on_the_device_alone_is_interesting():
    assert oracle()("bug = 1")


def test_a_failure_on_the_reference_too_is_not():
    assert not oracle(reference=lambda source: THE_BUG)("bug = 1")


@pytest.mark.parametrize("said", [None, OTHER, Ended.TIMEOUT, Ended.CRASH, Ended.LOST])
def test_other_ends_are_not(said):
    assert not oracle(device=lambda source: said)("bug = 1")


def test_a_death_counts_only_where_the_process_dies_of_the_same():
    deaths = {"segv": ("", 11), "hup": ("", 1), "left": ("it left with exit code 3", None)}

    def device(source):
        words, signal = deaths[source.split()[0]]
        return Answer(None, Ended.CRASH, {}, 0.1, signal=signal, last_words=words)

    death = Failure("t", Phase.CRASH, Outcome.CRASH, message="ended by signal 11", signal=11)
    ask = oracle(device, wanted=sign(death), shown=death)
    assert [ask(f"{way} = 1") for way in deaths] == [True, False, False]


def test_a_death_on_both_sides_says_nothing_of_how_the_wanted_one_dies():
    deaths = {"both": ("it left with exit code 3", None), "alone": ("", 11)}

    def device(source):
        words, signal = deaths[source.split()[0]]
        return Answer(None, Ended.CRASH, {}, 0.1, signal=signal, last_words=words)

    death = Failure("t", Phase.CRASH, Outcome.CRASH, message="ended by signal 11", signal=11)
    ask = oracle(device, lambda source: device(source) if "both" in source else None, wanted=sign(death))
    assert [ask(f"{way} = 1") for way in deaths] == [False, True]


def timed(seconds):
    """The bug, after that many seconds."""
    return Answer(None, Ended.DONE, a_value(THE_BUG), seconds)


def test_what_runs_much_longer_than_the_last_accepted_is_not_interesting():
    ask = oracle(lambda source: timed(float(source.split()[-1])))
    assert [ask(f"bug = {seconds}") for seconds in (1.0, 5.1, 4.9)] == [True, False, True]


class Overtaking(FakeRunner):
    """Gives its answers in the order of their time."""

    def ask(self, jobs):
        yield from sorted(super().ask(list(jobs)), key=lambda answer: answer.seconds)


def test_the_pace_is_that_of_the_accepted_one_whichever_ended_last():
    ask = oracle(lambda source: None, lambda source: THE_BUG if "both" in source else None)
    ask.device = Overtaking("tpu", lambda source: timed(float(source.split()[-1])))
    assert ask.first(["both = 90.0", "bug = 1.0"]) == 1
    assert not ask("bug = 10.0")


@pytest.mark.parametrize("source", ["bug = (", "bug = missing", "def f():\n    return nowhere\nbug = f"])
def test_what_cannot_run_is_not_asked(source):
    ask = oracle()
    assert not ask(source)
    assert ask.runs == 0


def test_the_reference_is_asked_only_on_a_match():
    ask = oracle()
    ask.first(["x = 1", "x = 2", "bug = 1"])
    assert (len(ask.device.asked), len(ask.reference.asked)) == (3, 1)


def test_the_first_in_order_is_given_and_later_ones_are_not_asked_of_the_reference():
    ask = oracle()
    assert ask.first(["x = 1", "bug = 1", "bug = 2"]) == 1
    assert ask.reference.asked == ["bug = 1"]


def test_a_tree_is_asked_once_however_it_is_written():
    ask = oracle()
    assert ask("bug = 'a'")
    assert ask('bug  =  "a"  # again')
    assert ask.runs == 2


def test_another_failure_is_kept_as_a_finding():
    ask = oracle(device=lambda source: OTHER)
    ask.first(["x = 1", "x = 2"])
    assert [found.message for found in ask.findings] == [OTHER["message"]]


def test_nothing_is_asked_beyond_the_budget():
    ask = oracle(max_runs=2)
    ask.first([f"x = {number}" for number in range(9)])
    assert (ask.runs, ask.exhausted) == (2, True)


def test_what_was_not_asked_for_want_of_budget_is_not_remembered_as_dull():
    ask = oracle(max_runs=1)
    ask.first(["x = 1", "bug = 1"])
    ask._max_runs = 9
    assert ask("bug = 1")


def test_a_late_candidate_is_not_interesting():
    assert not oracle(deadline_s=-1.0)("bug = 1")


def test_a_flaky_failure_is_asked_again():
    said = iter([None, None, THE_BUG])
    assert oracle(device=lambda source: next(said), asks=3)("bug = 1")


def test_asking_again_ends():
    assert not oracle(asks=3)("x = 1")


MISMATCH = {"exception": "AssertionError", "message": "Tensor-likes are not close!\n\nMismatched elements: 1 / 2"}


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nbug = torch.rand(2, device='tpu')",
        "import torch\nbug = torch.ones(2).is_cpu",
        "import torch\nbug = torch.ones(2).device.type == 'cpu'",
        "import sys\nbug = sys.argv[1] == 'tpu'",
        "import torch\nbug = torch.ones(2).device.type in ('cpu', 'cuda')",
    ],
)
def test_for_wrong_numbers_a_candidate_that_tells_the_device_is_not_asked(source):
    ask = oracle(device=lambda source: MISMATCH, wanted=wanted(MISMATCH))
    assert not ask(source)
    assert ask.runs == 0


def test_random_inputs_made_on_the_reference_may_be_moved():
    assert tells_the_device("import torch\nx = torch.rand(2).to('tpu')", "tpu") == ""


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("import a\na.b", set()),
        ("from a import *\nb", set()),
        ("def f():\n    global g\n    g = 1\nprint(g)", set()),
        ("class C:\n    x = 1\n    y = x\nprint(C)", set()),
        ("def f(a):\n    return [a + b for c in a]", {"b"}),
        ("x: 'later' = 1\ny", {"y"}),
    ],
)
def test_names_that_are_bound_nowhere_are_told(source, missing):
    assert unbound_names(source) == missing


def test_the_normal_form_of_nonsense_is_none():
    assert normal_form("def f(:") is None


def test_a_run_gets_no_more_time_than_the_budget_has_left():
    ask = oracle(limit_s=60.0, deadline_s=10.0)
    assert ask("bug = 1")
    assert max(*ask.device.limits, *ask.reference.limits) <= 10.0
    assert oracle(limit_s=5.0)._most_s == 5.0


def test_the_words_of_the_first_script_know_an_assertion_wherever_it_stands():
    said = {"exception": "AssertionError", "message": "the draws of seed 3 differ by 0.25"}
    moved = {**said, "message": "the draws of seed 1 differ by 0.75"}
    shown = Failure("t.py::test_draws", Phase.CALL, Outcome.FAILED, said["exception"], said["message"])
    wanted = sign(shown)
    runners = FakeRunner("tpu", lambda source: moved), FakeRunner("cpu", lambda source: None)
    assert Interesting(wanted, *runners, shown=shown)("x = 1")
    other = FakeRunner("tpu", lambda source: {**said, "message": "another thing is wrong"})
    assert not Interesting(wanted, other, runners[1], shown=shown)("x = 1")


UNLIKE = {"exception": "AssertionError", "message": "the same seed gave other draws"}
DRAWN = "import torch\nimport sys\n{0} = len\nassert {0}(torch.rand(2, device=sys.argv[1]))\n"


class Seeded(FakeRunner):
    """Its rule is told the seeds' shift too."""

    def ask(self, jobs):
        for job in jobs:
            shifted = FakeRunner(self.target.device, lambda source, by=bool(job.env): self.rule(source, by))
            yield from shifted.ask([job])


def judged(chance, first_by_chance=False, memory=None):
    """An oracle that has accepted a first script; `chance(source)`: only the seed asked for shows the difference."""
    first = DRAWN.format("first")

    def on_device(source, shifted):
        by_chance = chance(source) or (source == first and first_by_chance)
        return None if shifted and by_chance else UNLIKE

    runners = Seeded("tpu", on_device), Seeded("cpu", lambda source, shifted: None)
    asked = Interesting(wanted(UNLIKE), *runners, memory=memory)
    assert asked(first)
    return asked


def test_a_difference_that_other_seeds_do_not_show_is_chance():
    asked = judged(lambda source: "lucky" in source)
    assert not asked(DRAWN.format("lucky"))
    assert asked(DRAWN.format("sound"))


def test_a_run_that_goes_on_where_it_was_does_not_take_chance_for_its_first_script():
    memory = Memory()
    judged(lambda source: "lucky" in source, memory=memory)
    assert not judged(lambda source: "lucky" in source, memory=memory)(DRAWN.format("lucky"))


def test_where_a_success_must_come_again_chance_still_is_none():
    asked = judged(lambda source: "lucky" in source)
    asked.insist()
    assert not asked(DRAWN.format("lucky"))


def test_where_the_first_script_hangs_on_its_seed_so_may_the_others():
    assert judged(lambda source: "lucky" in source, first_by_chance=True)(DRAWN.format("lucky"))


def test_seeds_are_not_shifted_where_nothing_is_drawn_on_the_device():
    asked = judged(lambda source: "abs" in source)
    runs = asked.runs
    assert asked("import torch\nimport sys\nassert abs(torch.rand(2).to(sys.argv[1]))\n")
    assert asked.runs == runs + 2


@pytest.mark.parametrize(
    "head", ["-- Process 0 terminated with the following error:", "Caught RuntimeError in DataLoader worker process 0."]
)
def test_what_only_announces_an_error_is_not_what_a_failure_is_known_by(head):
    def spawned(words):
        return {"exception": "ProcessRaisedException", "message": f"{head}\nTraceback\n  in f\n{words}\n"}

    said = {"first": spawned("RuntimeError: no topology"), "other": spawned("ValueError: it was there already")}
    ask = oracle(device=lambda source: said[source.split()[0]], wanted=wanted(said["first"]))
    assert [ask(f"{name} = 1") for name in said] == [True, False]


def test_a_script_that_shows_it_each_time_holds():
    assert oracle().holds("bug = 1")
    said = iter([THE_BUG, THE_BUG, None])
    assert not oracle(device=lambda source: next(said)).holds("bug = 1")


def test_of_a_flake_nobody_asks_that_it_holds():
    ask = oracle(asks=3)
    assert (ask.holds("x = 1"), ask.runs) == (True, 0)


def test_an_oracle_that_insists_asks_again_what_it_had_said_yes_to():
    said = iter([THE_BUG, THE_BUG, None])
    ask = oracle(device=lambda source: next(said))
    assert ask("bug = 1")
    ask.insist()
    assert not ask("bug = 1")


def test_what_it_insists_on_is_asked_when_the_budget_is_spent_too():
    ask = oracle(limit_s=60.0, deadline_s=-1.0)
    assert ask.holds("bug = 1")
    assert ask.device.limits == [60.0] * 3
