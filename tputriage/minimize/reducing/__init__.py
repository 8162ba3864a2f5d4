"""Test-case reduction of Python scripts: one engine, small passes, a driver that mixes them.

Knows nothing of devices: it asks an oracle and, where it is given one, a tracer.
"""

from tputriage.minimize.reducing.driver import reduce_source
from tputriage.minimize.reducing.facts import Facts, tracer
from tputriage.minimize.reducing.sizes import tokens_of

__all__ = ["Facts", "reduce_source", "tokens_of", "tracer"]
