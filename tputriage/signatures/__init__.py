"""What makes two failures the same bug: normalise, sign, bucket, explain. Pure; reads no file."""

from tputriage.signatures.explaining import Explanation, Neighbour, explain, nearest
from tputriage.signatures.families import Family, Identity, Kind, family_of
from tputriage.signatures.grouping import Regrouped, group, regroup
from tputriage.signatures.signing import CURRENT, PAST, RuleSet, old_keys, same_bug, second_key, sign
from tputriage.signatures.speaking import spoken
from tputriage.signatures.titles import title_of, unstamped

__all__ = [
    "CURRENT",
    "PAST",
    "Explanation",
    "Family",
    "Identity",
    "Kind",
    "Neighbour",
    "Regrouped",
    "RuleSet",
    "explain",
    "family_of",
    "group",
    "nearest",
    "old_keys",
    "regroup",
    "same_bug",
    "second_key",
    "sign",
    "spoken",
    "title_of",
    "unstamped",
]
