"""The pass rate over time as the geometry of an inline SVG; the template draws it.

Runs stand at equal distances in the order of their times, as ten runs of one night and one of last month could not
be told apart on a true time axis. The rate's axis is always 0 to 100 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tputriage.dashboard.numbers import Board, RunPoint

WIDTH, HEIGHT = 760, 240
LEFT, RIGHT, TOP, BOTTOM = 46, 16, 14, 30
RUNS_SHOWN = 80  # the newest; more could not be pointed at
SERIES_SHOWN = 6  # as many as have a colour and a shape of their own


@dataclass(frozen=True, slots=True)
class Mark:
    """One run on the chart."""

    x: float
    y: float
    run: RunPoint


@dataclass(frozen=True, slots=True)
class Series:
    """The runs of one suite; `number` chooses its colour and shape."""

    suite: str
    number: int
    marks: tuple[Mark, ...]

    @property
    def path(self) -> str:
        """The line through its marks, for the `points` of a polyline."""
        return " ".join(f"{mark.x:g},{mark.y:g}" for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Chart:
    series: tuple[Series, ...]
    grid: tuple[tuple[float, str], ...]  # (y, label)
    ticks: tuple[tuple[float, str, str], ...]  # (x, label, anchor)
    left_out: int  # older runs, and runs of further suites
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


def chart_of(board: Board) -> Chart:
    """Every run that ran to an end, up to the limits above."""
    suites = board.suites[-SERIES_SHOWN:]
    able = [run for run in board.runs if run.rate is not None]
    shown = [run for run in able if run.suite in suites][-RUNS_SHOWN:]
    places = _places(len(shown))
    marks = [Mark(x, _height(run.rate or 0.0), run) for x, run in zip(places, shown, strict=True)]
    series = (
        Series(suite, number, tuple(mark for mark in marks if mark.run.suite == suite))
        for number, suite in enumerate(suites)
    )
    return Chart(
        series=tuple(one for one in series if one.marks),
        grid=tuple((_height(share / 100), f"{share} %") for share in (0, 25, 50, 75, 100)),
        ticks=tuple(_ticks(marks)),
        left_out=len(able) - len(shown),
    )


def _places(count: int) -> list[float]:
    room = WIDTH - LEFT - RIGHT
    if count == 1:
        return [LEFT + room / 2]
    return [round(LEFT + 12 + (room - 24) * number / (count - 1), 1) for number in range(count)]


def _height(rate: float) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - rate), 1)


def _ticks(marks: Sequence[Mark]) -> list[tuple[float, str, str]]:
    """The days of the first and the last run, and of the one in the middle; with the time where a day is not enough."""
    if len(marks) < 2:
        return [(mark.x, mark.run.day, "middle") for mark in marks]
    shown = [marks[0], marks[len(marks) // 2], marks[-1]] if len(marks) > 4 else [marks[0], marks[-1]]
    days = [mark.run.day[:10] for mark in shown]
    texts = days if len(set(days)) == len(days) else [mark.run.day for mark in shown]
    anchors = ("start", "middle", "end") if len(shown) > 2 else ("start", "end")
    return [(mark.x, text, anchor) for mark, text, anchor in zip(shown, texts, anchors, strict=True)]
