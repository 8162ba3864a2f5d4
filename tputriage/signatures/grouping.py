"""Buckets: failures that share a signature, under ids that outlive a change of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tputriage.model import Bucket, Failure, Signature
from tputriage.signatures.families import BY_NAME, Kind
from tputriage.signatures.signing import PAST, RuleSet, old_keys, sign
from tputriage.signatures.titles import title_of


def group(
    failures: Iterable[Failure],
    known: Mapping[str, str] | None = None,
    past: Sequence[RuleSet] = PAST,
    *,
    join: bool = True,
) -> tuple[Bucket, ...]:
    """The failures as buckets, largest first.

    `known` maps keys (current ones and aliases) to the ids under which buckets are stored. A bucket whose
    own or older key is known keeps that id. Where one stored bucket falls apart under newer rules, its
    largest part keeps the id; where several become one, the id that most of its failures had. Keys that are known
    as one bucket stay one, as a common cause made them, unless `join` is off.
    """
    signatures: dict[str, Signature] = {}
    members: dict[str, list[Failure]] = {}
    for failure in failures:
        signature = sign(failure)
        signatures.setdefault(signature.key, signature)
        members.setdefault(signature.key, []).append(failure)
    known, buckets = known or {}, dict[str, Bucket]()
    for key in sorted(members, key=lambda key: (-len(members[key]), key)):
        older = Counter(old for failure in members[key] for old in old_keys(failure, past)) if past else Counter()
        aliases = tuple(old for old, _ in older.most_common())
        if join and (home := buckets.get(known.get(key, ""))) is not None:
            buckets[home.id] = _joined(home, key, members[key], aliases)
            continue
        identity = _id(key, older, known, buckets.keys())
        title = title_of(signatures[key], members[key])
        buckets[identity] = Bucket(identity, signatures[key], title, tuple(members[key]), aliases)
    return tuple(sorted(buckets.values(), key=lambda bucket: -len(bucket.failures)))


def _joined(home: Bucket, key: str, failures: Sequence[Failure], aliases: Sequence[str]) -> Bucket:
    """A bucket with the failures of another key that is stored as the same one, as after a common cause was found."""
    keys = tuple(dict.fromkeys((*home.aliases, key, *aliases)))
    return replace(home, failures=(*home.failures, *failures), aliases=keys)


def _id(key: str, older: Counter[str], known: Mapping[str, str], taken: Collection[str]) -> str:
    for candidate in (key, *(old for old, _ in older.most_common())):
        stored = known.get(candidate, "")
        if stored and stored not in taken:
            return stored
    fresh = f"b{key[:10]}"
    return fresh if fresh not in taken else f"b{key[:16]}"


@dataclass(frozen=True, slots=True)
class Regrouped:
    """Buckets after causes were found, and a sentence for each that merged or split."""

    buckets: tuple[Bucket, ...]
    notes: tuple[str, ...]


def regroup(buckets: Sequence[Bucket], operators: Mapping[str, str]) -> Regrouped:
    """The buckets once the failing operator of some tests (`{test id: operator}`) is known.

    The cause outranks the symptom. Where all found operators of a bucket agree, they stand for its other
    failures too; where they differ, the bucket splits, and what nobody looked into stays in the old one.
    Only buckets whose text says little are touched: a message that names its operator is a cause already.
    """
    apart = [bucket for bucket in buckets if not _is_by_signature(bucket)]
    buckets = [bucket for bucket in buckets if bucket not in apart]
    changed, notes = [failure for bucket in buckets for failure in _with_causes(bucket, operators)], []
    before = {sign(failure).key: bucket for bucket in buckets for failure in bucket.failures}
    known = {key: bucket.id for key, bucket in before.items()} | _by_id(buckets, operators)
    after = group(changed, known, join=False)
    home = {_place(failure): bucket for bucket in buckets for failure in bucket.failures}
    for bucket in after:
        origins = list(dict.fromkeys(home[_place(failure)].id for failure in bucket.failures))
        if len(origins) > 1:
            notes.append(f"{', '.join(origins)} are one: {bucket.signature.operator} is at fault in each")
    for bucket in buckets:
        parts = [part for part in after if any(home[_place(failure)] is bucket for failure in part.failures)]
        if len(parts) > 1:
            causes = ", ".join(part.signature.operator or "not yet known" for part in parts)
            notes.append(f"{bucket.id} falls into {len(parts)} by cause: {causes}")
    return Regrouped((*(_aliased(bucket, home) for bucket in after), *apart), tuple(notes))


def _is_by_signature(bucket: Bucket) -> bool:
    """Not a part that reruns split off: such a part has a key of its own, which no failure's text gives."""
    return any(sign(_with_cause_of(bucket, failure)).key == bucket.signature.key for failure in bucket.failures)


def _place(failure: Failure) -> tuple[str, str]:
    """What tells a failure from all others: a test fails once a phase."""
    return failure.test_id, failure.phase.value


def _with_causes(bucket: Bucket, operators: Mapping[str, str]) -> Iterable[Failure]:
    found = {operators[test] for test in bucket.tests if operators.get(test)}
    common = next(iter(found)) if len(found) == 1 else ""
    family = BY_NAME[bucket.signature.family]
    if bucket.signature.operator:
        return [_with_cause_of(bucket, failure) for failure in bucket.failures]
    if family.kind not in (Kind.NUMERIC, Kind.SECONDARY, Kind.EXCEPTION):
        return bucket.failures
    return [
        replace(failure, operator=operators.get(failure.test_id) or common or failure.operator)
        for failure in bucket.failures
    ]


def _with_cause_of(bucket: Bucket, failure: Failure) -> Failure:
    """A failure that is in the bucket by a cause found earlier, and does not name it itself, carries that cause."""
    own = sign(failure).key == bucket.signature.key
    return failure if own else replace(failure, operator=bucket.signature.operator)


def _by_id(buckets: Sequence[Bucket], operators: Mapping[str, str]) -> dict[str, str]:
    """The new keys of each bucket's failures, leading to the bucket's id; the largest bucket wins."""
    ids: dict[str, str] = {}
    for bucket in sorted(buckets, key=lambda bucket: len(bucket.failures)):
        ids |= {sign(failure).key: bucket.id for failure in _with_causes(bucket, operators)}
    return ids


def _aliased(bucket: Bucket, home: Mapping[tuple[str, str], Bucket]) -> Bucket:
    """The bucket with the keys of those it came from, so that either finds it later."""
    keys = dict.fromkeys(bucket.aliases)
    for failure in bucket.failures:
        old = home[_place(failure)]
        if old.id == bucket.id or old.signature.key not in keys:
            keys |= dict.fromkeys((old.signature.key, *old.aliases))
    keys.pop(bucket.signature.key, None)
    return replace(bucket, aliases=tuple(keys))
