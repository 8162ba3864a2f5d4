"""Buckets whose members turn out not to be one bug: split by what the runs say, or moved to their real error.

A part keeps the signature's words and gets an identity of its own, derived from the bucket's key, so that the
next report splits the same way into the same parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tputriage.model import Bucket, Failure, Signature, VerdictKind
from tputriage.signatures import sign, title_of

ID_DIGITS = 10  # hex digits of a key in a bucket's id
WORDS_SHOWN = 110


def bucket_id(signature: Signature) -> str:
    return f"b{signature.key[:ID_DIGITS]}"


def split(bucket: Bucket, kinds: Mapping[str, VerdictKind]) -> list[Bucket]:
    """Parts of a bucket by the verdict kind of each test; the largest keeps the bucket's id, and comes first.

    Tests without a kind of their own stay with the largest part: nothing that was seen sets them apart.
    """
    groups: dict[VerdictKind, set[str]] = {}
    for test_id, kind in kinds.items():
        groups.setdefault(kind, set()).add(test_id)
    ranked = sorted(groups, key=lambda kind: (-len(groups[kind]), kind.value))
    apart = [_part(bucket, kind, groups[kind]) for kind in ranked[1:]]
    gone = {test_id for kind in ranked[1:] for test_id in groups[kind]}
    rest = tuple(failure for failure in bucket.failures if failure.test_id not in gone)
    return [replace(bucket, failures=rest), *apart]


def _part(bucket: Bucket, kind: VerdictKind, tests: set[str]) -> Bucket:
    key = hashlib.sha256(f"{bucket.signature.key} {kind.value}".encode()).hexdigest()
    signature = replace(bucket.signature, key=key)
    return Bucket(
        id=bucket_id(signature),
        signature=signature,
        title=bucket.title,
        failures=tuple(failure for failure in bucket.failures if failure.test_id in tests),
    )


def rehome(buckets: Sequence[Bucket], found: Iterable[tuple[Failure, Failure]]) -> list[Bucket]:
    """`buckets` after each (failure as reported, its real error) pair went where the real error belongs.

    That is the bucket that has this signature already, else a new one. What a bucket loses all its failures
    to is left out. The moved failure keeps the reported phase, so that it can be found again in the report.
    """
    after = list(buckets)
    for reported, real in found:
        moved = replace(real, phase=reported.phase, causes=(*real.causes, _words(reported)))
        after = [_less(bucket, reported) for bucket in after]
        after = _add(after, moved)
    return [bucket for bucket in after if bucket.failures]


def _less(bucket: Bucket, gone: Failure) -> Bucket:
    """The bucket without this failure; the same object where it never had it."""
    rest = tuple(failure for failure in bucket.failures if failure is not gone)
    return bucket if len(rest) == len(bucket.failures) else replace(bucket, failures=rest)


def _add(buckets: list[Bucket], failure: Failure) -> list[Bucket]:
    signature = sign(failure)
    for place, bucket in enumerate(buckets):
        if signature.key in (bucket.signature.key, *bucket.aliases):
            grown = replace(bucket, failures=(*bucket.failures, failure))
            return [*buckets[:place], grown, *buckets[place + 1 :]]
    return [*buckets, Bucket(bucket_id(signature), signature, title_of(signature, [failure]), (failure,))]


def _words(failure: Failure) -> str:
    return f"reported as {failure.exception}: {failure.message}".strip(": ")[:WORDS_SHOWN]


def final_buckets(before: Sequence[Bucket], yielded: Iterable[Bucket]) -> list[Bucket]:
    """The buckets once a comparison is over: those that came back replace their namesakes, new ones follow, and
    those that lost all their failures are gone."""
    after = {bucket.id: bucket for bucket in before} | {bucket.id: bucket for bucket in yielded}
    return [bucket for bucket in after.values() if bucket.failures]


def moved_into(bucket: Bucket, before: Sequence[Bucket]) -> tuple[Failure, ...]:
    """The failures of `bucket` that were in another one, or in none, before it was compared."""
    known = {(failure.test_id, failure.phase) for old in before if old.id == bucket.id for failure in old.failures}
    return tuple(failure for failure in bucket.failures if (failure.test_id, failure.phase) not in known)
