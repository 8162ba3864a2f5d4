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
        ("import sys\nf(sys . argv[ 1 ])\n", "import sys\nf(sys.argv[1])\n"),
        # Lines as Python counts them.
        ('"""a\u2028b\x0c"""\nimport a\nf("tpu")\n', '"""a\u2028b\x0c"""\nimport sys\nimport a\nf(sys.argv[1])\n'),
        ('f("t"\n  "pu")\n', "import sys\nf(sys.argv[1])\n"),
        # Where `import sys` can stand, and what does not stand for it.
        ('@d\ndef f():\n    return "tpu"\n', "import sys\n@d\ndef f():\n    return sys.argv[1]\n"),
        ('"""Says."""; f("tpu")\n', '"""Says."""; import sys; f(sys.argv[1])\n'),
        (
            'from __future__ import annotations; f("tpu")\n',
            "from __future__ import annotations; import sys; f(sys.argv[1])\n",
        ),
        ('import sys as s\nf("tpu")\n', "import sys\nimport sys as s\nf(sys.argv[1])\n"),
        ('f("tpu")\nimport sys\n', "import sys\nf(sys.argv[1])\nimport sys\n"),
        # An f-string's value, not its text; a default, not any condition.
        ("""f(f"{g('tpu')}\\n")\n""", "import sys\nf(f'{g(sys.argv[1])}\\n')\n"),
        (f'D = sys.argv[1] if x else "a"\nE = {FULL}\n', 'D = sys.argv[1] if x else "a"\nE = sys.argv[1]\n'),
    ],
)
def test_a_script_is_made_to_take_its_device(source, after):
    assert argued(source, "tpu") == after


@pytest.mark.parametrize(
    "source",
    [
        "f()\n",
        'f("tpu", "tpu")\n',
        'f("my tpu")\n',
        '"""tpu"""\nf()\n',
        'f(f"{a}tpu")\n',
        'match a:\n    case "tpu":\n        f()\n',
        "import sys\nfor sys.argv[1] in a:\n    f()\n",
    ],
)
def test_a_script_that_does_not_name_one_device_is_refused(source):
    assert argued(source, "tpu") is None


def test_people_need_not_give_the_argument():
    source = defaulted("import sys\nD = sys.argv[1]\nf(sys.argv[1])\n", "tpu")
    assert source == f"import sys\nD = {FULL}\nf({FULL.join('()')})\n"
    ast.parse(source)


@pytest.mark.parametrize(
    "line",
    [
        'f(f"{sys.argv[1]}:0")',
        "f(f'{sys.argv[1]}:0')",
        'f(f"""\n{sys.argv[1]} {g(sys.argv[1])!r:>{w}}""", sys.argv[1])',
        """f(f"{g(f'{sys.argv[1]}')} {{}}")""",
        "sys.argv[1] = f(sys.argv[1])",
        "D = sys.argv[1]\ndel sys.argv[1]",
    ],
)
def test_wherever_the_argument_stands_the_script_that_people_get_is_the_same_program(line):
    """Run with the argument, it says what it said before."""
    said = defaulted(f"import sys\n{line}\n", "tpu")
    assert "len(sys.argv)" in said

    class Given(ast.NodeTransformer):
        def visit_IfExp(self, node):
            return node.body

    assert ast.dump(Given().visit(ast.parse(said))) == ast.dump(ast.parse(f"import sys\n{line}\n"))


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
        # What nothing reads may do something all the same.
        ("import a, sys\nD = sys.argv[1]\nx = a.missing\nf(D)\n", 'import a\nx = a.missing\nf("tpu")\n'),
        ("import b\n@c\nclass A:\n    pass\nf(sys.argv[1])\n", 'import b\n@c\nclass A:\n    pass\nf("tpu")\n'),
        # A parameter of that name is another one; in an f-string quotes are others.
        ("def f(D):\n    return D\nD = sys.argv[1]\nf(1)\n", 'def f(D):\n    return D\nD = "tpu"\nf(1)\n'),
        ('D = sys.argv[1]\nf(f"{D}:0")\n', """f(f"{'tpu'}:0")\n"""),
    ],
)
def test_a_device_by_name_stands_where_it_is_read_once(source, after):
    assert as_given(f"import sys\n{source}", "tpu", 'D = "tpu"\n') == after


def test_a_script_with_a_default_says_the_device_alone():
    assert as_given(f"import sys\nD = {FULL}\nf(D)\n", "tpu", 'f("tpu")\n') == 'f("tpu")\n'


def test_a_script_that_took_an_argument_still_does():
    source = "import sys\nD = sys.argv[1]\nf(D)\n"
    assert as_given(source, "tpu", source) == defaulted(source, "tpu")
