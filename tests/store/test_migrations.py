"""A store that an older version wrote opens, keeps all it held, and its buckets are found under newer rules."""

import sqlite3

import pytest

from tests.helpers import a_bucket, a_failure
from tputriage.signatures import CURRENT, RuleSet, group, sign
from tputriage.store import open_store
from tputriage.store.rows import dump
from tputriage.store.schema import MIGRATIONS

OLDER = RuleSet(0, CURRENT.rules[1:])
FAILURE = a_failure(message="bad size 12")


def written_by(version, path):
    """A database as the program with that many migrations left it, with one bucket under the keys of its rules."""
    bucket = a_bucket(FAILURE, key=sign(FAILURE, OLDER).key)
    connection = sqlite3.connect(path)
    for script in MIGRATIONS[:version]:
        connection.executescript(script)
    connection.execute(f"PRAGMA user_version = {version}")
    values = ("d1", "run.json", "/suite", "suite", 1.0, 1, "{}", "{}", "[]")
    connection.execute("INSERT INTO report VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    connection.execute("INSERT INTO bucket VALUES (?, ?, ?, 1.0)", (bucket.id, bucket.title, dump(bucket.signature)))
    connection.execute("INSERT INTO alias VALUES (?, ?)", (bucket.signature.key, bucket.id))
    row = (bucket.id, FAILURE.test_id, dump(FAILURE))
    connection.execute("INSERT INTO failure VALUES (1, 1, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    return bucket


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
def test_a_store_of_an_older_version_opens_with_all_it_held(tmp_path, version):
    bucket = written_by(version, tmp_path / "store.db")
    with open_store(tmp_path, create=False) as store:
        dossier = store.dossiers()[0]
    assert (dossier.bucket.id, dossier.bucket.failures) == (bucket.id, (FAILURE,))
    assert (dossier.history[0].report, dossier.issue, dossier.verifications) == ("run.json", None, ())


def test_improved_rules_neither_split_a_stored_bucket_nor_make_a_new_one(tmp_path):
    bucket = written_by(1, tmp_path / "store.db")
    with open_store(tmp_path, create=False) as store:
        known = store.known_keys()
        again = group([FAILURE], known, [OLDER])[0]
        store.save_bucket(again)
        assert sign(FAILURE).key not in known
        assert again.id == bucket.id
        assert store.known_keys() == {sign(FAILURE, OLDER).key: bucket.id, sign(FAILURE).key: bucket.id}
