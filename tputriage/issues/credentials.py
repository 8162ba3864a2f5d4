"""Where the right to file comes from: a token, gh's token, or a GitHub App. Never printed, never stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tputriage.errors import InputError, TrackerError

APP = ("TPUTRIAGE_APP_ID", "TPUTRIAGE_APP_INSTALLATION_ID")
KEY, KEY_FILE = "TPUTRIAGE_APP_PRIVATE_KEY", "TPUTRIAGE_APP_PRIVATE_KEY_FILE"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A token, or an App's id, key and installation; none of it shows in its `repr`."""

    token: str = field(default="", repr=False)
    app_id: str = ""
    private_key: str = field(default="", repr=False)
    installation: int = 0

    @property
    def is_app(self) -> bool:
        return bool(self.app_id)


def find_credentials(env: Mapping[str, str], ask_gh: Callable[[], str] = lambda: "") -> Credentials | None:
    """The first of GITHUB_TOKEN, GH_TOKEN, a GitHub App's variables, and what `ask_gh` answers; None for none.

    `ask_gh` is the output of `gh auth token`, or "" where gh is not there or not logged in.
    """
    token = env.get("GITHUB_TOKEN", "").strip() or env.get("GH_TOKEN", "").strip()
    if token:
        return Credentials(token=_one_line(token))
    if env.get(APP[0]):
        return _app(env)
    token = ask_gh().strip()
    return Credentials(token=_one_line(token)) if token else None


def need_credentials(env: Mapping[str, str], ask_gh: Callable[[], str] = lambda: "") -> Credentials:
    """The same, or TrackerError with what to do about it."""
    found = find_credentials(env, ask_gh)
    if found is None:
        raise TrackerError(
            "filing needs a GitHub token: set GITHUB_TOKEN (scope public_repo, or issues: write), or log in with"
            " `gh auth login`; --dry-run shows the plan without one"
        )
    return found


def _app(env: Mapping[str, str]) -> Credentials:
    if not env.get(APP[1], "").isdecimal():
        raise InputError(f"{APP[0]} is set, so {APP[1]} must be the number of the App's installation")
    return Credentials(app_id=env[APP[0]], private_key=_private_key(env), installation=int(env[APP[1]]))


def _private_key(env: Mapping[str, str]) -> str:
    if env.get(KEY):
        return env[KEY].replace("\\n", "\n")
    try:
        return Path(env.get(KEY_FILE) or KEY_FILE).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise InputError(f"the App's private key cannot be read: set {KEY}, or {KEY_FILE} to its file") from exc


def _one_line(token: str) -> str:
    if any(character.isspace() or not character.isprintable() for character in token) or not token.isascii():
        raise InputError("the GitHub token holds a character that no token has, such as a space: copy it again")
    return token
