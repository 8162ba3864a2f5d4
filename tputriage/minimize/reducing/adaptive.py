"""Which of many changes to try together: runs that grow while they work, from the last change backwards.

Backwards, so that uses go before the definitions they need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Works = Callable[[Sequence[int]], bool]


def backwards(count: int, works: Works, go_on: Callable[[], bool] = lambda: True) -> int:
    """Tries the changes 0 to `count`; how many were kept. `works` keeps what it finds good and says so.

    n independent changes take O(log n) questions; each change that cannot be made costs one, and two times
    log n where it stops a run that grows.
    """
    end, kept = count, 0
    while end > 0 and go_on():
        if works([end - 1]):
            size = _growing(end - 1, works, go_on)
            kept += 1 + size
            end -= size + 1
        end -= 1  # the change that failed, or the one that stopped the run
    return kept


def _growing(end: int, works: Works, go_on: Callable[[], bool]) -> int:
    """How many changes before `end` work in one run; each try is twice as long as the one before."""
    size, step = 0, 1
    while size < end and go_on():
        step = min(2 * step, end - size)
        if not works(range(end - size - step, end - size)):
            return size + _bisecting(end - size, step, works, go_on)
        size += step
    return size


def _bisecting(end: int, failing: int, works: Works, go_on: Callable[[], bool]) -> int:
    """The longest run before `end` that works, where a run of `failing` does not."""
    size = 0
    while failing - size > 1 and go_on():
        step = (failing - size) // 2
        if works(range(end - size - step, end - size)):
            size += step
        else:
            failing = size + step
    return size
