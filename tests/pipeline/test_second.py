"""What a test stops at behind its first cause is a bucket of its own, and takes nothing from the first."""

import pytest

from tputriage.errors import InputError
from tputriage.model import Failure, Level, Outcome, Phase, Report, Repro, ReproStatus, VerdictKind
from tputriage.pipeline.lookup import find_bucket
from tputriage.pipeline.second import is_second, keep_second, settle_second
from tputriage.signatures import group
from tputriage.store import open_store

TEST = "tests/test_model.py::test_training"


def failing(operator):
    return Failure(
        TEST, Phase.CALL, Outcome.FAILED, "RuntimeError", f"operator '{operator}' is not implemented for TPU"
    )


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store") as opened:
        first = failing("aten::mish.out")
        report = Report("report.json", "pytest_json", "0" * 64, {TEST: Outcome.FAILED}, (first,))
        opened.add_report(report, "suite", group([first]))
        yield opened


def second(store):
    first = store.dossiers()[0].bucket.id
    return keep_second(store, failing("aten::kthvalue.values"), "torch.nn.functional.mish", first)


def test_it_is_stored_beside_the_first(store):
    bucket = second(store)
    assert {dossier.bucket.id for dossier in store.dossiers()} > {bucket.id}
    assert [failure.message for failure in store.dossier(bucket.id).bucket.failures] == [
        "operator 'aten::kthvalue.values' is not implemented for TPU"
    ]


def test_a_later_step_of_the_first_takes_nothing_from_it(store):
    first, bucket = store.dossiers()[0].bucket, second(store)
    store.save_bucket(first)
    assert len(store.dossier(bucket.id).bucket.failures) == 1
    assert len(store.dossier(first.id).bucket.failures) == 1


def test_the_test_still_stands_for_the_first(store):
    first = store.dossiers()[0].bucket.id
    second(store)
    assert find_bucket(store, store.dossiers(), TEST)[0].bucket.id == first
    assert find_bucket(store, store.dossiers(), "test_training")[0].bucket.id == first


def test_it_is_found_by_its_own_id(store):
    bucket = second(store)
    found, _ = find_bucket(store, store.dossiers(), bucket.id)
    assert is_second(found)


def test_what_is_known_already_is_not_stored_twice(store):
    assert second(store) is not None
    assert second(store) is None


@pytest.mark.parametrize(
    ("message", "moved"),
    [
        ("linear(): all tensors must be on the same device but tensor 0 is on tpu:0 and tensor 1 on cpu", "torch.exp"),
        ("Expected a 'cpu' device type for generator but found 'tpu'", "torch.poisson"),
        ("operator 'aten::kthvalue.values' is not implemented for TPU", "torch.Tensor.data.__set__"),
    ],
)
def test_what_the_move_itself_leads_to_is_no_finding(store, message, moved):
    failure = Failure(TEST, Phase.CALL, Outcome.FAILED, "RuntimeError", message)
    assert keep_second(store, failure, moved, "b1") is None


def test_without_a_repro_nothing_is_decided(store):
    bucket = second(store)
    settle_second(store, Repro(bucket.id, TEST, ReproStatus.NOT_REPRODUCED, Level.OP), "torch.median", "b1")
    assert store.verdict_of(bucket.id).kind is VerdictKind.UNDECIDED


def test_its_own_repro_gives_the_verdict(store):
    bucket = second(store)
    settle_second(store, Repro(bucket.id, TEST, ReproStatus.VERIFIED, Level.OP), "torch.nn.functional.mish", "b1")
    verdict = store.verdict_of(bucket.id)
    assert verdict.kind is VerdictKind.TPU_ONLY
    assert verdict.reason.endswith("seen behind b1, with torch.nn.functional.mish done on CPU")


def test_an_unknown_id_is_still_refused(store):
    with pytest.raises(InputError):
        find_bucket(store, store.dossiers(), "no such thing")
