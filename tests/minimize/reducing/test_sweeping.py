"""What nothing reads goes, and what is left is a program."""

import ast

import pytest

from tputriage.minimize.reducing.sweeping import sweep

UNREAD = [
    "import a\nimport b\n",
    "from a import y, z\nx = 1\n",
    "def f():\n    pass\ndef g():\n    pass\n",
    "1\n2\n",
    "x = 1\n",
]
AROUND = [
    "if c():\n{}",
    "if c():\n    d()\nelse:\n{}",
    "while c():\n{}",
    "for i in c():\n{}",
    "with c():\n{}",
    "try:\n    d()\nexcept ValueError:\n{}",
    "try:\n    d()\nfinally:\n{}",
    "match c():\n  case 1:\n{}",
    "def c():\n{}c()\n",
    "async def c():\n{}c()\n",
]  # fmt: skip


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("unread", UNREAD)
def test_a_block_of_which_nothing_is_read_is_left_with_pass(around, unread):
    block = "".join(f"    {line}\n" for line in unread.splitlines())
    assert sweep(around.format(block)) == around.format("    pass\n")


@pytest.mark.parametrize("unread", UNREAD)
def test_a_module_may_end_empty(unread):
    assert sweep(unread) == ""


@pytest.mark.parametrize("unread", UNREAD)
def test_beside_what_is_read_nothing_takes_its_place(unread):
    block = "".join(f"    {line}\n" for line in unread.splitlines())
    assert sweep(f"if c():\n{block}    d()\n") == "if c():\n    d()\n"


def test_where_a_line_is_shared_what_stays_is_a_program():
    for source in ("if c():\n    import a; import b\n", "if c(): import a; import b\n", "if c():\n    import a; d()\n"):
        ast.parse(sweep(source))


def test_what_stays_for_its_name_or_its_decorator_needs_no_pass_beside_it():
    assert sweep("if c():\n    import a\n    import b\n", names={"a"}) == "if c():\n    import b\n"
    noted = "if c():\n    @note\n    def f():\n        return 1\n"
    assert sweep(f"{noted}    import b\n", registered=False) == noted
