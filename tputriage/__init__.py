"""From a red TPU run to a small, verified, deduplicated bug report."""

__version__ = "0.1.0"
