"""What each road is sent for: the test, the failure it is to show, where to run, and whom to tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tputriage.minimize.interesting import Interesting
from tputriage.model import Signature
from tputriage.targets.runs import Subject
from tputriage.targets.seam import Runner

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Errand:
    """`oracle` is this road's alone. `on_better` gets every script that fails as wanted, each better than the last."""

    test_id: str
    wanted: Signature
    device: Runner
    reference: Runner
    oracle: Interesting
    limit_s: float = 120.0
    say: Say = lambda said: None
    on_better: Say = lambda source: None
    elsewhere: tuple[str, ...] = ()  # calls done on CPU: the failure is one behind them
    script: str = ""  # what the test became, where that is listened to in its place

    @property
    def subject(self) -> Subject:
        """What is listened to."""
        return {"source": self.script} if self.script else self.original

    @property
    def original(self) -> Subject:
        """What a cause is proven on: the test, whatever it became; the script where there never was one."""
        return {"test_id": self.test_id} if self.test_id else {"source": self.script}

    @property
    def what(self) -> str:
        return "script" if self.script else "test"
