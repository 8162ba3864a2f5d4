"""Scripts made of what a traced run held: on CPU, with a bug that is a raise or an assert."""

import ast

import pytest

from tests.minimize.helpers import Rule
from tputriage.config import Settings
from tputriage.minimize.reducing import unscaffold
from tputriage.minimize.reducing.facts import Facts, FrameFacts, tracer
from tputriage.minimize.reducing.scaffold import by_values, sliced
from tputriage.minimize.reducing.straighten import proposals, pruned, straightened, valued
from tputriage.minimize.reducing.unscaffold import unscaffolded
from tputriage.minimize.trees import swept
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

TESTER = """import sys
import torch
device = sys.argv[1]

class Tester:
    size = 3

    def get_config(self):
        return {"size": self.size, "name": "tiny"}

    def build(self, size, name):
        assert name == "tiny"
        return torch.ones(size, 2).to(device)

    def check_shape(self):
        assert self.build(**self.get_config()).shape == (3, 2)

    def check_bug(self, scale):
        model = self.build(**self.get_config())
        with torch.no_grad():
            doubled = model * scale
            torch.linalg.inv(doubled)
        assert doubled.shape == (3, 2)

def main():
    tester = Tester()
    for name in ["check_shape"]:
        getattr(tester, name)()
    tester.check_bug(2)

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def worker():
    with Worker(find_target("cpu", Settings())) as worker:
        yield worker


@pytest.fixture(scope="module")
def trace(worker):
    return tracer(worker, limit_s=30, counted=lambda: None)


def test_a_trace_tells_the_way_to_the_failure(trace):
    told = trace(TESTER)
    assert [level.function for level in told.frames] == ["<module>", "main", "check_bug"]
    assert told.frames[-1].values["doubled"] == "torch.rand(3, 2).to(device)"


def test_values_are_spelled_exactly_where_that_may_matter(trace):
    told = trace(TESTER)
    assert told.frames[-1].exact["doubled"] == "torch.tensor([[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]).to(device)"


def test_an_f_string_has_a_value_as_a_whole(trace):
    told = trace("lost = ['a', 'b']\nraise ValueError(f\"nan in {', '.join(lost)} of {len(lost):>3}\")\n")
    assert "'nan in a, b of   2'" in told.values.values()


def test_the_failing_statement_stands_alone_with_what_it_read(trace):
    first = next(by_values(TESTER, trace(TESTER)))
    assert first.splitlines()[-2:] == ["doubled = torch.rand(3, 2).to(device)", "torch.linalg.inv(doubled)"]
    assert "Tester" not in first


def test_a_folder_that_is_gone_by_then_is_made_anew_with_what_was_put_there(trace):
    source = (
        "import tempfile\nimport torch\n\n"
        "def check(m):\n    out = m(torch.ones(1, 2))\n"
        "    with tempfile.TemporaryDirectory() as folder:\n"
        "        torch.save(m.state_dict(), folder + '/m.pt')\n        m.zero_grad()\n"
        "        m.load(folder + '/m.pt')\n"
        "    assert out\n\n"
        "check(torch.nn.Linear(2, 2))\n"
    )
    first = next(by_values(source, trace(source)))
    assert first.splitlines()[-3:] == [
        "with tempfile.TemporaryDirectory() as folder:",
        "    torch.save(m.state_dict(), folder + '/m.pt')",
        "    m.load(folder + '/m.pt')",
    ]
    assert "out = m" not in first


def test_no_value_stands_for_the_arguments_of_the_script(trace):
    source = "import sys\nimport torch\ndevice = sys.argv[1]\n\ndef run(d):\n    raise ValueError(d)\n\nrun(device)\n"
    told = trace(source)
    assert all("device = sys.argv[1]" in valued(source, told, (kind,)) for kind in (ast.Attribute, ast.Subscript))


def test_what_must_lead_a_script_still_does_when_torch_is_imported_for_a_value(trace):
    source = (
        "from __future__ import annotations\nimport sys\nfrom torch import ones\n\ndef run(x):\n"
        "    raise ValueError(x.shape)\n\nrun(ones(2, device=sys.argv[1]))\n"
    )
    found = next(text for text in by_values(source, trace(source)) if "import torch\n" in text)
    compile(found, "found", "exec")


def test_a_module_is_spelled_by_its_making(trace):
    source = (
        "import sys\nimport torch\ndevice = sys.argv[1]\n\ndef run(net):\n    net(torch.ones(2))\n\n"
        "run(torch.nn.Linear(3, 2, bias=False).eval())\n"
    )
    text = trace(source).frames[-1].values["net"]
    assert text == "torch.nn.Linear(in_features=3, out_features=2, bias=False).eval().to(device)"


def test_properties_are_not_run_by_looking(trace):
    source = (
        "class A:\n    seen = []\n    @property\n    def x(self):\n        self.seen.append(1)\n\n"
        "def run(a):\n    if len(a.seen) > 1: a.x\n    raise ValueError(len(a.seen))\n\nrun(A())\n"
    )
    assert trace(source).frames[-1].function == "run"


@pytest.mark.parametrize("source", ["x = (", "import nowhere", "raise SystemExit(3)", "def f(): f()\nf()"])
def test_odd_scripts_are_traced_or_give_nothing(trace, source):
    told = trace(source)
    assert told is None or len(told.frames) <= 1000


def test_the_whole_chain_goes_in_few_questions(trace):
    oracle = Rule(lambda source: "torch.linalg.inv" in source and "device" in source)
    found = unscaffolded(TESTER, oracle, trace)
    assert oracle.runs <= 3
    assert "Tester" not in found


def test_without_values_the_calls_on_the_way_are_inlined(trace):
    oracle = Rule(lambda source: ("scale" in source and "self.build" in source) or "tester.build" in source)
    found = unscaffolded(TESTER, oracle, trace)
    assert "def main" not in found
    assert "for name in" not in found


def test_what_never_ran_goes_and_nothing_follows_the_failure(trace):
    text = pruned(TESTER, trace(TESTER), cut=True)
    assert "doubled.shape" not in text
    assert "raise SystemExit(0)" in text


def test_the_straight_script_fails_alike(trace):
    text = straightened(TESTER, trace(TESTER))
    told = trace(text)
    assert [level.function for level in told.frames] == ["<module>"]


def test_calls_are_replaced_by_the_value_they_gave(trace):
    text = valued(TESTER, trace(TESTER), (ast.Call,))
    assert "model = torch.rand(3, 2).to(device)" in text


def test_a_call_with_several_values_is_left_alone(trace):
    source = "def f(x):\n    return x\n\ny = [f(a) for a in (1, 2)]\nraise ValueError\n"
    assert "f(a)" in valued(source, trace(source), (ast.Call,))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a, b\nb", "import b\nb"),
        ("from a import b, c\nc", "from a import c\nc"),
        ("def f():\n    return g()\ndef g(): pass\nx = 1", "pass"),
        ("def f():\n    return f()\nprint(1)", "print(1)"),
        ("x, y = 1, 2\nprint(y)", "x, y = (1, 2)\nprint(y)"),
        ("a.b = 1\nc[0] = 2", "a.b = 1\nc[0] = 2"),
        ("class A: pass\ngetattr(m, 'A')", "class A:\n    pass\ngetattr(m, 'A')"),
        ("from __future__ import annotations\nx = 1", "from __future__ import annotations"),
    ],
)
def test_what_nothing_reads_goes(before, after):
    assert swept(before) == after


def test_a_trace_without_frames_proposes_nothing():
    assert list(by_values("x = 1", Facts(frozenset({(1, 0, 1, 5)}), ()))) == []


def test_a_level_that_is_no_function_of_the_script_is_left_out():
    level = FrameFacts("<listcomp>", 7, (7, 0, 7, 1), frozenset(), {}, {})
    assert list(by_values("x = 1", Facts(frozenset({(1, 0, 1, 5)}), (level,)))) == []


def test_a_slice_keeps_what_leads_to_the_failure(trace):
    head, tail = "import random\n", "b[1] = a[0]\nassert b[1] < 5, 'large'"
    source = (
        f"{head}random.seed(1)\nunit = random.Random\na = [unit and 1]\nb = a + [2]\nc = 5\na.append(3)\nprint(c)\n"
        f"a[0] = 9\n{tail}"
    )
    slices = list(sliced(source, trace(source)))
    assert slices[0] == f"{head}unit = random.Random\na = [unit and 1]\nb = a + [2]\na[0] = 9\n{tail}"
    assert any("random.seed(1)" in one for one in slices[1:])
    assert any("a.append(3)" in one for one in slices[1:])


@pytest.mark.parametrize("value", ["Enum('E', {'a b': 1})(1)", "Flag('E', {'A': 1, 'B': 2})(0)", "dict(**{'a b': E})"])
def test_what_has_a_name_that_python_cannot_read_is_not_spelled(trace, value):
    source = f"from enum import Enum, Flag\nE = object()\nv = {value}\nraise ValueError(v)\n"
    told = trace(source)
    for text in (*told.values.values(), *told.frames[0].values.values()):
        ast.parse(text, mode="eval")
    assert all(ast.parse(one) for one in [*by_values(source, told), *proposals(source, told)])


@pytest.mark.parametrize("parts", [300, 900, 2500])
def test_a_script_that_is_too_deep_to_be_rewritten_stays_as_it_is(parts):
    source = f"x = {'+'.join(['1'] * parts)}\ny = 2\nraise ValueError(y)\n"
    level = FrameFacts("<module>", 1, (3, 0, 3, 19), frozenset("y"), {"y": "2"}, {"y": "2"})
    facts = Facts(frozenset({(1, 0, 1, 2 * parts + 3), (2, 0, 2, 5), (3, 0, 3, 19)}), (level,))
    assert unscaffolded(source, lambda candidate: False, lambda source: facts) == source


def test_no_value_stands_for_the_arguments(trace):
    told = trace("import sys\ndevice = sys.argv[1]\nassert not device")
    assert not [text for text in told.values.values() if "[" in text and "argv" not in text]


def test_a_proposal_that_cannot_be_made_costs_itself(monkeypatch):
    def broken(*_):
        yield "print(1)\n"
        raise AttributeError("lineno")

    for name in ("proposals", "lines", "by_values"):
        monkeypatch.setattr(unscaffold, name, broken)
    source = "for i in [1]:\n    print(i)\n"
    level = FrameFacts("<module>", 1, (2, 4, 2, 12), frozenset("i"), {"i": "1"}, {"i": "1"})
    facts = Facts(frozenset({(1, 0, 2, 12), (2, 4, 2, 12)}), (level,))
    assert unscaffold.unscaffolded(source, lambda candidate: "(1)" in candidate, lambda source: facts) == "print(1)\n"
