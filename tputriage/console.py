"""What a command says, and how: one answer to standard output, everything else to standard error.

A command's answer is a `Done`: the JSON object for machines, a renderable for people, and the exit code.
On a terminal long work shows a progress bar; in a pipe it shows nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tputriage.errors import InputError, TriageError

PIPE_WIDTH = 120  # columns where standard output is no terminal
WRAPS = 24  # a cell that is wider may be wrapped; ids, counts and verdicts are not


@dataclass(frozen=True, slots=True)
class Done:
    """What a command has to say at its end."""

    data: Mapping[str, Any]  # the JSON object of --json
    view: tuple[RenderableType, ...] = ()  # the same for people
    code: int = 0  # 1 where something asked for could not be achieved; `data` names it
    notes: tuple[str, ...] = field(default_factory=tuple)  # for standard error


class Steps(Protocol):
    """Where long work says how far it is."""

    def __call__(self, done: int, total: int, what: str) -> None: ...


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
    out = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, soft_wrap=False, highlight=False)
    for part in done.view:
        # Text goes out as it is: wrapped, a script or an issue's table could not be pasted.
        out.print(Text(visible(part)) if isinstance(part, str) else part, soft_wrap=isinstance(part, str))


def tell(text: str) -> None:
    """One plain line on standard error; control characters out of a test's output are shown, not obeyed."""
    sys.stderr.write(visible(text) + "\n")


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
    """A bar on a terminal, nothing in a pipe; the value yielded is called with (done, total, what runs now)."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total, what: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def step(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=visible(what)[:60])

        yield step
