"""An exception as JSON values, with the fields of `model.Failure`.

Never calls `repr` on arguments or locals: the repr of a tensor on the device compiles dozens of small programs
(13 s for one failure with pytest's default style). An exception whose own `str` raises is recorded all the same.
"""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

LONGEST_TEXT = 64_000
MOST_FRAMES = 200
MOST_CAUSES = 8
_HERE = str(Path(__file__).resolve().parent) + os.sep
# Frames of the machinery that called the test, as pytest leaves them out of its reports too.
_MACHINERY = (
    f"{os.sep}_pytest{os.sep}",
    f"{os.sep}pluggy{os.sep}",
    _HERE,
    f"{os.sep}unittest{os.sep}case.py",
    "<frozen runpy>",
)


def failure(exc: BaseException, *, test_id: str, phase: str, outcome: str, root: str = "") -> dict[str, Any]:
    """The record of `exc`, its paths relative to `root` where they lie inside."""
    return {
        "test_id": test_id,
        "phase": phase,
        "outcome": outcome,
        "exception": type_name(exc),
        "message": message_of(exc),
        "frames": frames(exc.__traceback__, root),
        "text": cut_middle("".join(_lines(exc)), LONGEST_TEXT),
        "causes": [f"{type_name(cause)}: {message_of(cause)}" for cause in causes(exc)],
    }


def script_failure(exc: BaseException, name: str, folder: str) -> dict[str, Any]:
    """The record of what made a script fail; leaving with a code other than 0 is one too."""
    found = failure(exc, test_id=name, phase="call", outcome="failed", root=folder)
    return found | {"message": f"the script left with code {exc.code!r}"} if isinstance(exc, SystemExit) else found


def plain_failure(message: str, *, test_id: str, phase: str, outcome: str, exception: str = "") -> dict[str, Any]:
    """A failure that no exception tells of."""
    return {
        "test_id": test_id,
        "phase": phase,
        "outcome": outcome,
        "exception": exception,
        "message": message,
        "frames": [],
        "text": message,
        "causes": [],
    }


def type_name(exc: BaseException) -> str:
    """As tracebacks write it: with its module, unless that is builtins or the script itself."""
    kind = type(exc)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"


def message_of(exc: BaseException) -> str:
    """The exception's own text, cut in its middle where huge."""
    try:
        text = str(exc)
    except BaseException as refusal:
        text = f"<the message cannot be shown: str() raised {type(refusal).__name__}>"
    return cut_middle(text, LONGEST_TEXT)


def frames(trace: TracebackType | None, root: str = "") -> list[dict[str, Any]]:
    """Outermost first, without the machinery that called the test; all of them where nothing else is left."""
    found = [_frame(frame, line, root) for frame, line in traceback.walk_tb(trace)]
    kept = [entry for entry in found if not _is_machinery(entry["path"])] or found
    if len(kept) > MOST_FRAMES:
        kept = kept[: MOST_FRAMES // 2] + kept[-MOST_FRAMES // 2 :]
    return kept


def causes(exc: BaseException) -> Iterator[BaseException]:
    """What `exc` was raised from or while handling, nearest first."""
    seen = {id(exc)}
    for _ in range(MOST_CAUSES):
        following = exc.__cause__ or (None if exc.__suppress_context__ else exc.__context__)
        if following is None or id(following) in seen:
            return
        seen.add(id(following))
        yield following
        exc = following


def _is_machinery(path: str) -> bool:
    return any(part in path for part in _MACHINERY)


def cut_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def _frame(frame: Any, line: int, root: str) -> dict[str, Any]:
    path = frame.f_code.co_filename
    text = linecache.getline(path, line, frame.f_globals).strip()
    inside = root and path.startswith(root.rstrip(os.sep) + os.sep)
    shown = os.path.relpath(path, root) if inside else path
    return {"path": shown, "line": line, "function": frame.f_code.co_name, "text": text[:1000]}


def _lines(exc: BaseException) -> list[str]:
    trace = exc.__traceback__
    while trace is not None and trace.tb_next is not None and _is_machinery(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    try:
        return traceback.format_exception(type(exc), exc, trace)
    except BaseException:
        shown = traceback.format_list(traceback.extract_tb(trace))
        return ["Traceback (most recent call last):\n", *shown, f"{type_name(exc)}: {message_of(exc)}\n"]
