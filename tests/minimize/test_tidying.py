"""A script made to read well stays the same program."""

import ast

import pytest

from tputriage.minimize.tidying import tidy


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\nx = torch.rand(1, )\n", "import torch\n\nx = torch.rand(1)\n"),
        ("import sys\nimport torch\nx = 1\n", "import sys\n\nimport torch\n\nx = 1\n"),
        ("f('a')", 'f("a")\n'),
        ("f('say \"a\"')", "f('say \"a\"')\n"),
        ("a, b = (f(), 2)\n", "a, b = (f(), 2)\n"),
        ("def f():\n  return 'é', 'b'\nf()", 'def f():\n    return ("é", "b")\n\n\nf()\n'),
        ("def f(:", "def f(:"),
    ],
)
def test_scripts_are_tidied(before, after):
    assert tidy(before) == after


def test_the_program_stays_the_same():
    source = "x = {'a': [1, 'b'], \"c\": f'{1!r} x'}\nif x:\n    y = ('q' 'r')\n"
    assert ast.dump(ast.parse(tidy(source))) == ast.dump(ast.parse(source))


def test_a_deep_tree_is_tidied_too():
    assert tidy(f"x = ({'+'.join('a' * 500)}).sum( )\n") == f"x = ({' + '.join('a' * 500)}).sum()\n"
