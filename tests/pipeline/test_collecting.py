"""`tputriage collect --no-rerun` over what earlier steps left in the store."""

import json

from tputriage.pipeline.collecting import collect
from tputriage.signatures import regroup
from tputriage.store import open_store


def a_report_file(folder, name, tests):
    call = {"duration": 0.1, "outcome": "failed", "crash": {"path": "/s/t.py", "lineno": 3, "message": ""}}
    path = folder / name
    rows = [
        {
            "nodeid": f"t.py::{test}",
            "outcome": "failed",
            "call": {
                **call,
                "crash": {**call["crash"], "message": f"AssertionError: Tensor-likes are not close! {test}"},
            },
        }
        for test in tests
    ]
    path.write_text(json.dumps({"created": 1.0, "exitcode": 1, "root": "/s", "summary": {"name": name}, "tests": rows}))
    return path


def collected(folder, path):
    options = {"rerun": False, "again": False, "salvage": False, "quiet": True, "root": None}
    return collect(reports=[path], store=folder / "store", **options).data["buckets"]


def test_a_new_report_finds_the_bucket_that_a_common_cause_made(tmp_path):
    first = collected(tmp_path, a_report_file(tmp_path, "one.json", ["test_a", "test_b"]))
    assert len(first) == 2
    with open_store(tmp_path / "store") as store:
        buckets = [dossier.bucket for dossier in store.dossiers()]
        causes = {test: "torch.topk" for bucket in buckets for test in bucket.tests}
        merged = regroup(buckets, causes).buckets
        assert len(merged) == 1
        store.save_bucket(merged[0])
    again = collected(tmp_path, a_report_file(tmp_path, "two.json", ["test_a", "test_b"]))
    assert [(bucket["id"], bucket["count"]) for bucket in again] == [(merged[0].id, 2)]


def test_the_same_report_again_changes_nothing(tmp_path):
    path = a_report_file(tmp_path, "one.json", ["test_a", "test_b"])
    assert collected(tmp_path, path) == collected(tmp_path, path)
