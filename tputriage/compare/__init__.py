"""Rerun representatives on both targets and judge: the verdict of a bucket, with its evidence."""

from tputriage.compare.hardcoded import advice
from tputriage.compare.judge import Facts, judge, judge_without_runs
from tputriage.compare.order import by_file
from tputriage.compare.parts import final_buckets, moved_into
from tputriage.compare.rerun import compare
from tputriage.compare.statistics import repeats_needed, wilson

__all__ = [
    "Facts",
    "advice",
    "by_file",
    "compare",
    "final_buckets",
    "judge",
    "judge_without_runs",
    "moved_into",
    "repeats_needed",
    "wilson",
]
