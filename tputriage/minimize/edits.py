"""The one engine of the passes: it walks the libcst tree, chooses runs of sites, and asks.

A pass says which nodes it would change and to what; it never loops and never asks. The engine takes the sites of
one depth from the end of the script backwards, so that uses go before definitions and outer blocks before what is
in them; it grows a run of changes while the answer is yes. Every accepted candidate is strictly smaller than the
one before (`size`), so that any order of passes comes to an end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import libcst as cst

from tputriage.minimize.interesting import Oracle
from tputriage.minimize.names import normal_form

Replacement: TypeAlias = cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]
Change: TypeAlias = Callable[[cst.CSTNode], Sequence[Replacement]]
Units: TypeAlias = Sequence[Sequence[int]]
MOST_OPTIONS = 6
MOST_DEPTHS = 30
REFUSALS = (cst.CSTValidationError, TypeError, AttributeError, ValueError, IndexError)


@dataclass(frozen=True, slots=True)
class Pass:
    """A kind of edit. `propose` looks at the module once and gives what each node may become, boldest first."""

    name: str
    order: int  # passes run in this order: what shortens most comes first
    propose: Callable[[cst.Module], Change]
    tie: Callable[[cst.CSTNode], Hashable] | None = None  # nodes that are alike change together
    bundle: Callable[[Sequence[cst.CSTNode]], Units] | None = None  # or, which sites change together


@dataclass
class Reduction:
    """The best source so far, and the one door to a better one."""

    best: str
    oracle: Oracle
    on_progress: Callable[[str], None] = lambda source: None
    ahead: int = 1  # candidates asked at once
    patience: int = 25  # misses after which a pass is put off
    misses: int = 0
    put_off: bool = False
    _tried: set[str] = field(default_factory=set)

    @property
    def over(self) -> bool:
        return self.oracle.exhausted

    def first(self, sources: Sequence[str | None], *, any_size: bool = False) -> int | None:
        """Adopts the first of the candidates that is smaller, new and interesting; its index or None."""
        least = size(self.best)
        fresh = [place for place, source in enumerate(sources) if source and self._is_new(source, least, any_size)]
        chosen = self.oracle.first([sources[place] or "" for place in fresh]) if fresh else None
        if chosen is None:
            self.misses += bool(fresh)
            return None
        self.misses = 0
        self.best = sources[fresh[chosen]] or ""
        self.on_progress(self.best)
        return fresh[chosen]

    def consider(self, source: str | None, *, any_size: bool = False) -> bool:
        return self.first([source], any_size=any_size) is not None

    def _is_new(self, source: str, least: tuple[int, ...], any_size: bool) -> bool:
        key = normal_form(source)
        if key is None or key in self._tried or (not any_size and size(source) >= least):
            return False
        self._tried.add(key)
        return True

    def tired(self) -> bool:
        """Whether the pass at work is to be put off."""
        self.put_off = self.put_off or self.misses >= self.patience
        return self.over or self.misses >= self.patience


def size(source: str) -> tuple[int, int, int, int]:
    """Smaller is better: statements, then nodes of the tree, then the numbers' sizes, then characters."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    statements = sum(isinstance(node, (ast.stmt, ast.ExceptHandler)) for node in nodes)
    weight = sum(_weight(node.value) for node in nodes if isinstance(node, ast.Constant))
    real = sum(1 for node in nodes if not isinstance(node, (ast.expr_context, ast.operator, ast.alias)))
    return statements, real, weight, len(ast.unparse(tree))


def _weight(value: object) -> int:
    if isinstance(value, bool) or value is None:
        return 0
    if isinstance(value, int | float):
        return min(int(abs(value)), 10**9) + 2 * len(repr(value)) if value == value and abs(value) < 1e300 else 50
    return len(value) if isinstance(value, str | bytes) else 0


@dataclass(frozen=True, slots=True)
class Sites:
    """Where a pass can act: nodes in the order of the script, and which of them change together."""

    module: cst.Module
    change: Change
    units: tuple[tuple[cst.CSTNode, ...], ...]


def run_pass(edit: Pass, work: Reduction) -> None:
    """One turn of a pass: each of its options at each depth, once."""
    work.misses = 0
    for option in range(MOST_OPTIONS):
        for depth in range(MOST_DEPTHS):
            found = find_sites(edit, work.best, option, depth)
            if found is None:
                break
            _run_level(found, option, work)
            if work.tired():
                return
        if option and depth == 0:
            return


def _run_level(found: Sites, option: int, work: Reduction) -> None:
    chosen: list[cst.CSTNode] = []

    def written(start: int, stop: int) -> str | None:
        more = [node for unit in found.units[start:stop] for node in unit]
        return edited(found.module, found.change, [*chosen, *more], option)

    def attempt(runs: Sequence[tuple[int, int]]) -> int | None:
        place = work.first([written(*run) for run in runs])
        if place is not None:
            start, stop = runs[place]
            chosen.extend(node for unit in found.units[start:stop] for node in unit)
        return place

    adaptively(len(found.units), attempt, work.tired, work.ahead)


def adaptively(
    count: int,
    attempt: Callable[[Sequence[tuple[int, int]]], int | None],
    tired: Callable[[], bool] = lambda: False,
    ahead: int = 1,
) -> None:
    """Asks for runs [start, stop) of `count` sites from the end: all, then single ones, grown while they work.

    `attempt` gives the index of the first run that was taken; runs given together are tried side by side. n
    sites that can all go take one question; k that must stay take about 2 k log(n / k).
    """
    if count > 1 and attempt([(0, count)]) is not None:
        return
    stop = count
    while stop > 0 and not tired():
        singles = [(place - 1, place) for place in range(stop, max(0, stop - ahead), -1)]
        taken = attempt(singles)
        if taken is None:
            stop -= len(singles)
        else:
            stop -= taken
            length = _grown(stop, attempt)
            stop -= length + 1  # the site before a run that could not grow has been asked with it


def _grown(stop: int, attempt: Callable[[Sequence[tuple[int, int]]], int | None]) -> int:
    """Length of the longest run that ends at `stop`, its last site being taken already."""
    good, bad = 1, stop + 1
    while good < bad - 1 and bad > stop:
        following = min(2 * good, stop)
        if attempt([(stop - following, stop - good)]) is None:
            bad = following
        else:
            good = following
    while bad - good > 1:
        middle = (good + bad) // 2
        if attempt([(stop - middle, stop - good)]) is None:
            bad = middle
        else:
            good = middle
    return good


def find_sites(edit: Pass, source: str, option: int, depth: int) -> Sites | None:
    """The sites at a depth; None where there are none so deep."""
    module = cst.parse_module(source)
    change = edit.propose(module)
    finder = _Finder(change, option)
    module.visit(finder)
    nodes = [node for node, at in finder.found if at == depth or edit.bundle or edit.tie]
    if not nodes or (depth and (edit.bundle or edit.tie)):
        return None
    return Sites(module, change, _units(edit, nodes))


def _units(edit: Pass, nodes: Sequence[cst.CSTNode]) -> tuple[tuple[cst.CSTNode, ...], ...]:
    if edit.bundle is not None:
        return tuple(tuple(nodes[place] for place in unit) for unit in edit.bundle(nodes))
    if edit.tie is None:
        return tuple((node,) for node in nodes)
    tied: dict[Hashable, list[cst.CSTNode]] = {}
    for node in nodes:
        tied.setdefault(edit.tie(node), []).append(node)
    return tuple(map(tuple, tied.values()))


def edited(module: cst.Module, change: Change, nodes: Sequence[cst.CSTNode], option: int) -> str | None:
    """The module's text with these nodes changed; None where libcst refuses the result."""
    try:
        code = module.visit(_Editor(change, {id(node) for node in nodes}, option)).code
    except REFUSALS:
        return None
    return code


class _Finder(cst.CSTVisitor):
    """Collects the nodes that a change applies to, with how many others they are in."""

    def __init__(self, change: Change, option: int) -> None:
        super().__init__()
        self._change = change
        self._option = option
        self._open: list[cst.CSTNode] = []
        self.found: list[tuple[cst.CSTNode, int]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if len(self._change(node)) > self._option:
            self.found.append((node, len(self._open)))
            self._open.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self._open and self._open[-1] is original_node:
            self._open.pop()


class _Editor(cst.CSTTransformer):
    def __init__(self, change: Change, chosen: set[int], option: int) -> None:
        super().__init__()
        self._change = change
        self._chosen = chosen
        self._option = option

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Replacement:  # type: ignore[override]
        if id(original_node) not in self._chosen:
            return updated_node
        options = self._change(updated_node)
        return options[self._option] if self._option < len(options) else updated_node
