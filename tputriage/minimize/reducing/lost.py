"""What a script must not lose on its way down, or chance passes for the bug: told of each candidate without a run.

A script that is no longer told its device does the same on both targets; one that judges numbers which no seed
governs fails here and passes there as the numbers fall. Measured: both were found, and accepted.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from tputriage.minimize.names import RANDOM, name_of
from tputriage.minimize.reducing.sizes import parse
from tputriage.minimize.trees import is_argument

UNWRITTEN = frozenset({"empty", "empty_like", "new_empty", "empty_strided"})  # no seed governs them
DRAWS = RANDOM - UNWRITTEN | {"random", "uniform", "choice", "shuffle", "sample", "integers", "exponential_"}
SEEDS = frozenset(
    {"manual_seed", "manual_seed_all", "seed", "seed_all", "default_rng", "RandomState", "Generator", "Random",
     "set_rng_state", "seed_everything", "set_seed", "enable_full_determinism"}
)  # fmt: skip
JUDGES = ("assert", "fail", "allclose", "array_equal")


@lru_cache(maxsize=64)  # the best so far is asked about with each candidate
def lost(source: str) -> frozenset[str]:
    """In words; a candidate is refused for what the best so far had not lost."""
    tree = parse(source)
    if tree is None:
        return frozenset()
    found = set() if any(map(is_argument, ast.walk(tree))) else {"it is not told its device"}
    called = {name_of(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    if _judges(tree, called) and called & DRAWS and not called & SEEDS:
        found.add("it judges numbers that no seed governs")
    return frozenset(found)


def _judges(tree: ast.Module, called: set[str]) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(tree)) or any(
        name.startswith(JUDGES) for name in called
    )
