"""Where the right to file comes from, and that it shows nowhere."""

import pytest

from tputriage.errors import InputError, TrackerError
from tputriage.issues.credentials import Credentials, find_credentials, need_credentials


@pytest.mark.parametrize(
    ("env", "token"),
    [({"GITHUB_TOKEN": "one", "GH_TOKEN": "two"}, "one"), ({"GH_TOKEN": "two\n"}, "two"), ({}, "from gh")],
)
def test_the_first_token_that_is_there_is_taken(env, token):
    assert find_credentials(env, lambda: token.replace(" ", "-")) == Credentials(token=token.replace(" ", "-"))


def test_without_any_it_is_said_what_to_do():
    with pytest.raises(TrackerError, match=r"GITHUB_TOKEN.*gh auth login.*--dry-run"):
        need_credentials({})


def test_an_app_has_an_id_a_key_and_an_installation(tmp_path):
    (tmp_path / "key.pem").write_text("the key")
    env = {
        "TPUTRIAGE_APP_ID": "7",
        "TPUTRIAGE_APP_INSTALLATION_ID": "12",
        "TPUTRIAGE_APP_PRIVATE_KEY_FILE": str(tmp_path / "key.pem"),
    }
    assert find_credentials(env) == Credentials(app_id="7", private_key="the key", installation=12)


@pytest.mark.parametrize("more", [{}, {"TPUTRIAGE_APP_INSTALLATION_ID": "12"}])
def test_an_app_that_lacks_something_is_bad_input(more):
    with pytest.raises(InputError, match="TPUTRIAGE_APP"):
        find_credentials({"TPUTRIAGE_APP_ID": "7", **more})


def test_a_token_in_two_lines_is_bad_input_that_does_not_show_it():
    with pytest.raises(InputError) as caught:
        find_credentials({"GITHUB_TOKEN": "secret\nhalf"})
    assert "secret" not in str(caught.value)


def test_secrets_do_not_show_in_a_repr():
    assert "secret" not in repr(Credentials(token="secret", private_key="secret"))
