"""A call as it is spoken of."""

import pytest

from tputriage.signatures import spoken


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torch.nn.functional.group_norm", "torch.nn.functional.group_norm"),
        ("torch.ops.aten.median.default", "torch.ops.aten.median"),
        ("torch.Tensor.median", "torch.Tensor.median"),
        ("torch.Tensor.__setitem__", "x[...] = y"),
        ("torch.Tensor.__getitem__", "x[...]"),
        ("torch.Tensor.data.__set__", "x.data = y"),
        ("torch.Tensor.T.__get__", "x.T"),
        ("torch.Tensor.__matmul__", "x @ y"),
        ("torch.Tensor.__rsub__", "y - x"),
        ("torch.Tensor.__bool__", "torch.Tensor.__bool__"),
        ("", ""),
    ],
)
def test_a_name_that_no_person_writes_becomes_what_calls_it(name, words):
    assert spoken(name) == words
