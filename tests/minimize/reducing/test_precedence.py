"""What is put in another's place means there what it meant alone."""

import ast

import libcst as cst
import pytest

from tputriage.minimize.reducing.binding import substituted
from tputriage.minimize.reducing.edits import Program, Site

PUT = [
    "a", "1", "-a", "not a", "a + b", "a * b", "a ** b", "a | b", "a < b", "a and b", "a or b", "a if b else c",
    "lambda: a", "f(a)", "a.b", "a[0]", "~a", "a << b", "x == y == z",
]  # fmt: skip
AROUND = [
    "X.m", "X[0]", "X()", "X + z", "z - X", "X ** z", "z ** X", "-X", "not X", "X * z", "z @ X", "X < z", "z == X",
    "z | X", "z & X", "X if z else y", "z if X else y", "z if y else X", "f(X)", "f(k=X)", "f(*X)", "[X]", "{X: X}",
    "z[X]", "lambda: X", "[*X]", "(X, z)", "[X for y in z]", "[y for y in X]",
]  # fmt: skip


class Putting(ast.NodeTransformer):
    """The same on Python's own tree, which needs no parentheses."""

    def __init__(self, text):
        self.text = text

    def visit_Name(self, node):
        return ast.parse(self.text, mode="eval").body if node.id == "X" else node


def meant(around, text):
    return ast.unparse(Putting(text).visit(ast.parse(around, mode="eval")))


@pytest.mark.parametrize("around", AROUND)
def test_a_substituted_name_keeps_its_meaning(around):
    for text in PUT:
        found = substituted(cst.parse_expression(around), {"X": cst.parse_expression(text)})
        assert ast.unparse(ast.parse(cst.Module([]).code_for_node(found), mode="eval")) == meant(around, text)


@pytest.mark.parametrize("around", AROUND)
def test_a_site_keeps_its_meaning(around):
    program = Program(f"{around}\n")
    for text in PUT:
        sites = [Site.putting(node, cst.parse_expression(text)) for node in program.of(cst.Name) if node.value == "X"]
        assert ast.unparse(ast.parse(program.with_changes(sites))) == meant(around, text)


def test_no_parentheses_where_none_are_needed():
    program = Program("f(X, k=X)\n")
    sites = [Site.putting(node, cst.parse_expression("a + b")) for node in program.of(cst.Name) if node.value == "X"]
    assert program.with_changes(sites) == "f(a + b, k=a + b)\n"
