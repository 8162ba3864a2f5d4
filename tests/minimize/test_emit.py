"""The final script's header and code."""

import ast
import subprocess
import sys

import pytest

from tputriage.minimize.draft import Draft
from tputriage.minimize.emit import finish
from tputriage.minimize.measure import code_lines
from tputriage.model import Level

CODE = """import sys

import torch

device = sys.argv[1] if len(sys.argv) > 1 else "tpu"
x = torch.ones(2, device=device)
torch.median(x)
"""
DRAFT = Draft(CODE, Level.OP, "torch.median", "RuntimeError: operator 'aten::median' is not implemented for TPU")


def test_the_code_is_the_drafts():
    assert finish(DRAFT).endswith('"""\n\n' + CODE)


def test_the_header_says_what_happens_and_with_which_versions():
    header = ast.get_docstring(ast.parse(finish(DRAFT, {"torch": "2.13.0", "torch_tpu": "0.2.0"})))
    assert "Actual: RuntimeError: operator 'aten::median' is not" in header
    assert "Versions: torch 2.13.0, torch_tpu 0.2.0" in header


def test_the_header_of_a_crash_has_no_time_and_no_thread():
    actual = "F0000 00:00:1796026926.797565   31993 inversion.cc:112] in-place operations are not supported"
    header = ast.get_docstring(ast.parse(finish(Draft(CODE, Level.TEST, actual=actual))))
    assert "Actual: inversion.cc:112] in-place operations are not supported" in header


def test_the_header_names_no_folder_of_the_run():
    actual = "OSError: could not read /tmp/tputriage-5s1xg_cn/465-5lhx62hy/tmp8/in.txt in full"
    header = ast.get_docstring(ast.parse(finish(Draft(CODE, Level.TEST, actual=actual))))
    assert "Actual: OSError: could not read tmp8/in.txt in full" in header


def test_a_header_adds_no_line_of_code():
    assert code_lines(finish(DRAFT)) == code_lines(CODE) == 5


def test_a_header_is_replaced_not_doubled():
    once = finish(DRAFT)
    assert finish(Draft(once, Level.OP, DRAFT.operator, DRAFT.actual)) == once


def test_a_hostile_message_stays_inside_the_header():
    hostile = Draft("x = 1\n", Level.TEST, "", 'E: """\nimport os\nos.remove("\\N{DEVIL}")')
    tree = ast.parse(finish(hostile))
    assert [type(node) for node in tree.body] == [ast.Expr, ast.Assign]


def test_a_backslash_in_a_message_gives_no_warning():
    script = finish(Draft("x = 1\n", Level.TEST, "", r"E: bad escape \d in C:\new"))
    check = [sys.executable, "-W", "error", "-c", "import sys; compile(sys.stdin.read(), 'repro.py', 'exec')"]
    assert subprocess.run(check, input=script, text=True, capture_output=True).returncode == 0


def test_lines_of_the_header_are_short():
    long = Draft("x = 1\n", Level.OP, "torch.median", "RuntimeError: " + "a word " * 100)
    assert max(map(len, finish(long).splitlines())) <= 100


@pytest.mark.parametrize(
    "message", ["\0", "\ud800", '"""\nimport os\n"""', '"' * 7, "\\", "\x1b[31m", "\u2028import os", "{{ 7 }}"]
)
def test_whatever_a_message_holds_the_script_has_one_docstring_and_its_code(message):
    text = finish(Draft(CODE, Level.OP, message, message, message, message), {"torch": message})
    assert len(ast.parse(text).body) == len(ast.parse(CODE).body) + 1
    assert text.encode()
