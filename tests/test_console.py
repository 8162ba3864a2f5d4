"""What people see on terminals of different widths."""

import io

import pytest
from rich.console import Console

from tputriage.console import table, visible

ROWS = (("b2b0f2b8d17", "2", "tpu-only", "aten::median is not implemented for TPU"), ("b225dc8e327", "1", "infra", ""))


def shown(width, rows=ROWS):
    file = io.StringIO()
    Console(file=file, width=width, no_color=True).print(table("", ("bucket", "tests", "verdict", "what"), rows))
    return file.getvalue()


def test_a_wide_terminal_has_columns_with_names():
    assert [line.split()[0] for line in shown(100).splitlines()] == ["bucket", "b2b0f2b8d17", "b225dc8e327"]


@pytest.mark.parametrize("width", [30, 40, 50])
def test_a_narrow_terminal_breaks_no_id_and_no_verdict(width):
    lines = [line.rstrip() for line in shown(width).splitlines()]
    assert [line for line in lines if line.startswith("b2")] == ["b2b0f2b8d17  2  tpu-only", "b225dc8e327  1  infra"]
    assert all(len(line) <= width for line in lines)


def test_in_a_narrow_terminal_an_empty_last_cell_takes_no_line():
    assert shown(50).splitlines()[-1].strip() == "b225dc8e327  1  infra"


def test_no_rows_are_the_names_alone():
    assert shown(20, ()).split() != []


def test_markup_and_control_characters_are_text():
    assert "[red]x[/red]" in shown(100, (("a", "b", "c", "[red]x[/red]\x1b[31m"),))
    assert visible("a\x1b[31m\ud800") == "a\\x1b[31m\\ud800"
