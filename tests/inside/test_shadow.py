"""What counts as a departure from CPU, on results that differ as devices' do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

JUDGE = """
import json
import torch
from tputriage.inside.ops_copies import copied
from tputriage.inside.ops_shadow import Outcome

x = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
values, vectors = torch.linalg.eigh(x)
cases = {
    "signs": (torch.linalg.eigh, (values, -vectors), (values, vectors)),
    "values": (torch.linalg.eigh, (values + 1, -vectors), (values, vectors)),
    "ties": (torch.max, (torch.tensor([2.0]), torch.tensor([1])), (torch.tensor([2.0]), torch.tensor([0]))),
    "exp": (torch.exp, torch.exp(x) + 1, torch.exp(x)),
    "named": (torch.max, torch.max(x + 1, 1), torch.max(x, 1)),
}
found = {}
for name, (func, actual, expected) in cases.items():
    copies = copied("cpu", (x,), {})
    found[name] = (Outcome(actual, expected, None, (x,), {}, copies).departure(func) or {}).get("kind", "")
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def judged():
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run([sys.executable, "-c", JUDGE], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_signs_of_vectors_are_left_open(judged):
    assert judged["signs"] == "open"


def test_what_is_unique_beside_them_is_not(judged):
    assert judged["values"] == "values"


def test_the_order_of_equals_is_left_open(judged):
    assert judged["ties"] == "open"


def test_other_numbers_count(judged):
    assert judged["exp"] == "values"


def test_results_with_names_are_compared(judged):
    assert judged["named"] == "values"
