"""A graph made smaller by torch's own fx minifier, and told as the public calls that it makes.

The minifier puts what a node gave in the place of the node, in halves and quarters of the graph, and cuts off the
end; it is asked here with a bound on time. It prints, gives up with an error where a query answers once so and
once otherwise, and knows no best so far: each is dealt with here.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Sequence
from typing import Any

from torch._functorch.fx_minifier import minifier

from .graphs import Kept, Trouble, fresh, trouble
from .ops_record import Recorder

MOST_CALLS = 64  # of a graph that is told


class Shrunk:
    """The smallest graph found that fails as the kept one does."""

    def __init__(self, kept: Kept, wanted: Trouble, deadline_s: float) -> None:
        self.module = kept.module
        self.inputs = kept.inputs
        self.wanted = wanted
        self.queries = 0
        self._options = kept.options
        self._deadline_s = deadline_s

    def shrink(self) -> None:
        # It raises where a query that failed passes when it is repeated, and at our bound: the best stands.
        quiet = contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO())
        with quiet[0], quiet[1], contextlib.suppress(Exception):
            minifier(self.module, fresh(self.inputs), self._fails, dump_state=lambda module, inputs: None)

    def _fails(self, module: Any, inputs: Sequence[Any]) -> bool:
        if time.monotonic() > self._deadline_s:
            return False
        self.queries += 1
        found = trouble(module, inputs, self._options)
        if found is None or not self.wanted.like(found):
            return False
        if calls_in(module) <= calls_in(self.module):
            self.module, self.inputs, self.wanted = module, list(inputs), found
        return True

    def told(self) -> list[dict[str, Any]]:
        """Its public calls in order, with their arguments' values, as `ops.call_of` has them."""
        recorder = Recorder(range(1, MOST_CALLS + 1), operators=False)
        inputs = fresh(self.inputs)
        with recorder.listening():
            self.module(*inputs)
        return list(recorder.history)[:MOST_CALLS]


def calls_in(module: Any) -> int:
    return sum(node.op not in ("placeholder", "output", "get_attr") for node in module.graph.nodes)
