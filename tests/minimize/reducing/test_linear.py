"""Scripts as one straight line: watched on CPU, inlined, unrolled, and run again."""

import ast

import pytest

from tputriage.config import Settings
from tputriage.minimize.reducing import reduce_source
from tputriage.minimize.reducing.facts import Facts, tracer
from tputriage.minimize.reducing.linear import linear
from tputriage.minimize.reducing.propagating import flattened, propagated
from tputriage.minimize.reducing.sizes import is_smaller
from tputriage.minimize.reducing.straighten import with_literals
from tputriage.minimize.trees import swept
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

NOTHING = Facts(frozenset(), ())


@pytest.fixture(scope="module")
def watch():
    with Worker(find_target("cpu", Settings())) as worker:
        yield tracer(worker, limit_s=30, counted=lambda: None)


# script, its straight line; each fails by its own `boom`
TABLE = [
    ("def f(a, b=2):\n    c = a + b\n    return c\nboom(f(1))", "c = 1 + 2\nboom(c)"),
    ("def f(x):\n    return x\ndef g(y):\n    return f(y)\nboom(g(1) + f(2))", "boom(1 + 2)"),
    ("c = 5\ndef f(a):\n    c = a\n    return c\nboom(f(1), c)", "c = 5\nc_2 = 1\nboom(c_2, c)"),
    ("for n in (1, 2):\n    print(n)\nboom()", "print(1)\nprint(2)\nboom()"),
    ("xs = [3, 4]\nfor i, x in enumerate(xs):\n    boom(i, x)", "boom(0, 3)\nboom(1, 4)"),
    ("for k, v in {'a': 1}.items():\n    boom(k, v)", "boom('a', 1)"),
    ("def f(*a, **k):\n    boom(a, k)\nf(1, *(2, 3), z=4)", "a = (1, 2, 3)\nk = {'z': 4}\nboom(a, k)"),
    ("def f(**k):\n    boom(k['z'])\nk = dict(z=4)\nf(**k)", "k_2 = {'z': 4}\nboom(k_2['z'])"),
    ("def f(a):\n    if a:\n        return 1\n    return 2\nboom(f(0) + f(3))",
     "if 0:\n    result = 1\nelse:\n    result = 2\nif 3:\n    result_2 = 1\nelse:\n    result_2 = 2\n"
     "boom(result + result_2)"),
    ("class A:\n    def f(self):\n        boom(self)\nfor name in ['f']:\n    getattr(A(), name)()",
     "class A:\n\n    def f(self):\n        boom(self)\nself = A()\nboom(self)"),
    ("class A:\n    def f(self):\n        return 1\nclass B(A):\n    def f(self):\n        return super().f() + 1\n"
     "b = B()\nboom(b.f())", "boom(1 + 1)"),
    ("from contextlib import contextmanager\n@contextmanager\ndef held(n):\n    try:\n        yield n + 1\n"
     "    finally:\n        print(n)\nwith held(1) as x:\n    boom(x)", "x = 1 + 1\nboom(x)\nprint(1)"),
    ("make = lambda n: n + 1\nboom(make(1))", "boom(1 + 1)"),
    ("def f():\n    with open('/dev/null') as a:\n        return a\nboom(f())",
     "with open('/dev/null') as a:\n    result = a\nboom(result)"),
]  # fmt: skip
BOOM = "def boom(*args):\n    raise ValueError(*args)\n"


@pytest.mark.parametrize(("source", "after"), TABLE)
def test_a_straight_line(watch, source, after):
    given = BOOM.replace("raise", "1\n    raise") + source
    facts = watch(given)
    calls = {place: line for place, line in facts.calls.items() if line != 1}  # what fails stays a call
    facts = Facts(facts.ran, facts.frames, facts.values, facts.unsteady, calls)
    found = linear(given, facts)
    assert found is not None
    found = swept(found.partition("raise ValueError(*args)\n")[2])
    assert ast.unparse(ast.parse(found)) == after


def test_nothing_to_inline_is_no_proposal():
    assert linear("boom()", NOTHING) is None


def test_recursion_ends(watch):
    source = "def f(n):\n    return f(n - 1) if n else 1 / 0\nf(3)"
    text = linear(source, watch(source))
    assert text is None or len(text) < 1000


def test_a_loop_of_many_rounds_stays(watch):
    source = "for n in range(100):\n    1 / (50 - n)\n"
    assert linear(source, watch(source)) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\nf(a)", "f(1)"),
        ("a = b\nf(a)", "f(b)"),
        ("a = b\nb = 2\nf(a)\nf(b)", "a = b\nb = 2\nf(a)\nf(2)"),
        ("a = 1\nfor x in y:\n    f(a)\n    a = 2", "a = 1\nfor x in y:\n    f(a)\n    a = 2"),
        ("a = 1\nif x:\n    f(a)", "if x:\n    f(1)"),
        ("a = 1\nif x:\n    a = 2\nf(a)", "a = 1\nif x:\n    a = 2\nf(a)"),
        ("a = 1\ng = lambda: a\nf(g)", "a = 1\ng = lambda: a\nf(g)"),
        ("a = 1\na += 1\nf(a)", "a = 1\na += 1\nf(a)"),
        ("a = a\nf(a)", "f(a)"),
        # What has the name by then is another.
        *(
            (source, source)
            for source in (
                "a = b\nf([a for a in c])",
                "a = b\nf({d: a for b in c})",
                "a = b\nwith c as a:\n    f(a)",
                "a = b\ntry:\n    a = 1\nexcept E:\n    f(a)",
                "a = b\ntry:\n    f()\nexcept E as a:\n    f(a)",
                "a = b\nmatch c:\n    case [a, *d]:\n        f(a)",
                "a = b\nif (b := c):\n    f(a)",
                "a = b\ndel b\nf(a)",
            )
        ),
        ("a = b\nf([a for c in d])", "f([b for c in d])"),
        ("a = b\ntry:\n    f(a)\nexcept E:\n    pass", "try:\n    f(b)\nexcept E:\n    pass"),
    ],
)
def test_copies_and_constants_are_propagated(before, after):
    assert propagated(before) == after


def test_plain_values_are_put_in_but_not_what_a_tensor_decided(watch):
    source = (
        "import torch\nsizes = [2, 3]\nx = torch.ones(len(sizes))\ny = x.sum().item() + 1\nassert y > len(sizes) + 9"
    )
    text = with_literals(source, watch(source))
    assert "torch.ones(2)" in text
    assert "x.sum().item() + 1" in text
    assert "assert y > len(sizes) + 9" in text


@pytest.mark.parametrize(
    "source",
    [
        "class S:\n    known = {}\n    def __init_subclass__(cls, key, **more):\n        S.known[key] = cls\n"
        "class T(S, key='t'):\n    def f(self):\n        return 1\ndef g(key):\n    return S.known[key]().f()\n"
        "assert not g('t')",
        "class A:\n    n = 1\n    def f(self):\n        return self.n\ng = A().f\nassert not g()",
        "def make(n):\n    def inner():\n        return n\n    return inner\nfs = []\nfor n in range(3):\n"
        "    fs.append(make(n))\nassert [f() for f in fs] != [0, 1, 2]",
        "class A:\n    def __init__(self, text):\n        self.text = text\n    def f(self):\n"
        "        assert not self.text, f'{self.text!r} {self.text}'\nA('a\\\\d').f()",
        "def inner(n):\n    yield n\n    yield n + 1\ndef outer():\n    for a in [1, 2]:\n"
        "        yield sum(list(inner(a)))\nxs = list(outer())\nassert not xs, xs",
        "def f(*xs):\n    return len(xs)\nassert not f(*range(20)), f(*range(20))",
        "def f(*xs):\n    return len(xs)\nn = 20\nr = range(n)\nassert not f(*r), f(*r)",
        "def f(n):\n    return n\nxs = [f(n) for n in reversed(range(20))]\nassert not xs, xs",
        "def f(n):\n    return n\nxs = [f(n) + m for n, m in zip(reversed(range(20)), [1, 2])]\nassert not xs, xs",
        "import itertools\ndef f(a, b):\n    return a + b\n"
        "xs = [f(a, b) for a, b in itertools.product(range(7), range(7))]\nassert not xs, xs",
        "def f(a):\n    if a:\n        return 1\nassert f(0), f(0)",
        # Lines that were made have no place, which what is watched could be asked for.
        "def f(i):\n    seen.append(i)\ndef k(q):\n    if q:\n        return 3\n    return 4\ndef g(n):\n"
        "    for i in range(n):\n        f(i)\nseen = []\ng(k(0))\ng(k(1))\nassert not seen, seen",
        "def k(q):\n    if q:\n        return {'a': 1}\n    return {'a': 2}\ndef h(a):\n    seen.append(a)\n"
        "def g(d):\n    for _, v in d.items():\n        h(v)\n    h(**d)\nseen = []\ng(k(0))\ng(k(1))\n"
        "assert not seen, seen",
        "class Timer:\n    def __enter__(self):\n        self.a = 1\n        return self\n"
        "    def __exit__(self, *told):\n        self.b = 2\ndef f(x):\n    with Timer():\n        return x * 2\n"
        "y = f(3)\nassert not y, y",
        "def f(y):\n    seen.append(y)\nseen = []\na, b = 1, 2\nx = [a, b]\n"
        "for y in [x + 1 for x in (a, b)]:\n    f(y)\n    if y > 1:\n        break\nassert not seen, seen",
        "def f(y):\n    seen.append(y)\nseen = []\nfor i in range(0, 3, True):\n    f(i)\nassert not seen, seen",
        "class A:\n    def __init__(self, a):\n        self.x = 1\n        if not a:\n            return\n"
        "        self.y = 2\nfound = [A(0).x, A(1).x, A(1).y]\nassert not found, found",
        # What a loop's name is left with, and rounds that are not independent of each other.
        "def f(x):\n    seen.append(x)\nseen = []\nfor x in (1, 2):\n    f(x)\nf(x)\nassert not seen, seen",
        "def f(x):\n    seen.append(x)\nseen = []\na, b = 1, 2\nfor x in (a, b):\n    b = 9\n    f(x)\n"
        "assert not seen, seen",
        "def f(x):\n    seen.append(x)\nseen = []\na, b = 1, 2\nfor x in (a, b):\n    a, b = b, a\n    f(x)\n"
        "assert not seen, seen",
        "def g(x):\n    seen.append(x)\n    return x\nseen = []\n"
        "found = next(g(x) for x in (1, 2)), any(g(x) for x in (3, 4))\nassert not seen, (seen, found)",
        *(
            f"import random\nfrom contextlib import contextmanager\n"
            f"def f(x):\n    seen.append(x)\ndef g(ys):\n    ys.reverse()\ndef h():\n    xs.pop()\n"
            f"class O:\n    pass\nseen = []\na, b, c = 1, 2, 3\nxs, n = None, 0\n"
            f"@contextmanager\ndef cm(y):\n    yield y\n"
            f"xs = [a, b]\n{change}\nfor x in xs:\n    f(x)\nassert not seen, seen"
            for change in (
                "with cm([c]) as xs:\n    for x in xs:\n        f(x)",
                "for xs in ([c], [b]):\n    for x in xs:\n        f(x)\n    if n:\n        break",
                "while n < 2:\n    n += 1\n    for x in xs:\n        f(x)\n    xs = [c]",
                "if n:\n    xs = [b]\nelse:\n    for x in xs:\n        f(x)",
                "try:\n    xs = [b]\n    1 / 0\nexcept ZeroDivisionError:\n    for x in xs:\n        f(x)",
                "random.Random(1).shuffle(xs)",
                "g(ys=xs)",
                "ys = xs\nys.append(c)",
                "o = O()\no.xs = xs\no.xs.append(c)",
                "o = O()\no.xs = [a]\np = O()\np.xs = [c]\no = p\nfor x in o.xs:\n    f(x)",
                "o = O()\no.xs = [a]\nsetattr(o, 'xs', [c])\nfor x in o.xs:\n    f(x)",
                "[h() for _ in range(n + 1)]",
                "xs[0], xs[1] = xs[1], xs[0]",
                "for x in xs:\n    f(x)\n    xs[1] = 5",
                "for x in list(xs):\n    f(x)\n    xs.remove(x)",
            )
        ),
        "def f(x):\n    seen.append(x)\nseen = []\na, b = 1, 2\nxs = [a, b]\na = 3\nfor x in xs:\n    f(x)\n"
        "assert not seen, seen",
        *(
            f"def g(xs):\n    xs.pop()\ndef f(x):\n    seen.append(x)\nseen = []\nxs = [1, 2]\n{change}\n"
            "for x in xs:\n    f(x)\nassert not seen, seen"
            for change in (
                "xs[0] = 3",
                "del xs[0]",
                "y = xs.pop()",
                "xs += [3]",
                "if seen == []:\n    xs[1] = 5",
                "g(xs)",
            )
        ),
        "def f(a, b, c):\n    if a:\n        if b:\n            return 1\n    if c:\n        return 2\n    return 3\n"
        "assert not f(0, 0, 1), f(0, 0, 1)",
    ],
)
def test_a_straight_line_fails_as_the_script_does(watch, source):
    facts = watch(source)
    for text in (linear(source, facts, objects=True), linear(source, facts)):
        if text is not None:
            assert _failure(flattened(text, bold=False)) == _failure(source)


def _failure(source):
    try:
        exec(compile(source, "script", "exec"), {"__name__": "__main__"})
    except AssertionError as exc:
        return f"AssertionError: {exc}"
    return ""


ASKING = (
    "class Guard:\n    def __init__(self):\n        self.lost = []\n\n"
    "    def check(self, value):\n        if is_bad(value):\n            self.lost.append(value)\n\n"
    "def is_bad(value):\n    return value > 1\n\n"
    "guard = Guard()\nguard.check(2)\nif guard.lost:\n    raise ValueError(guard.lost)\n"
)


@pytest.mark.parametrize("choose", [True, False])
def test_an_if_stays_where_its_answer_may_be_what_fails(watch, choose):
    found = ast.parse(linear(ASKING, watch(ASKING), objects=True, choose=choose))
    tests = [ast.unparse(node.test) for node in ast.walk(found) if isinstance(node, ast.If)]
    assert tests == ([] if choose else ["2 > 1", "guard.lost"])


def test_a_function_that_may_call_itself_is_not_written_out_level_by_level(watch):
    source = f"{BOOM}def f(n):\n    return f(n - 1) if n else boom()\nf(9)\n"
    found = linear(source, watch(source))
    assert found is None or "f(9)" in found


BRANCHED = (
    "import sys\ndef boom(*args):\n    raise ValueError(*args)\ndef f(a):\n    if a:\n        return 1\n    return 2\n"
    "boom(sys.argv[1], f(0) + f(3) + f(1) + f(2) + f(5))\n"
)


class Branching:
    """Interesting is what fails with all five branches, written out or called."""

    def __init__(self, most):
        self.left = most

    @property
    def exhausted(self):
        return self.left <= 0

    def __call__(self, source):
        self.left -= 1
        branches = source.count("f(") - 1 if "    if a:" in source else source.count("if ")
        return "raise ValueError(*args)" in source and branches >= 5


@pytest.mark.parametrize("most", [2, 4, 1000])
def test_a_straight_line_that_leads_to_nothing_smaller_is_not_kept(watch, most):
    better = [BRANCHED]
    found = reduce_source(BRANCHED, Branching(most), trace=watch, on_better=better.append)
    assert not is_smaller(BRANCHED, found)
    assert better[-1] == found
