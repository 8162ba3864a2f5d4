"""model_results.json for the Hugging Face CI dashboard, and back through our own reader."""

import json

import pytest

from tests.dashboard.values import HOSTILE, a_crash, a_dossier
from tests.helpers import a_bucket
from tputriage.dashboard import Links, model_results
from tputriage.dashboard.results import model_of
from tputriage.formats import read_report
from tputriage.model import Dossier, Outcome


def results(dossier, **outcomes):
    failed = {failure.test_id: failure.outcome for failure in dossier.bucket.failures}
    return model_results({**failed, **outcomes}, [dossier], Links())


def test_a_models_results_have_the_shape_that_the_dashboard_reads():
    found = model_results(
        {
            "tests/models/bert/test_modeling_bert.py::BertTest::test_a": Outcome.PASSED,
            "tests/models/bert/test_modeling_bert.py::BertTest::test_b": Outcome.SKIPPED,
            "tests/models/bert/test_modeling_bert.py::BertTest::test_c": Outcome.XFAILED,
        },
        [],
        Links(),
    )
    assert (found["models_bert"]["success"], found["models_bert"]["skipped"], found["models_bert"]["errors"]) == (
        2,
        1,
        0,
    )
    assert found["models_bert"]["failures"] == {}
    # As transformers' own script starts each model.
    assert list(found["models_bert"]) == [
        "failed",
        "errors",
        "success",
        "skipped",
        "time_spent",
        "error",
        "failures",
        "job_link",
        "captured_info",
    ]


@pytest.mark.parametrize(
    ("test_id", "category"),
    [
        ("tests/models/bert/test_modeling_bert.py::T::t", "PyTorch"),
        ("tests/models/bert/test_tokenization_bert.py::T::t", "Tokenizers"),
        ("tests/quantization/bnb/test_modeling_x.py::T::t", "Quantization"),
        ("tests/models/auto/test_x.py::T::t", "Auto"),
        ("tests/schedulers/test_ddim.py::t", "Unclassified"),
    ],
)
def test_a_failure_is_counted_in_the_category_of_its_test(test_id, category):
    (model,) = model_results({test_id: Outcome.FAILED}, [], Links()).values()
    assert model["failed"].pop(category) == {"unclassified": 0, "single": 1, "multi": 0}
    assert {count for counts in model["failed"].values() for count in counts.values()} == {0}


def test_a_setup_error_is_counted_apart_and_a_crash_marks_its_model():
    found = model_results({"tests/a/t.py::x": Outcome.ERROR, "tests/a/t.py::y": Outcome.CRASH}, [], Links())["a"]
    assert (found["errors"], found["error"], len(found["failures"]["single"])) == (1, True, 1)


def test_a_failure_is_its_node_id_and_its_last_line():
    found = results(a_dossier(words="two\nlines"))["models_unet"]
    assert found["failures"]["single"] == [
        {"line": "tests/models/unet/test_unet.py::TestUnet0::test_0[two\nlines]", "trace": "RuntimeError: two lines"}
    ]
    assert found["failed"]["Unclassified"]["single"] == 1


def test_a_crash_that_left_no_words_is_told_by_its_outcome():
    found = results(Dossier(a_bucket(a_crash("tests/test_a.py::test_b"))))
    assert found["a"]["failures"]["single"][0]["trace"] == "crash"


def test_our_own_reader_reads_it_back(tmp_path):
    dossier = a_dossier(tests=3, words="aten::median is not implemented for TPU")
    path = tmp_path / "model_results.json"
    path.write_text(json.dumps(results(dossier, **{"tests/test_x.py::test_ok": Outcome.PASSED})))
    report = read_report(path)
    assert (report.format, dict(report.outcomes)) == ("model_results", {"passed": 1, "failed": 3})
    assert [(one.test_id, one.exception, one.message) for one in report.failures] == [
        (one.test_id, one.exception, one.message) for one in dossier.bucket.failures
    ]


def test_hostile_words_are_text(tmp_path):
    path = tmp_path / "model_results.json"
    path.write_text(json.dumps(results(a_dossier(words=HOSTILE))), "utf-8")
    assert len(read_report(path).failures) == 1


@pytest.mark.parametrize(
    ("test_id", "model"),
    [
        ("tests/models/bert/test_modeling_bert.py::T::t", "models_bert"),
        ("tests/models/test_models_unet_2d.py::T::t", "models"),
        ("tests/schedulers/test_scheduler_ddim.py::t", "schedulers"),
        ("tests/pipelines/flux/test_flux.py::t", "pipelines_flux"),
        ("tests/test_layers.py::t", "layers"),
        ("test_layers.py::t[a/b::c]", "layers"),
        ("", "tests"),
    ],
)
def test_a_test_belongs_to_the_model_of_its_folder(test_id, model):
    assert model_of(test_id) == model
