"""The store keeps what it was given, whole, whatever happens to the process."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.helpers import a_bucket, a_failure, a_report
from tputriage.console import set_volume
from tputriage.errors import InputError, StoreError
from tputriage.model import Level, Outcome, Repro, ReproStatus, Run, Verdict, VerdictKind
from tputriage.store import open_store


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store") as opened:
        yield opened


def add(store, *failures, **changes):
    return store.add_report(a_report(*failures, **changes), "suite", [a_bucket(*failures)])


def test_a_dossier_gives_back_what_was_stored(store):
    failure = a_failure(message="naïve ☃")
    add(store, failure, root="/suite")
    assert store.dossiers()[0].bucket == a_bucket(failure, aliases=("0123456789abcdef",))
    assert store.root_of(failure.test_id) == "/suite"


def test_the_same_report_twice_counts_once(store):
    assert add(store, a_failure())
    assert not add(store, a_failure())
    assert len(store.dossiers()[0].bucket.failures) == 1


def test_the_history_is_in_the_order_of_the_runs_not_of_arrival(store):
    add(store, a_failure(), digest="new", source="new.json", created_s=20.0)
    add(store, a_failure(), digest="old", source="old.json", created_s=10.0)
    assert [sighting.report for sighting in store.dossiers()[0].history] == ["old.json", "new.json"]


def test_a_new_report_does_not_take_back_the_cause_that_was_found(store):
    add(store, a_failure())
    found = a_bucket()
    store.save_bucket(replace(found, signature=replace(found.signature, operator="torch.median", key="by-cause")))
    add(store, a_failure(), digest="next")
    assert store.dossiers()[0].bucket.signature.operator == "torch.median"


def test_a_run_of_an_older_version_that_is_made_later_is_older(store):
    add(store, a_failure(), digest="new", source="new.json", created_s=10.0, versions={"torch_tpu": "0.10.0"})
    add(store, a_failure(), digest="old", source="old.json", created_s=20.0, versions={"torch_tpu": "0.9.0"})
    assert [sighting.report for sighting in store.dossiers()[0].history] == ["old.json", "new.json"]


def test_a_verdict_and_a_repro_survive_reopening(store, tmp_path):
    add(store, a_failure())
    verdict = Verdict(VerdictKind.TPU_ONLY, "fails on tpu 3 of 3 times, passes on cpu", failed=3, total=3)
    repro = Repro("b0123456789", "t", ReproStatus.VERIFIED, Level.OP, "import torch", targets={"cpu": "pass"})
    store.save_verdict("b0123456789", verdict)
    store.save_repro(repro)
    with open_store(tmp_path / "store", create=False) as again:
        assert (again.dossiers()[0].verdict, again.dossiers()[0].repro) == (verdict, repro)


def test_an_older_key_still_finds_its_bucket(store):
    store.save_bucket(a_bucket(aliases=("old-key",)))
    assert store.known_keys() == {"0123456789abcdef": "b0123456789", "old-key": "b0123456789"}


def test_lone_surrogates_are_stored_as_valid_text(store):
    add(store, a_failure(message="bad \udce9 byte"))
    assert store.dossiers()[0].bucket.failures[0].message == "bad ? byte"


def test_failures_move_to_the_bucket_of_their_cause(store):
    failure = a_failure()
    add(store, failure)
    store.save_bucket(a_bucket(a_failure(message="the real error"), bucket_id="bcause", key="cause"))
    assert [dossier.bucket.id for dossier in store.dossiers()] == ["bcause"]
    assert store.dossier("bcause").bucket.failures[0].message == "the real error"


def a_verification(outcome, version):
    return Run("repro.py", "tpu", outcome, versions={"torch_tpu": version})


def test_a_bucket_is_fixed_in_the_version_where_every_run_of_the_last_verification_passed(store):
    add(store, a_failure())
    store.add_verifications("b0123456789", [a_verification(Outcome.FAILED, "0.2.0")])
    assert store.dossier("b0123456789").fixed_in == ""
    store.add_verifications("b0123456789", [a_verification(Outcome.PASSED, "0.3.0")] * 3)
    assert store.dossier("b0123456789").fixed_in == "0.3.0"
    assert len(store.dossier("b0123456789").verifications) == 4


def test_a_missing_store_says_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="run `tputriage collect"):
        open_store(tmp_path / "nowhere", create=False)


def test_an_unknown_bucket_is_bad_input(store):
    with pytest.raises(InputError, match="`tputriage show` lists them"):
        store.dossier("b-none")


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "store.db").write_text("this is a diary, and not a short one" * 100)
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(tmp_path)


def test_a_newer_store_is_refused(tmp_path):
    open_store(tmp_path).__exit__()
    connection = sqlite3.connect(tmp_path / "store.db")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(StoreError, match="newer tputriage"):
        open_store(tmp_path)


@pytest.mark.parametrize("part", ["", "store.db"])
def test_a_read_only_store_is_refused_before_anything_is_done(tmp_path, part):
    open_store(tmp_path / "store").__exit__()
    place = tmp_path / "store" / part
    place.chmod(place.stat().st_mode & ~0o222)
    with pytest.raises(StoreError, match="read-only"):
        open_store(tmp_path / "store")
    place.chmod(place.stat().st_mode | 0o200)


def test_a_script_is_replaced_as_a_whole(store):
    path = store.write_script("b1.py", "print(1)\n")
    store.write_script("b1.py", "print(2)\n")
    assert path.read_text() == "print(2)\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["b1.py"]


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from tests.helpers import a_bucket, a_failure, a_report
    from tputriage.store import open_store
    store = open_store(Path(sys.argv[1]))
    store.add_report(a_report(a_failure()), "suite", [a_bucket()])
    with store.transaction() as db:
        db.execute("DELETE FROM failure")
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_in_the_middle_of_a_write_loses_nothing_stored(tmp_path):
    child = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)], cwd=os.getcwd(), check=False)
    assert child.returncode == -signal.SIGKILL
    with open_store(tmp_path, create=False) as store:
        assert len(store.dossiers()[0].bucket.failures) == 1


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("report", "versions"),
        ("report", "outcomes"),
        ("report", "notes"),
        ("failure", "value"),
        ("bucket", "signature"),
        ("verdict", "value"),
    ],
)
@pytest.mark.parametrize("junk", ["[", "7", ""])
def test_a_damaged_value_is_said_and_not_thrown(store, tmp_path, table, column, junk):
    add(store, a_failure())
    store.save_verdict("b0123456789", Verdict(VerdictKind.INFRA, ""))
    with sqlite3.connect(tmp_path / "store" / "store.db") as db:
        db.execute(f"UPDATE {table} SET {column} = ?", (junk,))
    db.close()
    with pytest.raises(StoreError, match="damaged"):
        (store.dossiers(), store.reports())


def test_a_store_that_another_one_writes_is_waited_for_and_it_is_said(tmp_path, capsys):
    set_volume(quiet=False, verbose=False)
    with (
        open_store(tmp_path, patience_s=0.0) as store,
        open_store(tmp_path) as other,
        other.transaction(),
        pytest.raises(StoreError, match="another tputriage is writing"),
    ):
        add(store, a_failure())
    with open_store(tmp_path) as store, ThreadPoolExecutor() as pool:
        other = sqlite3.connect(tmp_path / "store.db", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        ends = pool.submit(lambda: (time.sleep(1.5), other.close()))
        assert add(store, a_failure())
        ends.result()
    assert f"waiting for another tputriage, which is writing {tmp_path}\n" in capsys.readouterr().err
