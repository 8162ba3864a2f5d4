"""Buckets: ids that last, causes that merge and split, real reports in known buckets."""

import re
from dataclasses import replace
from pathlib import Path

from tests.helpers import a_failure
from tputriage.formats import read_report
from tputriage.signatures import CURRENT, RuleSet, group, nearest, regroup, sign

REPORTS = Path(__file__).parents[2] / "fixtures" / "reports"
COARSE = RuleSet(0, CURRENT.rules[1:])


def mismatch(test, operator=""):
    return a_failure(
        test_id=f"t.py::{test}", exception="AssertionError", message="Tensor-likes are not close!", operator=operator
    )


def test_one_bug_behind_77_failures_is_one_bucket():
    buckets = group(read_report(REPORTS / "unet2d.tpu.json").failures)
    assert [len(bucket.failures) for bucket in buckets] == [77, 5]
    assert buckets[0].signature.operator == "view"


def test_no_failure_is_lost_and_none_counted_twice():
    failures = read_report(REPORTS / "flux.tpu.json").failures
    grouped = [failure for bucket in group(failures) for failure in bucket.failures]
    assert sorted(map(repr, grouped)) == sorted(map(repr, failures))


def test_the_order_of_failures_does_not_change_buckets():
    failures = read_report(REPORTS / "dit.tpu.json").failures
    assert {b.id for b in group(failures)} == {b.id for b in group(reversed(failures))}


def test_a_known_key_keeps_its_stored_id():
    failure = a_failure()
    assert group([failure], {sign(failure).key: "bstored0001"})[0].id == "bstored0001"


def test_a_bucket_stored_by_older_rules_keeps_its_id_and_their_keys():
    failure = a_failure(message="bad size 12")
    old = sign(failure, COARSE).key
    bucket = group([failure], {old: "bolder00001"}, [COARSE])[0]
    assert (bucket.id, bucket.aliases) == ("bolder00001", (old,))


def test_buckets_that_newer_rules_merge_take_the_id_of_most_of_them():
    many = [a_failure(message="bad size 12", test_id=f"t.py::t{n}") for n in range(3)]
    one = a_failure(message="bad size 99")
    known = {sign(many[0], COARSE).key: "bmany000001", sign(one, COARSE).key: "bone0000001"}
    buckets = group([*many, one], known, [COARSE])
    assert [bucket.id for bucket in buckets] == ["bmany000001"]
    assert len(buckets[0].aliases) == 2


def test_a_bucket_that_newer_rules_split_leaves_its_id_to_the_larger_part():
    blunt = RuleSet(0, (replace(CURRENT.rules[0], pattern=re.compile(r".+")), *CURRENT.rules[1:]))
    failures = [a_failure(message="bad size", test_id=f"t.py::t{n}") for n in range(2)] + [
        a_failure(message="bad dtype")
    ]
    old = sign(failures[0], blunt).key
    buckets = group(failures, {old: "bolder00001"}, [blunt])
    assert [bucket.id == "bolder00001" for bucket in buckets] == [True, False]
    assert len({bucket.id for bucket in buckets}) == 2


def test_a_cause_found_in_two_buckets_makes_them_one_and_says_so():
    buckets = group([mismatch("test_a"), mismatch("test_b")])
    again = regroup(buckets, {"t.py::test_a": "aten.gelu.default", "t.py::test_b": "aten::gelu"})
    assert len(again.buckets) == 1
    assert "are one" in again.notes[0]
    assert {bucket.signature.key for bucket in buckets} <= set(again.buckets[0].aliases)


def test_two_causes_found_in_one_bucket_split_it_and_say_so():
    tests = [replace(mismatch("test_a"), test_id=f"t.py::test_a[{n}]") for n in range(3)]
    bucket = group(tests)[0]
    again = regroup([bucket], {"t.py::test_a[0]": "aten::gelu", "t.py::test_a[1]": "aten::mm"})
    assert sorted(part.signature.operator for part in again.buckets) == ["", "aten::gelu", "aten::mm"]
    assert "falls into 3" in again.notes[0]


def test_one_cause_found_stands_for_the_whole_bucket_under_its_old_id():
    tests = [replace(mismatch("test_a"), test_id=f"t.py::test_a[{n}]") for n in range(3)]
    bucket = group(tests)[0]
    again = regroup([bucket], {"t.py::test_a[0]": "aten::gelu"})
    assert [(part.id, len(part.failures)) for part in again.buckets] == [(bucket.id, 3)]
    assert again.notes == ()


def test_a_message_that_names_its_operator_is_left_alone():
    buckets = group([a_failure()])
    assert regroup(buckets, {a_failure().test_id: "aten::other"}).buckets[0].signature == buckets[0].signature


def test_the_nearest_bucket_comes_with_what_keeps_it_apart():
    buckets = group([a_failure(message="bad size of x"), a_failure(message="bad size of y"), a_failure(message="zzz")])
    bucket = next(b for b in buckets if b.signature.template.endswith("x"))
    near = nearest(bucket, buckets)
    assert near.apart == (("template", "bad size of x", "bad size of y"),)
    assert nearest(bucket, [bucket]) is None


def test_buckets_that_a_common_cause_made_one_stay_one_in_the_next_report():
    first, second = mismatch("test_a"), mismatch("test_b")
    before = group([first, second])
    operators = {failure.test_id: "torch.topk" for failure in (first, second)}
    merged = regroup(before, operators).buckets[0]
    known = {key: merged.id for key in (merged.signature.key, *merged.aliases)}
    again = group([first, second], known)
    assert [(bucket.id, len(bucket.failures)) for bucket in again] == [(merged.id, 2)]


def test_looking_for_causes_again_leaves_what_was_found_as_it_is():
    first, second = mismatch("test_a"), mismatch("test_b")
    operators = {failure.test_id: "torch.topk" for failure in (first, second)}
    merged = regroup(group([first, second]), operators).buckets[0]
    stored = replace(merged, failures=(first, merged.failures[1]))  # the store keeps a failure that did not move
    again = regroup([stored], {})
    assert [(bucket.id, len(bucket.failures)) for bucket in again.buckets] == [(merged.id, 2)]
    assert again.notes == ()


def test_a_part_that_reruns_split_off_stays_apart():
    bucket = group([mismatch("test_a[1]"), mismatch("test_a[2]")])[0]
    assert len(bucket.failures) == 2
    part = replace(bucket, id="bpart", signature=replace(bucket.signature, key="split"), failures=bucket.failures[1:])
    rest = replace(bucket, failures=bucket.failures[:1])
    assert {found.id for found in regroup([rest, part], {}).buckets} == {bucket.id, "bpart"}
