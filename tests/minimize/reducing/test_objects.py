"""Classes of a script written out: watched on CPU, opened, and their attributes made names."""

import ast
import contextlib
import io

import pytest

from tputriage.config import Settings
from tputriage.minimize.reducing.attributes import named_attributes, unread_out
from tputriage.minimize.reducing.elements import elements_out
from tputriage.minimize.reducing.facts import tracer
from tputriage.minimize.reducing.linear import linear
from tputriage.minimize.reducing.propagating import flattened
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker


@pytest.fixture(scope="module")
def watch():
    with Worker(find_target("cpu", Settings())) as worker:
        yield tracer(worker, limit_s=30, counted=lambda: None)


# script, what is left of it; each fails by its own last line
TABLE = [
    (
        "class A:\n    def __init__(self, n):\n        self.n = n\na = A(int('3'))\nassert not a.n",
        "n = int('3')\nassert not n",
    ),
    (
        "class A:\n    size = 2\n    def f(self):\n        return self.size + 1\nassert not A().f()",
        "assert not 2 + 1",
    ),
    (
        "class A:\n    def __init__(self):\n        self.n = len('ab')\nclass B(A):\n"
        "    def __init__(self, m):\n        super().__init__()\n        self.m = m\nb = B(int('1'))\n"
        "assert not b.n + b.m",
        "m = int('1')\nn = len('ab')\nassert not n + m",
    ),
    (
        "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    n: int\n"
        "    m: list = field(default_factory=list)\n    def __post_init__(self):\n"
        "        self.m.append(self.n)\nc = C(3)\nassert not c.m",
        "m = list()\nm.append(3)\nassert not m",
    ),
    (
        "class A:\n    def __init__(self):\n        self.xs = []\n    @property\n    def last(self):\n"
        "        return self.xs[-1]\na = A()\na.xs.append(5)\nassert not a.last",
        "xs = []\nxs.append(5)\nassert not xs[-1]",
    ),
    (
        "class A:\n    @classmethod\n    def make(cls, n):\n        return cls(n)\n"
        "    def __init__(self, n):\n        self.n = n + 1\nassert not A.make(1).n",
        "n = 1 + 1\nassert not n",
    ),
    (
        "class M:\n    def __init__(self, out):\n        self.out = out\n    def __enter__(self):\n"
        "        self.out.append(1)\n        return self\n    def __exit__(self, *exc):\n"
        "        self.out.append(2)\n        return False\nout = []\nwith M(out) as m:\n"
        "    m.out.append(3)\nassert not out",
        "out = []\nout.append(1)\nout.append(3)\nout.append(2)\nassert not out",
    ),
    (
        "class M:\n    def __enter__(self):\n        return self\n"
        "    def __exit__(self, kind, value, trace):\n        assert kind is not None, 'no error'\n"
        "        return True\nwith M():\n    len('a')",
        "error = None\ntry:\n    len('a')\nexcept Exception as error_raised:\n"
        "    error = error_raised\nkind = error and type(error)\nassert kind is not None, 'no error'",
    ),
    (
        "class H:\n    def __init__(self):\n        self.seen = []\n    def note(self, x):\n"
        "        self.seen.append(x)\nh = H()\nlist(map(h.note, [1, 2]))\nassert not h.seen",
        "def note(x):\n    seen.append(x)\nseen = []\nlist(map(note, [1, 2]))\nassert not seen",
    ),
    (
        "def pairs(n):\n    for i in range(n):\n        yield i + 1\ntotal = 0\nfor x in pairs(4):\n"
        "    total += x\nassert not total",
        "total = 0\nfor i in range(4):\n    x = i + 1\n    total += x\nassert not total",
    ),
    (
        "def two():\n    yield 1\n    yield 2\nxs = list(two())\nassert not xs",
        "items = []\nitems.append(1)\nitems.append(2)\nxs = list(items)\nassert not xs",
    ),
    (
        "class A:\n    def __init__(self, n):\n        self.n = n\nxs = [A(n) for n in (1, 2)]\n"
        "assert not [x.n for x in xs]",
        "from types import SimpleNamespace\na = SimpleNamespace()\na.n = 1\na_2 = SimpleNamespace()\n"
        "a_2.n = 2\nxs = [a, a_2]\nassert not [x.n for x in xs]",
    ),
]


@pytest.mark.parametrize(("source", "after"), TABLE)
def test_objects_written_out(watch, source, after):
    facts = watch(source)
    text = linear(source, facts, objects=True) or linear(source, facts)
    assert text is not None
    found = flattened(text, bold=False)
    assert ast.unparse(ast.parse(found)) == ast.unparse(ast.parse(after)), found


@pytest.mark.parametrize(("source", "after"), TABLE)
def test_what_is_left_fails_as_the_script_did(source, after):
    assert _failure(source) == _failure(after) != ""


def _failure(source):
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(compile(source, "script", "exec"), {"__name__": "__main__"})
        except AssertionError as exc:
            return f"AssertionError {exc}"
    return ""


# what keeps a class whole: a library or Python itself asks its objects for more than attributes
CLOSED = [
    "class A:\n    def __len__(self):\n        return 2\nassert not len(A())",
    "class A:\n    pass\nassert not isinstance(A(), A)",
    "import abc\nclass A(dict):\n    pass\nassert A()",
    "class A:\n    def __call__(self, x):\n        return -x\nassert not sorted([1, 2], key=A())",
    "class A:\n    def __call__(self):\n        return 1\nclass B:\n    def __call__(self):\n        return 2\n"
    "assert not [x() for x in (A(), B())]",
]


@pytest.mark.parametrize("source", CLOSED)
def test_a_class_that_is_asked_for_more_stays(watch, source):
    text = linear(source, watch(source), objects=True)
    assert text is None or text.count("class ") == source.count("class ")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = SimpleNamespace()\nx.a = 1\nf(x.a)", "a = 1\nf(a)"),
        ("x = SimpleNamespace()\nx.a = 1\nf(x.a, a)", "x_a = 1\nf(x_a, a)"),
        ("x = SimpleNamespace()\nx._a = 1\nx.a = 2\nf(x._a, x.a)", "a = 1\nx_a = 2\nf(a, x_a)"),
        ("x = SimpleNamespace()\nx.list = 1\nf(x.list)", "x_list = 1\nf(x_list)"),
        ("x = SimpleNamespace()\nx.a = 1\nf(x)", "x = SimpleNamespace()\nx.a = 1\nf(x)"),
        ("x = SimpleNamespace()\nx.a = 1\n\ndef g():\n    x.a = 2\nf(x.a, g)",
         "x = SimpleNamespace()\nx.a = 1\n\ndef g():\n    x.a = 2\nf(x.a, g)"),
        ("m = nn.Module()\nm.a = nn.Linear(1, 2)\nm.to(d)", "m = nn.Module()\nm.a = nn.Linear(1, 2)\nm.to(d)"),
        ("c = unittest.TestCase()\nc.a = 1\nc.assertEqual(c.a, 2)",
         "c = unittest.TestCase()\na = 1\nc.assertEqual(a, 2)"),
    ],
)  # fmt: skip
def test_attributes_as_names(before, after):
    tree = ast.parse(before)
    named_attributes(tree)
    tree.body = [node for node in tree.body if not isinstance(node, ast.Pass)]
    assert ast.unparse(tree) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = SimpleNamespace()\nx.a = 1\nf(x)", "x = SimpleNamespace()\nf(x)"),
        ("x = SimpleNamespace()\nx.a = 1\nf(x, 'a')", "x = SimpleNamespace()\nx.a = 1\nf(x, 'a')"),
        ("x = SimpleNamespace()\nx.a = 1\nx.a += 1\nf(x)", "x = SimpleNamespace()\nx.a = 1\nx.a += 1\nf(x)"),
        ("x = SimpleNamespace()\nx.a = g()\nf(x)", "x = SimpleNamespace()\nx.a = g()\nf(x)"),
    ],
)
def test_attributes_that_nothing_asks_for(before, after):
    tree = ast.parse(before)
    unread_out(tree)
    assert ast.unparse(tree) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("xs = [a, b]\nf(xs[0])\ng(*xs)", "xs = [a, b]\nf(a)\ng(a, b)"),
        ("xs = [a, b]\nf(xs)\ng(xs[0])", "xs = [a, b]\nf(xs)\ng(xs[0])"),
        ("xs = [a, b]\na = 1\na = 2\nf(xs[0])", "xs = [a, b]\na = 1\na = 2\nf(xs[0])"),
        ("xs = [a()]\nf(xs[0])", "xs = [a()]\nf(xs[0])"),
    ],
)
def test_elements_as_names(before, after):
    tree = ast.parse(before)
    elements_out(tree)
    assert ast.unparse(tree) == after
