"""The reducer with a rule on the text as its bug."""

import libcst as cst
import pytest

from tputriage.minimize.names import normal_form
from tputriage.minimize.reducing import reduce_source, tokens_of
from tputriage.minimize.reducing.edits import Site
from tputriage.minimize.reducing.passes import Pass, all_passes
from tputriage.minimize.reducing.sizes import size_of


class Bug:
    """Interesting is what holds all of `words` and compiles; counts its questions, gives up after `most`."""

    def __init__(self, *words, most=10_000):
        self.words, self.most, self.questions = words, most, 0

    @property
    def exhausted(self):
        return self.questions >= self.most

    def __call__(self, source):
        self.questions += 1
        return all(word in source for word in self.words)


INDEPENDENT = "".join(f"x{number} = g({number})\n" for number in range(1000))
SCAFFOLDED = '''\
"""A test and what it stands on."""
import math
import torch


class Config:
    size: int = 16


class Tester:
    def __init__(self, size=4):
        self.size = size

    def inputs(self):
        """Inputs."""
        shape = [self.size, 3]
        return torch.ones(shape)

    def check(self, config, values):
        total = scale(values)
        assert math.isfinite(total)


def scale(values, eps=1e-6):
    flat = values.reshape(-1)
    for _ in range(3):
        with torch.no_grad():
            middle = torch.median(flat)
    return middle + eps


tester = Tester()
for name in ["check", "check"]:
    getattr(tester, name)(Config(), tester.inputs())
print("done")
'''


def test_a_thousand_independent_statements_go_in_a_few_questions():
    bug = Bug()
    assert reduce_source(INDEPENDENT, bug).strip() == ""
    assert bug.questions <= 12


@pytest.mark.parametrize("needed", [0, 500, 999])
def test_one_needed_statement_among_a_thousand_is_found_in_under_sixty_questions(needed):
    bug = Bug(f"x{needed} = g({needed})\n")
    assert reduce_source(INDEPENDENT, bug) == f"x{needed} = g({needed})\n"
    assert bug.questions < 60


def test_scaffolding_goes():
    reduced = reduce_source(SCAFFOLDED, Bug("torch.median("))
    assert tokens_of(reduced) < 10


def test_what_it_hands_back_is_interesting_and_compiles():
    bug = Bug("torch.median(", "reshape", "class Tester")
    reduced = reduce_source(SCAFFOLDED, bug)
    assert bug(reduced)
    compile(reduced, "reduced", "exec")


def test_the_same_seed_takes_the_same_way():
    ways = []
    for _ in range(2):
        way = []
        reduce_source(SCAFFOLDED, Bug("torch.median(", "reshape"), on_better=way.append, seed=3)
        ways.append(way)
    assert ways[0] == ways[1]


def test_each_better_script_is_smaller_than_the_one_before():
    way = [SCAFFOLDED]
    reduce_source(SCAFFOLDED, Bug("median", "Tester"), on_better=way.append)
    sizes = [size_of(source) for source in way]
    assert sizes == sorted(sizes, reverse=True)


def test_a_spent_budget_gives_the_best_so_far():
    bug, way = Bug("torch.median(", most=5), []
    assert reduce_source(SCAFFOLDED, bug, on_better=way.append) == way[-1]
    assert bug.questions == 5


def test_nothing_is_asked_twice():
    asked = []

    def bug(source):
        asked.append(source)
        return "median" in source and "Tester" in source

    reduce_source(SCAFFOLDED, bug)
    assert len(asked) == len(set(asked))


class Slow(Bug):
    """A run of what says `plain()`, where the model has no configuration, takes a minute."""

    def __init__(self, *words):
        super().__init__(*words)
        self.seconds, self.minutes = 0.0, 0

    def __call__(self, source):
        self.minutes += "plain()" in source
        self.seconds += 60.0 if "plain()" in source else 1.0
        return super().__call__(source)


def test_what_makes_each_run_slow_is_left_for_the_end():
    bug, way = Slow("plain(", "keep("), []
    source = "a = plain(config={1: 2})\nb = g(a)\nc = h()\nkeep([b, a, 3, 4])\n"
    reduced = reduce_source(source, bug, on_better=way.append, clock=lambda: bug.seconds)
    assert "plain()" in reduced
    assert [text for text in way if "plain()" in text] == [reduced]
    assert bug.minutes <= 6


def test_a_machine_that_was_slow_for_once_changes_nothing():
    ways = []
    for late in (0, 3):
        bug, way = Slow("median("), []

        def asked(source, bug=bug, way=way, late=late):
            found = bug(source)
            bug.seconds += 60.0 * (found and late > 0 and len(way) == late and bug.late == 0)
            bug.late += found and len(way) == late
            return found

        bug.late = 0
        reduce_source(SCAFFOLDED, asked, on_better=way.append, clock=lambda bug=bug: bug.seconds)
        ways.append(way)
    assert ways[0] == ways[1]


def test_an_answer_that_was_remembered_says_nothing_of_the_pace():
    bug = Slow("keep(")
    bug.seconds = 0.0
    remembered = iter([True] * 2)
    reduced = reduce_source(
        "f()\nplain()\ng()\nkeep(1, 2)\n",
        lambda source: "keep(" in source if next(remembered, False) else bug(source),
        clock=lambda: bug.seconds,
    )
    assert reduced == "keep()\n"


def test_no_question_says_the_same_as_the_best_in_other_layout():
    best, same = [SCAFFOLDED], []

    def bug(source):
        same.append(normal_form(source) == normal_form(best[-1]))
        return "median" in source and "Tester" in source

    reduce_source(SCAFFOLDED, bug, on_better=best.append)
    assert not any(same)


def test_a_change_of_the_same_kind_is_not_asked_about_at_each_place():
    bug = Bug(*(f"to(x{number}, 1)" for number in range(40)))
    reduce_source("".join(f"to(x{number}, 1)\n" for number in range(40)), bug)
    assert bug.questions < 100


def test_a_script_that_cannot_be_read_comes_back_as_it_is():
    assert reduce_source("def f(:\n", lambda source: True) == "def f(:\n"


def test_a_long_sum_is_reduced_though_it_is_a_deep_tree():
    source = f"x = {' + '.join(f'a{number}' for number in range(350))}\nf()\nkeep(x)\n"
    passes = [one for one in all_passes() if one.name in {"delete statements", "call to the function's body"}]
    assert "f()" not in reduce_source(source, Bug("keep(x)", " + "), passes=passes)


def test_a_script_that_is_deeper_than_a_pass_can_follow_is_left_to_the_others():
    def follows(depth):
        return follows(depth + 1)

    passes = [Pass("follows", 1, lambda program: follows(0)), *all_passes()]
    assert reduce_source("f()\nkeep()\n", Bug("keep("), passes=passes) == "keep()\n"


@pytest.mark.parametrize("end", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_what_ends_a_line_for_text_but_not_for_python_moves_nothing(end):
    kept = f'text = """a{end}b"""\nkeep(text)\n'
    bug = Bug(f'text = """a{end}b"""\n', "keep(text)", most=1)  # what nothing reads goes at once
    assert reduce_source(kept.replace("keep", "import unused\nkeep"), bug) == kept


def test_only_programs_are_asked():
    def breaking(program):
        line = cst.SimpleStatementLine([cst.Return(cst.Name("x"))])
        return [[Site.putting(node, line) for node in program.module.body]]

    asked = []
    reduce_source("xxxxxx = 1\nf(xxxxxx)\n", asked.append, passes=[Pass("breaking", 1, breaking)])
    assert asked == []


def test_passes_are_found_by_listing_their_folder():
    assert len(all_passes()) >= 20
    assert len({one.name for one in all_passes()}) == len(all_passes())
