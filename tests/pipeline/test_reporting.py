"""`tputriage report` as a person runs it, on a store with real reports in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dashboard.values import a_dossier, a_row
from tests.helpers import a_report
from tputriage.formats import read_report
from tputriage.model import Filing, Outcome
from tputriage.store import open_store
from tputriage.store.ledger import StoredLedger

REPORTS = Path(__file__).parent.parent.parent / "fixtures" / "reports"


def tputriage(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tputriage", *map(str, arguments)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    reports = [REPORTS / "unet2d.tpu.json", REPORTS / "flux.tpu.json"]
    assert tputriage("collect", "--no-rerun", *reports, cwd=folder).returncode == 0
    return folder


def test_the_page_is_written_where_a_browser_finds_it(stored):
    said = tputriage("report", "--json", cwd=stored)
    told = json.loads(said.stdout)
    assert (said.returncode, told["file"], told["format"]) == (0, "tputriage.html", "html")
    assert told["bytes"] == (stored / "tputriage.html").stat().st_size


def test_the_summary_goes_to_standard_output(stored):
    said = tputriage("report", "--format", "markdown", cwd=stored)
    assert said.stdout.startswith("# What fails on TPU\n")
    assert said.stderr == ""


def test_model_results_read_back_as_the_reports_were(stored):
    assert tputriage("report", "--format", "model-results", "-o", "back.json", cwd=stored).returncode == 0
    back = read_report(stored / "back.json")
    told = json.loads(tputriage("show", "--json", cwd=stored).stdout)
    assert sum(back.outcomes.values()) == sum(map(total, REPORTS.glob("[uf]*.tpu.json")))
    assert len(back.failures) + back.outcomes["error"] == sum(bucket["count"] for bucket in told["buckets"])


def total(path):
    return sum(read_report(path).outcomes.values())


def test_a_file_that_cannot_be_written_is_one_line(stored):
    said = tputriage("report", "-o", "no/such/folder/page.html", cwd=stored)
    assert (said.returncode, said.stdout) == (2, "")
    assert "name another with -o" in said.stderr


def test_without_a_store_there_is_nothing_to_report(tmp_path):
    said = tputriage("report", cwd=tmp_path)
    assert (said.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "`tputriage collect" in said.stderr


def test_an_issue_is_linked_only_where_it_was_filed(tmp_path):
    first, second = a_dossier(1), a_dossier(2)
    with open_store(tmp_path / ".tputriage") as store:
        failures = [*first.bucket.failures, *second.bucket.failures]
        store.add_report(a_report(*failures), "suite", [first.bucket, second.bucket])
        ledger = StoredLedger(store)
        for bucket, repository in ((first.bucket.id, "google-pytorch/torch_tpu"), (second.bucket.id, "other/place")):
            ledger.write(Filing(f"create:{repository}:{bucket}", bucket, repository, "done", 41))
    assert tputriage("report", cwd=tmp_path).returncode == 0
    page = (tmp_path / "tputriage.html").read_text("utf-8")
    assert page.count("https://github.com/google-pytorch/torch_tpu/issues/41") == 1
    assert page.count('"issue":41') == 2


def test_secrets_of_the_environment_are_masked(tmp_path):
    dossier = a_dossier(words="the key is correct-horse-battery")
    with open_store(tmp_path / ".tputriage") as store:
        store.add_report(a_report(*dossier.bucket.failures), "suite", [dossier.bucket])
    for form in ("html", "markdown", "model-results"):
        told = tputriage("report", "--format", form, "-o", "out", cwd=tmp_path, API_TOKEN="correct-horse-battery")
        assert told.returncode == 0
        assert "correct-horse-battery" not in (tmp_path / "out").read_text("utf-8")


def test_the_store_tells_how_each_test_of_a_report_ended(tmp_path):
    failure = a_dossier().bucket.failures[0]
    with open_store(tmp_path / ".tputriage") as store:
        store.add_report(a_report(failure), "suite", [a_dossier().bucket])
        row = store.reports()[0]
        assert row.keys() == a_row().keys()
        assert store.outcomes(row["id"]) == {
            failure.test_id: Outcome.FAILED,
            "tests/test_models.py::test_ok": Outcome.PASSED,
        }
