"""What a command says, and how: one answer to standard output, everything else to standard error.

A command's answer is a `Done`: the JSON object for machines, a renderable for people, and the exit code.
Long work shows a bar on a terminal, and in a pipe a line now and then. `log` is what `-v` shows, `notice` what `-q`
silences: both go through one logger, whose one handler masks and writes them.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from tputriage.errors import InputError, InterruptError, TriageError

PIPE_WIDTH = 120  # columns where standard output is no terminal, and COLUMNS says no other number
WIDE, NARROW = 100, 70  # columns of a terminal from which progress has a bar, and below which it takes two lines
LINE_S = 30.0  # a line of progress in a pipe, at most every so often
WRAPS = 24  # a cell that is wider may be wrapped; ids, counts and verdicts are not


@dataclass(frozen=True, slots=True)
class Done:
    """What a command has to say at its end."""

    data: Mapping[str, Any]  # the JSON object of --json
    view: tuple[RenderableType, ...] = ()  # the same for people
    code: int = 0  # 1 where something asked for could not be achieved; `data` names it
    notes: tuple[str, ...] = field(default_factory=tuple)  # for standard error


class Steps(Protocol):
    """Where long work says how far it is; `left_s` is the most that can be left, where a budget ends the work."""

    def __call__(self, done: int, total: int, what: str, left_s: float | None = None) -> None: ...


class _Handler(logging.Handler):
    """One line on standard error a record: a notice as it is, a log line with its time and topic, both masked."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__()
        self._mask = mask

    def emit(self, record: logging.LogRecord) -> None:
        text = self._mask(record.getMessage())
        topic = record.name.removeprefix(_LOG.name).removeprefix(".")
        at = time.strftime("%H:%M:%S", time.localtime(record.created))
        tell(f"{at} {topic}: {text}" if topic else text)


_LOG = logging.getLogger("tputriage")
_LOG.addHandler(logging.NullHandler())


def set_volume(*, quiet: bool, verbose: bool, mask: Callable[[str], str] = str) -> None:
    """What reaches standard error from here on: `-q` and `-v`; `mask` keeps secrets out of it."""
    _LOG.handlers = [_Handler(mask)]
    _LOG.propagate = False
    _LOG.setLevel(logging.DEBUG if verbose else logging.ERROR if quiet else logging.INFO)


def log(topic: str, text: str, *values: object) -> None:
    """For who gave -v: `text` takes its values with %, which costs nothing where nobody listens."""
    _LOG.getChild(topic).debug(text, *values)


def notice(text: str) -> None:
    """For everyone who did not say -q: something went on that explains why a command takes its time."""
    _LOG.info("%s", text)


def say(done: Done, *, as_json: bool, quiet: bool = False) -> None:
    """Print a command's answer; raises TriageError where standard output takes none, as on a full disk."""
    if not quiet:
        for note in done.notes:
            tell(note)
    try:
        _answer(done, as_json)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise TriageError(f"the answer cannot be written to standard output: {exc.strerror or exc}") from exc


def _answer(done: Done, as_json: bool) -> None:
    if as_json:  # JSON is UTF-8, whatever the terminal speaks
        sys.stdout.flush()
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(done.data), indent=2) + b"\n")
        return
    out = Console(width=None if sys.stdout.isatty() else _pipe_width(), soft_wrap=False, highlight=False)
    for part in done.view:
        # Text goes out as it is: wrapped, a script or an issue's table could not be pasted.
        out.print(Text(visible(part)) if isinstance(part, str) else part, soft_wrap=isinstance(part, str))


def _pipe_width() -> int:
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if re.fullmatch(r"[1-9][0-9]{0,3}", asked) else PIPE_WIDTH


def tell(text: str) -> None:
    """One plain line on standard error; control characters out of a test's output are shown, not obeyed."""
    sys.stderr.write(visible(text) + "\n")


def plural(count: int, word: str) -> str:
    """`1 test`, `2 tests`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def confirm(question: str) -> bool:
    """Ask on a terminal; raises InputError where there is none to ask on."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError("there is no terminal to ask on: look at --dry-run, then give --yes; nothing was written")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def visible(text: str) -> str:
    """The text with control characters and lone surrogates made harmless for a terminal."""
    kept = (char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)
    return "".join(kept).encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows under their columns; on a terminal too narrow for that, each row as a block with its last cell below."""

    wide: Table
    rows: tuple[tuple[str, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self.rows or self._least() <= options.max_width:
            yield self.wide
            return
        yield Text("  ".join(filter(None, (str(column.header) for column in self.wide.columns))))
        for row in self.rows:
            yield Text("  ".join(filter(None, row[:-1])), style="bold")
            if row[-1]:
                yield Padding(Text(row[-1], overflow="fold"), (0, 0, 0, 2))

    def _least(self) -> int:
        """Columns of the terminal with which only long cells are broken."""
        names = [str(column.header) for column in self.wide.columns]
        widths = [max(map(len, column)) for column in zip(names, *self.rows, strict=True)]
        return sum(min(width, WRAPS) for width in widths) + 2 * (len(widths) - 1)


def table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]], *, right: Iterable[str] = ()) -> Listing:
    """A table whose cells are plain text: nothing in them is taken for markup."""
    made = Table(title=title or None, title_justify="left", pad_edge=False, box=None, header_style="bold")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    shown = tuple(tuple(visible(cell) for cell in row) for row in rows)
    for row in shown:
        made.add_row(*map(Text, row))
    return Listing(made, shown)


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Steps]:
    """A bar on a terminal, a line now and then in a pipe; the value yielded takes (done, total, what runs now)."""
    if quiet or _LOG.isEnabledFor(logging.DEBUG):
        yield lambda done, total, what, left_s=None: log("progress", "%d of %d: %s", done, total, what)
    elif sys.stderr.isatty():
        with bar(what, Console(stderr=True)) as step:
            yield step
    else:
        yield Lines(what)


@contextmanager
def stoppable(kept: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C inside ends with a sentence that says what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt as exc:
        raise InterruptError(f"stopped; {kept()}") from exc


class Lines:
    """Progress for a pipe or a CI job's log: silent at first, so that quick work says nothing."""

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._clock = what, clock
        self._began = self._said = clock()

    def __call__(self, done: int, total: int, what: str, left_s: float | None = None) -> None:
        now = self._clock()
        if now - self._said < LINE_S:
            return
        self._said = now
        left = _left(now - self._began, done, total, left_s)
        notice(f"{self._what}: {done} of {total} done{left and f', {left}'}; now {what}")


@contextmanager
def bar(name: str, console: Console) -> Iterator[Steps]:
    """For a terminal: what runs now comes first, and gets the room of what a narrow one cannot show."""
    wide, narrow = console.width >= WIDE, console.width < NARROW
    room = console.width - (60 if wide else 3 if narrow else 40)
    counts = () if narrow else (MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        *((BarColumn(bar_width=20),) if wide else ()),
        *counts,
    )
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task(name, total=None, left="")
        began = time.monotonic()

        def step(done: int, total: int, what: str, left_s: float | None = None) -> None:
            left = _left(time.monotonic() - began, done, total, left_s)
            now = shorten(visible(f"{name}: {what}" if wide else what), room)
            below = f"\n{done} of {total} done{left and f', {left}'}" if narrow else ""
            shown.update(task, completed=done, total=total, description=f"{escape(now)}{below}", left=left)

        yield step


def shorten(text: str, longest: int) -> str:
    """One line of at most `longest` characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _left(took_s: float, done: int, total: int, most_s: float | None) -> str:
    """From the pace so far, unless the most that can be left is known; "" where neither tells anything."""
    if most_s is None and not done:
        return ""
    seconds = took_s / done * (total - done) if most_s is None else most_s
    words = f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(1, seconds):.0f} s"
    return f"{'about' if most_s is None else 'at most'} {words} left"
