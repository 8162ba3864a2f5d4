"""What people see on terminals of different widths."""

import io

import pytest
from rich.console import Console

from tputriage.console import Done, Lines, bar, log, notice, plural, say, set_volume, stoppable, table, visible
from tputriage.errors import InterruptError

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


def test_a_narrow_terminal_still_says_what_the_cells_are():
    assert shown(40).splitlines()[0].split() == ["bucket", "tests", "verdict", "what"]


@pytest.mark.parametrize(("asked", "longest"), [("40", 40), ("", 120), ("0", 120), ("x", 120), ("99999", 120)])
def test_a_pipe_is_as_wide_as_columns_says(capsys, monkeypatch, asked, longest):
    monkeypatch.setenv("COLUMNS", asked)
    say(Done(data={}, view=(table("", ("what",), [("word " * 60,)]),)), as_json=False)
    assert longest - 5 < max(len(line.rstrip()) for line in capsys.readouterr().out.splitlines()) <= longest


@pytest.mark.parametrize("width", [40, 69, 70, 80, 99, 100, 160])
def test_progress_shows_what_runs_now_and_what_is_left_at_any_width(width):
    file = io.StringIO()
    with bar("minimizing", Console(file=file, width=width, force_terminal=True, color_system=None)) as step:
        step(0, 12, "b2b0f2b8d17: op road: [red] torch.Tensor.median", 300.0)
    last = file.getvalue()
    assert all(word in last for word in ("b2b0f2b8d17: op road: [r", "at most 5 min left", "12"))
    assert ("\n  0 of 12 done, at most 5 min left" in last) is (width < 70)


def test_no_rows_are_the_names_alone():
    assert shown(20, ()).split() != []


def test_markup_and_control_characters_are_text():
    assert "[red]x[/red]" in shown(100, (("a", "b", "c", "[red]x[/red]\x1b[31m"),))
    assert visible("a\x1b[31m\ud800") == "a\\x1b[31m\\ud800"


def test_a_pipe_hears_of_long_work_now_and_then_with_an_estimate(capsys):
    set_volume(quiet=False, verbose=False)
    now = [0.0]
    step = Lines("comparing", clock=lambda: now[0])
    for done, at_s in ((0, 1.0), (1, 31.0), (2, 40.0), (3, 90.0)):
        now[0] = at_s
        step(done, 12, f"bucket {done}")
    now[0] = 91.0
    step(3, 12, "soon", left_s=9.0)
    now[0] = 130.0
    step(3, 12, "late", left_s=300.0)
    assert capsys.readouterr().err.splitlines() == [
        "comparing: 1 of 12 done, about 6 min left; now bucket 1",
        "comparing: 3 of 12 done, about 4 min left; now bucket 3",
        "comparing: 3 of 12 done, at most 5 min left; now late",
    ]


def test_a_log_line_has_time_and_topic_and_is_masked(capsys):
    set_volume(quiet=False, verbose=True, mask=lambda text: text.replace("ghp_x", "[token]"))
    log("github", "GET %s", "/user?ghp_x")
    line = capsys.readouterr().err
    assert (line[2], line[8:]) == (":", " github: GET /user?[token]\n")


@pytest.mark.parametrize(("quiet", "verbose", "said"), [(False, False, "n\n"), (True, False, "")])
def test_quiet_silences_notices_and_nobody_hears_logs_unasked(capsys, quiet, verbose, said):
    set_volume(quiet=quiet, verbose=verbose)
    log("worker", "a line")
    notice("n")
    assert capsys.readouterr().err == said


def test_stopping_says_what_is_kept():
    with pytest.raises(InterruptError, match="stopped; 3 of 4 are kept"), stoppable(lambda: "3 of 4 are kept"):
        raise KeyboardInterrupt


@pytest.mark.parametrize(("count", "said"), [(0, "0 tests"), (1, "1 test"), (2, "2 tests")])
def test_one_is_no_plural(count, said):
    assert plural(count, "test") == said
