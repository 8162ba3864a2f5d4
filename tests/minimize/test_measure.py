"""How large a script is."""

from tputriage.minimize.measure import code_lines, code_tokens, third_party_imports

SCRIPT = '''"""A header

of three lines.
"""

import sys

import torch  # a comment

# Another one.
x = torch.full(
    (2, 3),
    1.0,
)
torch.median(x)
'''


def test_header_comments_and_blank_lines_do_not_count():
    assert code_lines(SCRIPT) == 7


def test_a_header_adds_no_tokens():
    assert code_tokens('"""Header."""\nx = 1\n') == code_tokens("x = 1  # one\n") == 3


def test_a_script_without_header_counts_all_its_lines():
    assert code_lines("x = 1\ny = 2\n") == 2


def test_the_standard_library_is_no_import():
    assert third_party_imports("import os.path\nimport sys, torch.nn\nfrom numpy import array\n") == ("torch", "numpy")


def test_relative_imports_are_no_package():
    assert third_party_imports("from . import helpers\nfrom __future__ import annotations\n") == ()
