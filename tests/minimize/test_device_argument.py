"""A script's device is an argument."""

import ast

import pytest

from tputriage.minimize.device_argument import argued, as_given, defaulted

FULL = 'sys.argv[1] if len(sys.argv) > 1 else "tpu"'


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ('D = "tpu"\nf(D)\n', "import sys\nD = sys.argv[1]\nf(D)\n"),
        ('"""Says."""\nimport a\nf("tpu")\n', '"""Says."""\nimport sys\nimport a\nf(sys.argv[1])\n'),
        (f"import sys\nD = {FULL}\n", "import sys\nD = sys.argv[1]\n"),
        ("import sys\nf(sys.argv[1])\n", "import sys\nf(sys.argv[1])\n"),
        ('é = "é"; D = "tpu"\n', 'import sys\né = "é"; D = sys.argv[1]\n'),
    ],
)
def test_a_script_is_made_to_take_its_device(source, after):
    assert argued(source, "tpu") == after


@pytest.mark.parametrize("source", ["f()\n", 'f("tpu", "tpu")\n', 'f("my tpu")\n'])
def test_a_script_that_does_not_name_one_device_is_refused(source):
    assert argued(source, "tpu") is None


def test_people_need_not_give_the_argument():
    source = defaulted("import sys\nD = sys.argv[1]\nf(sys.argv[1])\n", "tpu")
    assert source == f"import sys\nD = {FULL}\nf({FULL.join('()')})\n"
    ast.parse(source)


def test_giving_the_default_twice_changes_nothing():
    once = defaulted("import sys\nD = sys.argv[1]\n", "tpu")
    assert defaulted(once, "tpu") == once


def test_a_script_that_named_its_device_gets_it_back_by_name():
    assert as_given("import sys\nimport a\nD = sys.argv[1]\na.f(D)\n", "tpu", 'D = "tpu"\n') == (
        'import a\na.f("tpu")\n'
    )


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("D = sys.argv[1]\nf(D, D)\n", 'D = "tpu"\nf(D, D)\n'),
        ("D = sys.argv[1]\nD = g(D)\nf(D)\n", 'D = "tpu"\nD = g(D)\nf(D)\n'),
        ("D = E = sys.argv[1]\nf(D, E)\n", 'D = E = "tpu"\nf(D, E)\n'),
        ("D = sys.argv[1]\ndef f():\n    return D\nf()\n", 'def f():\n    return "tpu"\nf()\n'),
        ("f(sys.argv[1])\n", 'f("tpu")\n'),
    ],
)
def test_a_device_by_name_stands_where_it_is_read_once(source, after):
    assert as_given(f"import sys\n{source}", "tpu", 'D = "tpu"\n') == after


def test_a_script_with_a_default_says_the_device_alone():
    assert as_given(f"import sys\nD = {FULL}\nf(D)\n", "tpu", 'f("tpu")\n') == 'f("tpu")\n'


def test_a_script_that_took_an_argument_still_does():
    source = "import sys\nD = sys.argv[1]\nf(D)\n"
    assert as_given(source, "tpu", source) == defaulted(source, "tpu")
