"""`tputriage minimize`: what is stored already, and Ctrl-C while a repro is verified."""

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from dataclasses import replace

import pytest

from tests.dashboard.values import a_dossier
from tests.helpers import a_report
from tputriage.config import Settings
from tputriage.pipeline.minimizing import minimize, run_on_both
from tputriage.pipeline.place import Place
from tputriage.store import open_store
from tputriage.targets.seam import Target


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


def test_ctrl_c_while_a_repro_is_verified_ends_its_scripts(tmp_path):
    (tmp_path / "slow.py").write_text("import os, time\nopen(f'began{os.getpid()}', 'w').close()\ntime.sleep(600)\n")
    target = Target("cpu", "cpu", sys.executable, slots=2)
    place = Place(Settings(), target, target)

    def interrupt():
        while len(list(tmp_path.glob("began*"))) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    with chdir(tmp_path), ThreadPoolExecutor() as pool:
        pool.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_on_both(place, tmp_path / "slow.py")
    for mark in tmp_path.glob("began*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.name.removeprefix("began")), 0)
