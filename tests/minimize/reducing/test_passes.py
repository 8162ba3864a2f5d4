"""Each pass before and after, with a rule on the text as the bug; and what holds of every pass on any program."""

import ast
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tputriage.minimize.reducing import reduce_source
from tputriage.minimize.reducing.edits import Program
from tputriage.minimize.reducing.facts import Facts, FrameFacts
from tputriage.minimize.reducing.passes import all_passes

PASSES = {one.name: one for one in all_passes()}

# pass, script, what must stay, script after it
TABLE = [
    ("delete statements", "a = f()\nb = g()\nkeep(b)\n", ["keep"], "b = g()\nkeep(b)\n"),
    ("delete statements", "if f():\n    x = g()\n    keep()\n", ["keep"], "if f():\n    keep()\n"),
    ("delete statements", "if keep():\n    g()\n", ["keep"], "if keep():\n    pass\n"),
    ("delete statements of a line", "f(); keep(); g()\n", ["keep"], "keep()\n"),
    ("delete definitions with their uses", "def f():\n    pass\nf()\nkeep()\n", ["keep"], "keep()\n"),
    ("compound statement to its body", "with f():\n    keep()\n", ["keep"], "keep()\n"),
    ("compound statement to its body", "if f():\n    g()\nelse:\n    keep()\n", ["keep"], "keep()\n"),
    ("compound statement to its body", "try:\n    f()\nexcept E:\n    keep()\n", ["keep"], "keep()\n"),
    ("compound statement to its body", "for x in [f, g]:\n    keep(x)\n", ["keep"], "x = g\nkeep(x)\n"),
    ("compound statement to its body", "for i in range(9):\n    keep(i)\n", ["keep"], "i = 0\nkeep(i)\n"),
    ("compound statement to its body", "for x in xs:\n    keep(x)\n", ["keep"], "x = xs[0]\nkeep(x)\n"),
    (
        "compound statement to its body",
        "for i, x in enumerate(xs):\n    keep(i, x)\n",
        ["keep"],
        "i, x = 0, xs[0]\nkeep(i, x)\n",
    ),
    ("definition to its body", "class A:\n    def f():\n        keep()\nA()\n", ["keep"], "keep()\n"),
    ("drop unused names by scope", "import a, b\ndef f():\n    a = keep()\n    return a\nf()\n", ["keep"],
     "def f():\n    a = keep()\n    return a\nf()\n"),
    ("drop unused names by scope", "from a import b, c\nfrom d import e, g as h\nimport i.j, k\nkeep(b, h, i.j)\n",
     ["keep"], "from a import b\nfrom d import g as h\nimport i.j\nkeep(b, h, i.j)\n"),
    ("drop unused names by scope",
     "@reg\ndef f(x):\n    y = x\nclass A:\n    a = 1\n    def f(self):\n        keep()\nA.f\n",
     ["keep"], "class A:\n    a = 1\n    def f(self):\n        keep()\nA.f\n"),
    ("drop unused names by scope", "with f() as x:\n    keep()\ntry:\n    keep()\nexcept E as e:\n    pass\n", ["keep"],
     "with f():\n    keep()\ntry:\n    keep()\nexcept E:\n    pass\n"),
    ("drop docstrings", 'def f():\n    """Says."""\n    keep()\nf()\n', ["keep"], "def f():\n    keep()\nf()\n"),
    ("drop annotations", "def f(a: int) -> str:\n    b: int = 1\n    keep(a, b)\nf(1)\n", ["keep"],
     "def f(a):\n    b = 1\n    keep(a, b)\nf(1)\n"),
    ("drop decorators, bases and defaults", "@d\ndef f(a=1):\n    keep(a)\nf(2)\n", ["keep"],
     "def f(a):\n    keep(a)\nf(2)\n"),
    ("drop decorators, bases and defaults", "class A(B, metaclass=M):\n    keep = 1\nA()\n", ["keep"],
     "class A():\n    keep = 1\nA()\n"),
    ("drop parameters with their arguments", "def f(a, b):\n    keep(b)\nf(1, 2)\nf(b=3, a=4)\n", ["keep(b", "b):"],
     "def f(b):\n    keep(b)\nf(2)\nf(b=3)\n"),
    ("drop parameters with their arguments", "class A:\n    def __init__(self, a):\n        keep(self)\nA(1)\n",
     ["self)"], "class A:\n    def __init__(self):\n        keep(self)\nA()\n"),
    ("argument to a constant", "device = sys.argv[1]\nkeep(values, device)\n", ["keep", "device"],
     "device = sys.argv[1]\nkeep(1, device)\n"),
    ("argument to a constant", "keep(f(a), g(b), 2)\n", ["keep", "g("], "keep(1, g(b), 2)\n"),
    ("call of a lambda to its body", "keep((lambda a: a + 1)(2))\n", ["keep"], "keep(2 + 1)\n"),
    ("drop arguments", "keep(a, b=2, c=3)\n", ["keep", "b"], "keep(b=2)\n"),
    ("drop elements", "keep([a, b, c], {1: 2, 3: 4})\n", ["b", "3"], "keep([b], {3: 4})\n"),
    ("assignment to its value", "a = keep()\nwith f() as b:\n    g()\n", ["keep", "g"],
     "keep()\nwith f():\n    g()\n"),
    ("what is held, without its holder", "a.b = [c, d.e]\na.f = g\nkeep(a.b[1], a.f(a.b))\n", ["keep", "a."],
     "a.b = [c, d.e]\na.f = g\nkeep(d.e, g(a.b))\n"),
    ("what is held, without its holder", "a = {'b': c, **d}\nkeep(a['d'], a['b'].f)\n", ["keep"],
     "a = {'b': c, **d}\nkeep(a['d'], c.f)\n"),
    ("what is held, without its holder", "keep([f(), g][0].x, (a, *b, c)[1], {'d': e}['d'], [h][i])\n", ["keep"],
     "keep(f().x, (a, *b, c)[1], e, [h][i])\n"),
    ("what is held, without its holder", "a = [f()]\nkeep(a[0], a[0])\n", ["keep"], "a = [f()]\nkeep(a[0], a[0])\n"),
    # What is set is not read, though it stands in brackets or is added to.
    ("what is held, without its holder",
     "a.b = c\na.b, d = g()\nfor a.b in d:\n    x += a.b\nh = [c]\nh[0] = 2\nkeep(x, h[0])\n", ["keep"],
     "a.b = c\na.b, d = g()\nfor a.b in d:\n    x += c\nh = [c]\nh[0] = 2\nkeep(x, h[0])\n"),
    # Another one by then, and given twice.
    ("what is held, without its holder",
     "x = a.b\na.b = c\na.d = [f(), *g]\na.d = h\nkeep(a.b(x), a.d, a.d[0], a.d[1])\n", ["keep"],
     "x = a.b\na.b = c\na.d = [f(), *g]\na.d = h\nkeep(c(x), a.d, a.d[0], a.d[1])\n"),
    ("attribute or entry to a name", "a = f()\na.b = g()\nkeep(a.b.d(c), a)\n", ["keep"],
     "a = f()\nb = g()\nkeep(b.d(c), a)\n"),
    ("attribute or entry to a name", "a = {}\na['b'] = g()\na['max'] = h(a['b'])\nkeep(a['b'], a['max'])\n", ["keep"],
     "b = g()\na_max = h(b)\nkeep(b, a_max)\n"),
    ("attribute or entry to a name", "a = f()\na.b = g()\na.d = h(a.b)\nd = 1\nkeep(a.d, a.b.c(b=1), d)\n", ["keep"],
     "b = g()\na_d = h(b)\nd = 1\nkeep(a_d, b.c(b=1), d)\n"),
    # A name would be that method's own.
    ("attribute or entry to a name",
     "class A:\n    def f(self):\n        self.b = 1\n    def g(self):\n        keep(self.b)\n", ["keep"],
     "class A:\n    def f(self):\n        self.b = 1\n    def g(self):\n        keep(self.b)\n"),
    ("attribute or entry to a name", "a = f()\na.b = 0\ndef g():\n    a.b += 1\ng()\nkeep(a.b, a)\n", ["keep"],
     "a = f()\na.b = 0\ndef g():\n    a.b += 1\ng()\nkeep(a.b, a)\n"),
    ("attribute or entry to a name", "import a\na.b = 1\nx.y = 2\nz[0] = 3\nkeep(a.b, z[0])\n", ["keep"],
     "import a\na.b = 1\nx.y = 2\nz[0] = 3\nkeep(a.b, z[0])\n"),
    ("expression to a part of it", "f(keep.x + 1)\n", ["keep"], "keep\n"),
    ("expression to a part of it", "f(-keep(a)[0] if b else c)\n", ["keep(a)"], "keep(a)\n"),
    # A module stands for nothing.
    ("expression to a part of it", "import torch\nx = torch.nn.Linear()\nkeep(x)\n", ["keep(x)", "x = "],
     "import torch\nx = torch.nn.Linear()\nkeep(x)\n"),
    ("expression to a part of it", "import a\nx = a.b[0].c\ny = a.d().e()\nz = a.f.g\nkeep(x, y, z)\n",
     ["keep(x, y, z)", "x =", "y =", "z ="], "import a\nx = a.b\ny = a.d()\nz = a.f.g\nkeep(x, y, z)\n"),
    ("statements alike to a part of them", "a, b = g()\nx = a * 2 + f()\ny = b * 2 + f()\nkeep(x, y)\n",
     lambda text: "keep(x, y)" in text and text.count("f()") in (0, 2) and "x = a" in text,
     "a, b = g()\nx = a\ny = b\nkeep(x, y)\n"),
    ("call to the function's body", "def f(a, b=2):\n    c = a + b\n    return c\nx = f(1)\nkeep(x)\n", ["keep"],
     "x = 1 + 2\nkeep(x)\n"),
    ("call to the function's body", "class A:\n    def f(self, a):\n        keep(self, a)\nt = A()\nt.f(1)\n",
     ["keep"], "class A:\n    pass\nt = A()\nkeep(t, 1)\n"),
    ("call to the function's body", "def f(a, b):\n    keep(a, b)\nf(*g())\n", ["keep"], "a, b = g()\nkeep(a, b)\n"),
    ("keywords out of a dict", 'keep(**{"a": 1, "b": x})\n', ["keep"], "keep(a=1, b=x)\n"),
    ("keywords out of a dict", 'a = {"b": f(1)}\nkeep(**a)\n', ["keep", "f"], 'keep(b=f(1))\n'),
    ("keywords out of a dict", "keep(*(1, x))\n", ["keep"], "keep(1, x)\n"),
    ("name to what it holds", "a = f(1)\nkeep(a)\n", ["keep"], "keep(f(1))\n"),
    ("integers to one", "keep(64, 64, 3)\n", ["keep", "3"], "keep(1, 1, 3)\n"),
    ("equal integers to a smaller one", "keep(64, 64, 3)\n", ["keep", "3"], "keep(1, 1, 3)\n"),
    ("all integers halved", "keep(64, 32)\n", ["keep"], "keep(4, 2)\n"),
    ("integers to smaller ones", "keep(64, 3)\n", ["keep", "64"], "keep(64, 2)\n"),
    ("floats to short ones", "keep(0.3333)\n", ["keep"], "keep(1.0)\n"),
    ("strings to empty ones", 'keep("a", "long")\n', ["keep", "a"], 'keep("a", "")\n'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "before", "words", "after"), TABLE)
def test_pass(name, before, words, after):
    bug = words if callable(words) else lambda source: all(word in source for word in words)
    reduced = reduce_source(before, bug, passes=[PASSES[name]])
    assert ast.dump(ast.parse(reduced)) == ast.dump(ast.parse(after)), reduced


SCRIPT = """\
def scale(values):
    flat = values.reshape(-1)
    middle = median(flat)
    return middle + 1
def drive(cases):
    for case in cases:
        if case:
            scale(case.inputs())
        else:
            give_up()
drive(load())
print("done")
ones = finish()
"""
FACTS = Facts(
    ran=frozenset(
        {(1, 0, 4, 21), (2, 4, 2, 29), (3, 4, 3, 25), (5, 0, 10, 21), (6, 4, 10, 21), (7, 8, 10, 21),
         (8, 12, 8, 32), (11, 0, 11, 13)}
    ),
    values={(8, 18, 8, 31): "ones(3)", (7, 11, 7, 15): "True"},
    unsteady=frozenset(),
    frames=(
        FrameFacts("<module>", 1, (11, 0, 11, 13), frozenset(), {}, {}),
        FrameFacts("drive", 5, (8, 12, 8, 32), frozenset(), {}, {}),
        FrameFacts("scale", 1, (3, 13, 3, 25), frozenset({"values"}), {"values": "ones(3)"}, {"values": "ones(3)"}),
    ),
)  # fmt: skip

TRACED = [
    (
        "cut off after the failure",
        ["def scale"],
        SCRIPT.replace("    return middle + 1\n", "    raise SystemExit(0)\n")
        .replace("        else:\n            give_up()\n", "        else:\n            pass\n")
        .replace('print("done")\nones = finish()\n', ""),
    ),
    (
        "drop what never ran",
        ["done"],
        SCRIPT.replace("    return middle + 1\n", "")
        .replace("        else:\n            give_up()\n", "        else:\n            pass\n")
        .replace("ones = finish()\n", ""),
    ),
    ("expression to the value it had", ["scale(", "if case"], SCRIPT.replace("case.inputs()", "ones(3)")),
]


@pytest.mark.parametrize(("name", "words", "after"), TRACED)
def test_pass_with_a_trace(name, words, after):
    reduced = reduce_source(
        SCRIPT,
        lambda source: all(word in source for word in ("median", *words)),
        passes=[PASSES[name]],
        trace=lambda source: FACTS if source == SCRIPT else None,
    )
    assert ast.dump(ast.parse(reduced)) == ast.dump(ast.parse(after)), reduced


def test_every_pass_is_shown_before_and_after():
    assert {row[0] for row in (*TABLE, *TRACED)} == PASSES.keys()


NAMES = st.sampled_from(["a", "b", "f", "g", "self", "torch"])
ATOMS = NAMES | st.integers(0, 70).map(str) | st.sampled_from(["'s'", "1.25", "None", "[]", "()", "{}"])


def grown(expression):
    pairs = st.tuples(expression, expression)
    return (
        st.tuples(NAMES, st.lists(expression, max_size=3)).map(lambda one: f"{one[0]}({', '.join(one[1])})")
        | st.tuples(expression, NAMES).map(lambda one: f"({one[0]}).{one[1]}")
        | pairs.map(lambda one: f"({one[0]} + {one[1]})")
        | pairs.map(lambda one: f"[{one[0]}, *{one[1]}]")
        | pairs.map(lambda one: f"{{{one[0]}: {one[1]}}}")
        | pairs.map(lambda one: f"({one[0]} if {one[1]} else -{one[0]})")
        | st.tuples(NAMES, expression).map(lambda one: f"f({one[0]}={one[1]}, **{one[1]})")
        | expression.map(lambda one: f"({one})[0]")
        | expression.map(lambda one: f"(lambda a, b=1: {one})")
    )


EXPRESSIONS = st.recursive(ATOMS, grown, max_leaves=6)
LINES = (
    st.tuples(NAMES, EXPRESSIONS).map(lambda one: f"{one[0]} = {one[1]}")
    | st.tuples(NAMES, NAMES, EXPRESSIONS).map(lambda one: f"{one[0]}.{one[1]} = {one[2]}")
    | st.tuples(NAMES, NAMES, EXPRESSIONS).map(lambda one: f"{one[0]}['{one[1]}'] = {one[2]}")
    | EXPRESSIONS
    | EXPRESSIONS.map(lambda one: f"assert {one}")
    | EXPRESSIONS.map(lambda one: f"a: int = {one}")
    | st.sampled_from(["import torch", "from a import b, c as d", "pass; pass", "a, b = f()", "del a"])
)
HEADS = (
    st.sampled_from(
        ["def f(a, b: int = 1, *, g=2) -> int:", "class g(a):", "@f\ndef g(self):", "while a:", "with f() as a:"]
    )
    | EXPRESSIONS.map(lambda one: f"if {one}:")
    | EXPRESSIONS.map(lambda one: f"for a, b in {one}:")
)


def nested(block):
    inner = st.lists(block, min_size=1, max_size=3).map("\n".join)
    indented = inner.map(lambda one: "\n".join(f"    {line}" for line in one.splitlines()))
    tail = st.sampled_from(["", "\nelse:\n    b"])
    return (
        st.tuples(HEADS, indented).map("\n".join)
        | st.tuples(EXPRESSIONS, indented, tail).map(lambda one: f"if {one[0]}:\n{one[1]}{one[2]}")
        | indented.map(lambda one: f"try:\n{one}\nexcept E:\n    a\nfinally:\n    b")
        | indented.map(lambda one: f"def f(a):\n{one}\n    return a")
    )


PROGRAMS = st.lists(st.recursive(LINES, nested, max_leaves=6), min_size=1, max_size=4).map(
    lambda one: "\n".join(one) + "\n"
)


def is_program(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "generated", "exec")
        except (SyntaxError, ValueError):
            return False
    return True


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(PROGRAMS.filter(is_program), st.integers(0, 6))
def test_only_programs_reach_the_oracle_and_the_reducer_ends(source, answer):
    asked = []

    def bug(candidate):
        asked.append(candidate)
        return len(asked) % 7 == answer

    reduced = reduce_source(source, bug)
    assert all(is_program(one) for one in [*asked, reduced])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(PROGRAMS.filter(is_program))
def test_a_pass_offers_changes_that_can_be_made_to_any_program(source):
    """Nothing but a refusal may come of a change: a pass that breaks the engine would end a run."""
    program = Program(source)
    for one in PASSES.values():
        if not one.traced:
            for group in one.groups(program):
                program.with_changes(group)
                for site in group:
                    program.with_changes([site])


def test_a_second_change_of_a_node_that_the_first_has_replaced_is_refused():
    program = Program("f(g(), 1)\n")
    (group,) = PASSES["expression to a part of it"].groups(program)
    assert program.with_changes(group) is None
