"""What the user decided about filing, and what can be said of versions and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import InvalidVersion, Version

from tputriage.issues.masks import Cleaner
from tputriage.model import Run, Sighting

DEVICE_VERSION = "torch_tpu"
GENERATION = ("tpu_generation", "tpu", "accelerator")  # keys under which a report may name the hardware


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that the plan is decided by besides the dossiers and the issues."""

    repository: str = "google-pytorch/torch_tpu"
    upstream: str = ""  # the suite's repository; "" files nothing there
    allow_emulator: bool = False
    close_fixed: bool = False
    max_new: int = 5
    labels: tuple[str, ...] = ()
    veto_label: str = "tputriage: ignore"
    respected: tuple[str, ...] = ("wontfix", "duplicate")
    authors: frozenset[str] = frozenset()  # logins whose marks count: our own, and those the settings allow
    distinct: frozenset[str] = frozenset()  # buckets that are known not to be any issue people filed
    emulators: frozenset[str] = frozenset({"emulator"})  # targets that are no hardware
    references: frozenset[str] = frozenset({"cpu"})
    flaky_rate: float = 0.25  # a flake that fails less often is not filed
    reliability: float = 0.5  # share of fresh processes in which a repro must fail
    fixed_runs: int = 3  # passing runs on each place before a fix is believed
    versions: Mapping[str, str] = field(default_factory=dict)  # installed now
    settings: Mapping[str, str] = field(default_factory=dict)  # name of a setting that was tried -> how to make it
    templates: Path | None = None
    cleaner: Cleaner = field(default_factory=Cleaner)

    @property
    def barred(self) -> frozenset[str]:
        """Labels that keep us away from an issue for good, in lower case."""
        return frozenset(label.lower() for label in (*self.respected, self.veto_label) if label)


def order_of(version: str) -> Version | None:
    """A version that can be compared, or None: what cannot be ordered never decides anything."""
    try:
        return Version(version)
    except InvalidVersion:
        return None


def is_newer(version: str, than: str) -> bool:
    """Surely newer: False where either cannot be ordered."""
    left, right = order_of(version), order_of(than)
    return left is not None and right is not None and left > right


def newest(versions: tuple[str, ...]) -> str:
    """The newest of those that can be ordered; "" where none can."""
    known = [(order, version) for version in versions if (order := order_of(version)) is not None]
    return max(known)[1] if known else ""


def place_of(item: Run | Sighting) -> str:
    """The TPU generation where it is known, else the target's name; "" where neither is."""
    return next((item.versions[key] for key in GENERATION if item.versions.get(key)), item.target)
