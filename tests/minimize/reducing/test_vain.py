"""Changes that came to nothing are known again, whatever else the script says by then."""

from tputriage.minimize.reducing.vain import WORTH, Vain, change

SCRIPT = "a = f(1, 2)\nb = g(3)\nprint(a, b)\n"
LONG = "".join(f"name{number} = {number}\n" for number in range(WORTH // 10))


def test_a_change_of_a_line_is_known_whatever_the_other_lines_are():
    other = SCRIPT.replace("b = g(3)\n", "")
    assert change(SCRIPT, SCRIPT.replace("f(1, 2)", "f(1)")) == change(other, other.replace("f(1, 2)", "f(1)"))


def test_the_same_words_at_another_place_of_a_line_are_another_change():
    line = "x = call(one, keyword=1, another_keyword=2, a_third_keyword=1)\n"
    first, second = line.replace("keyword=1, ", "", 1), line.replace(", a_third_keyword=1", "")
    assert change(line, first) != change(line, second)


def test_a_line_taken_away_and_one_put_there_are_told_apart():
    assert change(SCRIPT, SCRIPT.replace("b = g(3)\n", "")) != change(SCRIPT, SCRIPT.replace("b = g(3)", "pass"))


def test_what_failed_is_asked_again_once_half_of_the_script_is_gone():
    vain = Vain(LONG)
    gone = LONG.replace("name1 = 1\n", "")
    vain.add(LONG, gone)
    small, smaller = "".join(LONG.splitlines(True)[:30]), "".join(LONG.splitlines(True)[:20])
    assert not vain.another(small)
    assert vain.has(small, small.replace("name1 = 1\n", ""))
    assert vain.another(smaller)
    assert not vain.has(smaller, smaller.replace("name1 = 1\n", ""))
    assert vain.has(smaller, gone)


def test_a_script_has_one_last_look_and_only_where_it_changed_and_is_long():
    vain = Vain(LONG)
    assert not vain.last_look(LONG)
    assert not vain.last_look(SCRIPT)
    assert [vain.last_look(LONG + "x = 1\n" * (one + 1)) for one in range(4)] == [True, False, False, False]
