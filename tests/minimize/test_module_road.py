"""Calls of modules, from their repr and the captured input."""

from tputriage.minimize.module_road import module_calls
from tputriage.minimize.suspects import Suspect
from tputriage.minimize.writing import script_of
from tputriage.model import Failure, Outcome, Phase

FAILURE = Failure("t", Phase.CALL, Outcome.FAILED, "RuntimeError", "broken")
INPUT = {
    "is": "tensor", "id": 1, "storage": 0, "elements": 8, "shape": [2, 4], "strides": [4, 1], "offset": 0,
    "dtype": "float32", "device": "tpu", "requires_grad": True, "leaf": False, "conjugated": False,
}  # fmt: skip


def scripts(kind, text, *, training=True):
    module = {"kind": kind, "repr": text, "training": training, "args": [INPUT], "kwargs": {}}
    suspect = Suspect(FAILURE, {"modules": [module], "calls": [], "forward": None})
    return [script_of(call, "tpu").splitlines()[-1] for call in module_calls(suspect, "tpu")]


def test_printed_defaults_are_left_out_first():
    found = scripts("torch.nn.modules.normalization.GroupNorm", "GroupNorm(2, 4, eps=1e-05, affine=True)")
    assert found == [
        "torch.nn.GroupNorm(2, 4).to(device)(x)",
        "torch.nn.GroupNorm(2, 4, eps=1e-05, affine=True).to(device)(x)",
    ]


def test_a_module_in_evaluation_stays_so():
    assert scripts("torch.nn.modules.dropout.Dropout", "Dropout(p=0.5)", training=False) == [
        "torch.nn.Dropout(p=0.5).eval().to(device)(x)"
    ]


def test_a_suites_own_module_is_not_written():
    assert scripts("suite.blocks.Block", "Block(4)") == []


def test_a_repr_that_is_no_plain_constructor_is_not_run():
    assert scripts("torch.nn.modules.linear.Linear", "Linear(4, __import__('os').system('true'))\nx()") == []
