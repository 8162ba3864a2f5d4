"""`tputriage minimize` where nothing has to run."""

from dataclasses import replace

from tests.dashboard.values import a_dossier
from tests.helpers import a_report
from tputriage.pipeline.minimizing import minimize
from tputriage.store import open_store


def test_a_repro_that_is_stored_is_shown_again_and_it_is_said_how_to_make_it_anew(tmp_path):
    dossier = a_dossier(1)
    with open_store(tmp_path) as store:
        store.add_report(a_report(*dossier.bucket.failures), "suite", [dossier.bucket])
        store.save_repro(replace(dossier.repro, bucket=dossier.bucket.id))
    done = minimize(
        ids=[dossier.bucket.id], every=False, budget_s=1.0, again=False, store=tmp_path, quiet=True, root=None
    )
    assert (done.code, done.data["repros"][0]["status"]) == (0, "verified")
    assert done.notes == (f"{dossier.bucket.id}: its repro is stored already; --again makes it anew",)
