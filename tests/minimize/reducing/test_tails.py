"""A function's body in the place of its call gives what the call gave."""

import ast
import itertools
from contextlib import suppress

import pytest

from tputriage.minimize.reducing.tails import assigned_tail

RETURNING = [
    "if a:\n    return 1\nreturn 2",
    "if a:\n    return 1\nelif b:\n    return 2\nseen.append(3)\nreturn c",
    "if a:\n    if b:\n        return 1\nif c:\n    return 2\nreturn 3",
    "if a:\n    if b:\n        return 1\nelif b:\n    if c:\n        return 2\nseen.append(b)\nreturn 3",
    "try:\n    return 1 / a\nexcept ZeroDivisionError:\n    return b",
    # What falls off its end gives None.
    "if a:\n    return 1",
    "if a:\n    if b:\n        return 1\n    seen.append(2)\nelif c:\n    return 3\nseen.append(4)",
    "try:\n    if 1 / a:\n        return 1\nexcept ZeroDivisionError:\n    seen.append(b)",
    "try:\n    seen.append(1 / a)\nexcept ZeroDivisionError:\n    return b\nelse:\n    seen.append(3)",
    "try:\n    if a:\n        return 1\nfinally:\n    seen.append(2)",
    "with suppress(ZeroDivisionError):\n    return b / a",
    "with quiet:\n    return b / a",
]


def run(lines, **names):
    """What the lines leave of `result`, and what they noted."""
    held = {**names, "seen": [], "suppress": suppress, "quiet": suppress(ZeroDivisionError)}
    exec(compile("\n".join(lines), "lines", "exec"), held)
    return held["result"], held["seen"]


@pytest.mark.parametrize("body", RETURNING)
def test_where_nobody_asks_what_it_gives_the_same_is_done(body):
    function = ast.parse(f"def f(a, b, c):\n    {body.replace(chr(10), chr(10) + '    ')}\n").body[0]
    call = [ast.unparse(function), "f(a, b, c)", "result = None"]
    lines, result = assigned_tail(function.body, "")
    written_out = [*map(ast.unparse, map(ast.fix_missing_locations, lines)), "result = None"]
    assert isinstance(result, ast.Constant)
    for values in itertools.product([0, 1], repeat=3):
        names = dict(zip("abc", values, strict=True))
        assert run(written_out, **names) == run(call, **names)


@pytest.mark.parametrize("body", RETURNING)
def test_whichever_way_it_returns_the_result_is_the_same(body):
    function = ast.parse(f"def f(a, b, c):\n    {body.replace(chr(10), chr(10) + '    ')}\n").body[0]
    call = [ast.unparse(function), "result = f(a, b, c)"]
    lines, result = assigned_tail(function.body, "result")
    written_out = [*map(ast.unparse, map(ast.fix_missing_locations, lines)), f"result = {ast.unparse(result)}"]
    for values in itertools.product([0, 1], repeat=3):
        names = dict(zip("abc", values, strict=True))
        assert run(written_out, **names) == run(call, **names)


def test_nothing_stands_in_two_branches_as_one_node():
    function = ast.parse("def f():\n    if a:\n        if b:\n            return 1\n    return g(1)\n").body[0]
    lines, _ = assigned_tail(function.body, "result")
    calls = [node for line in lines for node in ast.walk(line) if isinstance(node, ast.Call)]
    assert len(calls) == len({id(node) for node in calls}) == 2


def test_many_ways_out_are_not_written_out():
    body = "".join(f"    if a{number}:\n        if b:\n            return {number}\n" for number in range(30))
    assert assigned_tail(ast.parse(f"def f():\n{body}").body[0].body, "result") is None


@pytest.mark.parametrize(
    "body",
    [
        "yield 1",
        "for x in a:\n        return x\n    return 1",
        "while a:\n        return 1",
        "try:\n        return 1\n    except E:\n        pass\n    else:\n        g()",
        "try:\n        g()\n    finally:\n        return 1",
        "with suppress(E):\n        return 1\n    return 2",
    ],
)
def test_what_does_not_return_at_an_end_is_left_alone(body):
    assert assigned_tail(ast.parse(f"def f():\n    {body}\n").body[0].body, "result") is None
