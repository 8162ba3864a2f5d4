"""What a script must not lose: its device, and the seed of the numbers that it judges."""

import pytest

from tests.minimize.helpers import Rule
from tputriage.minimize.reducing import reduce_source
from tputriage.minimize.reducing.lost import lost

DEVICE, SEED = "it is not told its device", "it judges numbers that no seed governs"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("f(sys.argv[1])\n", set()),
        ("f(1)\n", {DEVICE}),
        ("f('sys.argv[1]')  # sys.argv[1]\n", {DEVICE}),
        ("x = randn(2, device=sys.argv[1])\nassert x[0] > 0\n", {SEED}),
        ("manual_seed(0)\nx = randn(2, device=sys.argv[1])\nassert x[0] > 0\n", set()),
        ("torch.testing.assert_close(torch.rand(2).to(sys.argv[1]), y)\n", {SEED}),
        ("y = np.random.default_rng(0).random(2)\nassert f(y, sys.argv[1])\n", set()),
        ("torch.median(torch.randn(2).to(sys.argv[1]))\n", set()),
        ("assert f(torch.empty(2, device=sys.argv[1]))\n", set()),
        ("no python (\n", set()),
    ],
)
def test_what_is_lost_is_told(source, found):
    assert lost(source) == found


def test_the_device_stays_though_the_bug_would_do_without():
    source = "import sys\nimport torch\nx = torch.ones(2, device=sys.argv[1])\ny = x + 1\ntorch.median(y)\n"
    assert "sys.argv[1]" in reduce_source(source, Rule(lambda text: "torch.median(" in text))


def test_the_seed_stays_where_numbers_are_judged():
    source = "import sys\nimport torch\ntorch.manual_seed(1)\nx = torch.randn(2, device=sys.argv[1])\nassert x[0] > 5\n"
    kept = reduce_source(source, Rule(lambda text: "randn" in text and "assert" in text))
    assert "manual_seed" in kept


def test_the_seed_goes_with_an_error_of_another_kind():
    source = "import sys\nimport torch\ntorch.manual_seed(1)\nx = torch.randn(2, device=sys.argv[1])\ntorch.median(x)\n"
    kept = reduce_source(source, Rule(lambda text: "randn" in text and "torch.median(" in text))
    assert "manual_seed" not in kept


def test_a_script_that_never_had_them_is_reduced_all_the_same():
    source = "from torch import randn\nx = 1\nassert randn(2) > 5\n"
    kept = reduce_source(source, Rule(lambda text: "randn(" in text))
    assert kept == "from torch import randn\nassert randn() > 1\n"
