"""What goes along with a statement out of the `with` that it stands in."""

import ast

import pytest

from tputriage.minimize.reducing.within import in_contexts, opened
from tputriage.minimize.trees import path_to, position

MARK = "fail("


def written(statement):
    return ast.unparse(ast.fix_missing_locations(statement))


def path_of(source):
    """From the first statement to the one that calls `fail`."""
    tree = ast.parse(source)
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node).startswith(MARK))
    return path_to(tree.body, position(call))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("with a() as f:\n    m.save(f)\n    n = 3\n    fail(f)", "with a() as f:\n    m.save(f)\n    fail(f)"),
        (
            "with a() as f:\n    name = join(f, 'x')\n    save(m, name)\n    run(m)\n    fail(name)",
            "with a() as f:\n    name = join(f, 'x')\n    save(m, name)\n    fail(name)",
        ),
        ("with no_grad():\n    y = x * 2\n    fail(y)", "with no_grad():\n    fail(y)"),
        (
            "with a() as f:\n    f.write(1)\n    with b(f) as g:\n        g.go()\n        h()\n        fail(g)",
            "with a() as f:\n    f.write(1)\n    with b(f) as g:\n        g.go()\n        fail(g)",
        ),
        ("with a() as f:\n    m.save(f)\n    fail(x)", "with a() as f:\n    fail(x)"),
        (
            "for i in x:\n    with a() as f:\n        f.write(i)\n        fail(f)",
            "with a() as f:\n    f.write(i)\n    fail(f)",
        ),
    ],
)
def test_what_was_done_to_an_opened_name_goes_along(source, expected):
    path = path_of(source)
    assert written(in_contexts(path, path[-1])) == expected


def test_all_that_stood_before_it_goes_along_where_the_whole_is_asked_for():
    path = path_of("with no_grad():\n    y = x * 2\n    log(x)\n    fail(y)\n    late()")
    assert written(in_contexts(path, path[-1], whole=True)) == (
        "with no_grad():\n    y = x * 2\n    log(x)\n    fail(y)"
    )


def test_names_made_of_opened_ones_count_as_opened():
    path = path_of("with a() as f:\n    p = f / 'x'\n    q = 3\n    d['k'] = p\n    fail(p)")
    assert opened(path) == {"f", "p", "d"}
