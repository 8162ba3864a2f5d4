"""The pass rate over time as geometry."""

from tests.dashboard.values import a_row
from tputriage.dashboard import Links, board_of
from tputriage.dashboard.chart import HEIGHT, LEFT, RIGHT, RUNS_SHOWN, SERIES_SHOWN, WIDTH, chart_of


def chart(*rows):
    return chart_of(board_of([], rows, Links()))


def test_a_higher_rate_stands_higher_and_a_later_run_further_right():
    low, high = chart(a_row(0, passed=1, failed=9), a_row(1, passed=9, failed=1)).series[0].marks
    assert (low.x < high.x, low.y > high.y) == (True, True)


def test_all_and_none_passing_are_the_top_and_the_bottom_line():
    made = chart(a_row(0, passed=9, failed=0), a_row(1, passed=0, failed=9))
    assert [mark.y for mark in made.series[0].marks] == [made.grid[-1][0], made.grid[0][0]]


def test_one_run_stands_in_the_middle():
    mark = chart(a_row(0)).series[0].marks[0]
    assert mark.x == LEFT + (WIDTH - LEFT - RIGHT) / 2


def test_each_suite_has_a_line_of_its_own():
    made = chart(a_row(0), a_row(1, suite="peft"), a_row(2))
    assert [(one.suite, len(one.marks)) for one in made.series] == [("diffusers", 2), ("peft", 1)]
    assert len({one.number for one in made.series}) == 2


def test_many_runs_stay_inside_and_what_is_left_out_is_counted():
    made = chart(*(a_row(number) for number in range(RUNS_SHOWN + 20)))
    marks = made.series[0].marks
    assert all(LEFT <= mark.x <= WIDTH and 0 <= mark.y <= HEIGHT for mark in marks)
    assert (len(marks), made.left_out, marks[-1].run.source) == (RUNS_SHOWN, 20, f"night-{RUNS_SHOWN + 19}.json")


def test_more_suites_than_colours_are_left_out_and_counted():
    made = chart(*(a_row(number, suite=f"suite{number}") for number in range(SERIES_SHOWN + 2)))
    assert (len(made.series), made.left_out) == (SERIES_SHOWN, 2)


def test_a_run_without_a_rate_is_no_point():
    assert chart(a_row(0, passed=0, failed=0)).series == ()


def test_runs_of_one_day_are_told_apart_by_their_time():
    days = [label for _, label, _ in chart(a_row(0), a_row(1), a_row(2)).ticks]
    hours = [label for _, label, _ in chart(a_row(0), a_row(0, source="later")).ticks]
    assert [len(label) for label in days + hours] == [10, 10, 16, 16]
