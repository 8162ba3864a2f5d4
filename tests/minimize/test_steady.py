"""A reduction that ends at a race goes back to what was none."""

from tputriage.minimize.steady import reduced_steadily

WORDS = "a b c d e f g h"


class Racing:
    """Interesting is what has the last word; without the fifth it is so every other time."""

    def __init__(self, needed="e"):
        self.needed, self.insists, self.asked, self.flips = needed, False, 0, 0

    def __call__(self, source):
        return "h" in source and self._wins(source) and (not self.insists or self.holds(source))

    def holds(self, source):
        return all(self._wins(source) for _ in range(3))

    def insist(self):
        self.insists = True

    def _wins(self, source):
        self.asked += 1
        if self.needed in source:
            return True
        self.flips += 1
        return self.flips % 2 == 1


def reduce_by(oracle):
    """Words go one after the other, from the first."""

    def reduce(source, told):
        for word in source.split():
            left = " ".join(part for part in source.split() if part != word)
            if oracle(left):
                source = left
                told(source)
        return source

    return reduce


def test_a_race_is_left_again():
    oracle = Racing()
    assert reduced_steadily(WORDS, oracle, reduce_by(oracle)) == "e h"
    assert oracle.insists


def test_what_holds_is_asked_three_times_more_and_no_other():
    oracle = Racing(needed="h")
    assert reduced_steadily(WORDS, oracle, reduce_by(oracle)) == "h"
    assert (oracle.asked, oracle.insists) == (7 + 3, False)


def test_where_nothing_holds_the_script_is_what_there_was():
    oracle = Racing(needed="?")
    assert reduced_steadily(WORDS, oracle, reduce_by(oracle)) == WORDS
