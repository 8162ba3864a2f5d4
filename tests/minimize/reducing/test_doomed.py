"""What is certain to raise is told without a run, and nothing else is."""

import pytest

from tputriage.minimize.reducing import reduce_source
from tputriage.minimize.reducing.doomed import troubles

RAISES = """\
class Raises:
    def __init__(self, kinds, match=""):
        self.kinds = kinds
    def __enter__(self):
        pass
    def __exit__(self, kind, value, trace):
        return self.kinds
with Raises(1):
    pass
"""

DOOMED = [
    "f(x)\n",
    "f(x)\nx = 1\ndef f(a): pass\n",
    "x = x + 1\n",
    "def f(a):\n    b = c\n    c = a\nf(1)\n",
    "[1].to(2)\n",
    "'a'.to(2)\n",
    "[1](2)\n",
    "assert False, 'always'\n",
    "a, b = (1,)\n",
    "def f(a): pass\nf()\n",
    "def f(a): pass\nf(1, 2)\n",
    "def f(a, *, b): pass\nf(1)\n",
    "def f(a): pass\nf(b=1)\n",
    RAISES.replace("(1)", "()"),
    RAISES.replace("(1)", "(1, 2, 3)"),
    RAISES.replace("    def __enter__(self):\n        pass\n", ""),
    RAISES.replace("(self, kind, value, trace)", "(self, kind)"),
    RAISES.replace("        self.kinds = kinds\n", "        pass\n"),
    "class A:\n    def f(self): pass\nA().g()\n",
    "class A: pass\nA(1)\n",
]
FINE = [
    RAISES,
    "for x in y():\n    if x:\n        print(z)\n    z = x\n".replace("y()", "range(2)"),
    "def f():\n    return later\nlater = 1\nf()\n",
    "def f():\n    global made\n    made = 1\nf()\nprint(made)\n",
    "print([x for x in range(2)], (lambda a: a)(1))\n",
    "with open('a') as file:\n    print(file)\n",
    "try:\n    pass\nexcept OSError as exc:\n    print(exc)\n",
    "def f(a, b=1, *, c=2, **rest): pass\nf(1, c=3, d=4)\nf(*[1])\nf(**{'a': 1})\n",
    "import torch\nclass A(torch.nn.Module):\n    def f(self): return self.weight\nA(1).f()\n",
    "import torch\nclass A:\n    def f(self): return self.x\nclass B(A, torch.nn.Module): pass\nB().f()\n",
    "class A:\n    def f(self): return self.x\na = A()\na.x = 1\na.f()\n",
    "class A:\n    def f(self): return self.x\na = A()\nsetattr(a, 'x', 1)\na.f()\n",
    "class A:\n    x: int\n    def __init__(self, x): self.x = x\nclass B(A): pass\nB(1)\n",
    "class A:\n    def __enter__(self): pass\n    def __exit__(self, *told): pass\nwith A(): pass\n",
    "import functools\n@functools.cache\ndef f(a): pass\nf()\n",
    "f = print\nf(1)\n",
    "a, *b = (1,)\n",
    "assert (), 'not a constant node'\n",
    "from torch import *\nones(1)\n",
    "class A: pass\nfrom a import A\nA(1)\n",
    "from a import A\nclass A(A): pass\nA(1)\n",
    "class A(B): pass\nclass B(A): pass\nA()\n",
    f"import a\nprint(({' + '.join('a' * 1500)}).sum())\n",
    "x = (\n",
]


@pytest.mark.parametrize("source", DOOMED)
def test_what_must_raise_is_told(source):
    assert troubles(source)


@pytest.mark.parametrize("source", FINE)
def test_what_may_run_is_not(source):
    assert not troubles(source)


def test_a_definition_that_is_read_is_not_asked_about_alone():
    asked = []

    def bug(source):
        asked.append(source)
        return "keep(x)" in source

    assert reduce_source("x = make()\nkeep(x)\n", bug) == "x = make()\nkeep(x)\n"
    assert "keep(x)\n" not in asked


def test_what_is_wrong_with_the_script_itself_stops_nothing():
    assert reduce_source("a = f()\nkeep(missing)\n", lambda source: "keep(missing)" in source) == "keep(missing)\n"
