"""A GitHub of our own, and a store with something to file."""

import pytest

from tests.helpers import a_report
from tests.issues.server import GitHub
from tests.issues.values import REPOSITORY, a_filed_failure, a_ready_bucket, a_ready_repro
from tputriage.model import Verdict, VerdictKind
from tputriage.store import open_store


@pytest.fixture
def hub():
    with GitHub() as served:
        served.world.repositories[REPOSITORY] = {}
        yield served


@pytest.fixture
def folder(tmp_path):
    """A folder whose store knows one bucket that is ready to be filed."""
    failure = a_filed_failure()
    bucket = a_ready_bucket(failure)
    with open_store(tmp_path / ".tputriage") as store:
        store.add_report(a_report(failure), "suite", [bucket])
        store.save_verdict(bucket.id, Verdict(VerdictKind.TPU_ONLY, "fails on tpu 3 of 3 times", failed=3, total=3))
        store.save_repro(a_ready_repro(bucket))
    return tmp_path
