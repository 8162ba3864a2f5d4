"""Settings as people write them, and the values that no command could do anything with."""

import pytest

from tputriage.config import Settings, TargetRow, checked, load_settings
from tputriage.errors import InputError

NONSENSE = [
    {"repository": "nope"},
    {"repository": ""},
    {"repository": "../x"},
    {"repository": "a/.."},
    {"repository": "a/b/c"},
    {"repository": "a/b\n"},
    {"repository": "https://github.com/a/b"},
    {"upstream": "nope"},
    {"api_url": "nope"},
    {"api_url": "https://"},
    {"api_url": "https://[::1"},
    {"api_url": "https://host:99999"},
    {"api_url": "https://host:x"},
    {"api_url": "https://a b"},
    {"api_url": "https://user:word@host"},
    {"api_url": "https://host/?q"},
    {"api_url": "file:///etc"},
    {"api_url": "http://github.example.com/api/v3"},
    {"limit_s": float("nan")},
    {"limit_s": float("inf")},
    {"limit_s": 0.0},
    {"max_new": -1},
    {"workers": -1},
    {"workers": 10_000},
    {"device_env": "A B"},
    {"device_env": "A=B"},
    {"env": {"A=B": "x"}},
    {"env": {"A": "\0"}},
    {"targets": {"mine": TargetRow(env={"A-B": "x"})}},
]


@pytest.mark.parametrize("values", NONSENSE, ids=str)
def test_a_value_that_nothing_can_be_done_with_is_one_line(values):
    with pytest.raises(InputError) as caught:
        checked(Settings(**values))
    assert "\n" not in str(caught.value)


def test_what_is_shipped_is_in_order():
    assert checked(Settings()) == Settings()


def test_a_file_of_settings_is_held_to_the_same_and_named(tmp_path):
    (tmp_path / "tputriage.toml").write_text("limit_s = nan\n")
    with pytest.raises(InputError, match=r"tputriage\.toml are wrong: a time limit of nan"):
        load_settings(tmp_path)


def test_a_file_in_the_place_of_the_suites_folder_has_no_settings(tmp_path):
    (tmp_path / "file").write_text("")
    assert load_settings(tmp_path / "file") == Settings()
