"""Why a failure has the signature it has, and what keeps two buckets apart: for `tputriage explain`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from tputriage.model import Bucket, Failure, Signature
from tputriage.signatures.families import Family, family_of
from tputriage.signatures.rules import Change, changes, unwrap
from tputriage.signatures.signing import CURRENT, PAST, RuleSet, old_keys, second_key, sign

MOST_COMPARED = 2_000
_FIELDS = ("family", "exception", "operator", "template", "origin")


@dataclass(frozen=True, slots=True)
class Explanation:
    """The exact inputs of a signature and what became of them."""

    signature: Signature
    family: Family
    inputs: tuple[tuple[str, str], ...]  # the fields that the key is made of, in that order
    wrapper: str  # the exception type that was taken off, or ""
    changes: tuple[Change, ...]  # rules that changed the message, with the text before and after
    second_key: str  # where torch_tpu's C++ trace starts, "" where none was printed
    old_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The bucket most like another one, and each field in which they differ: (field, ours, theirs)."""

    bucket: Bucket
    likeness: float  # of the templates, 0 to 1
    apart: tuple[tuple[str, str, str], ...]


def explain(failure: Failure, past: Sequence[RuleSet] = PAST) -> Explanation:
    """The same steps as `sign`, with what each did."""
    signature = sign(failure)
    _, message, wrapper = unwrap(failure.exception, failure.message)
    return Explanation(
        signature,
        family_of(failure),
        _fields(signature),
        wrapper,
        changes(message, CURRENT.rules),
        second_key(failure),
        old_keys(failure, past),
    )


def nearest(bucket: Bucket, others: Iterable[Bucket]) -> Neighbour | None:
    """The most similar other bucket by template, those of its family first; None where there is no other."""
    candidates = [other for other in others if other.id != bucket.id][:MOST_COMPARED]
    if not candidates:
        return None
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(bucket.signature.template)

    def likeness(other: Bucket) -> float:
        matcher.set_seq1(other.signature.template)
        return matcher.ratio() + (other.signature.family == bucket.signature.family)

    best = max(candidates, key=likeness)
    matcher.set_seq1(best.signature.template)
    pairs = zip(_FIELDS, _fields(bucket.signature), _fields(best.signature), strict=True)
    apart = tuple((name, ours[1], theirs[1]) for name, ours, theirs in pairs if ours != theirs)
    return Neighbour(best, matcher.ratio(), apart)


def _fields(signature: Signature) -> tuple[tuple[str, str], ...]:
    values = (
        signature.family,
        signature.exception,
        signature.operator,
        signature.template,
        " ← ".join(signature.origin),
    )
    return tuple(zip(_FIELDS, values, strict=True))
