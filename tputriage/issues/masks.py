"""What may leave this machine: secrets, and the names of people and machines, masked.

shapes.py knows the usual shapes; `Cleaner.words` holds what only this machine knows: values of secret environment
variables, its user, its host and its home folder. Masking twice changes nothing.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

from tputriage.issues.shapes import COMMON, HOME, HOST, IP4, IP6, MAIL, NAME_FIELD, PROMPT, SECRET_NAME, SECRETS

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_IN_ADDRESS = re.compile(r"://[^:/@\s]*:(?P<password>[^@/\s]+)@")  # of a proxy, or a database
SURELY = 12  # characters of a secret that stand by chance in no other word
_PLAIN_CASES = str.maketrans("\u0130\u0131\u017f\u212a", "iisk")
_ODD_CASES = frozenset(map(chr, _PLAIN_CASES))
# These hide or reorder what a reader sees, and could carry a token past the shapes.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class Cleaner:
    """Masks text; `words` are what no shape can tell: (text, what stands in its place), longest first."""

    words: tuple[tuple[str, str], ...] = ()

    def mask(self, text: str) -> str:
        """The text without secrets, home folders, names, addresses, control characters and lone surrogates."""
        text = plain(text)
        for word, name in self.words:
            text = _replaced(word, name, text)
        small = lowered(text)
        due = {place for sign, places in SIGNED.items() if sign in small for place in places}
        for place in sorted(due):
            shape, stands = SHAPES[place]
            text = shape.sub(stands, text)
        return text

    def knowing(self, texts: Iterable[str]) -> Cleaner:
        """Also masks, everywhere, the user names that home folders in these texts give away."""
        found = {match["user"] for text in texts for match in HOME.finditer(text) if match["user"]}
        return replace(self, words=_ordered((*self.words, *((name, "user") for name in found if _telling(name)))))


def cleaner_for(env: Mapping[str, str], user: str = "", host: str = "", home: str = "") -> Cleaner:
    """Knows the values of secret-looking environment variables, and who and where we are."""
    values = [value for name, value in env.items() if SECRET_NAME.search(name)]
    values += [match["password"] for value in env.values() for match in _IN_ADDRESS.finditer(value)]
    words = [(form, "secret") for value in values if len(value) >= 6 for form in _forms(value)]
    words += [(user, "user")] if _telling(user) else []
    words += [(name, "host") for name in (host, host.split(".")[0]) if len(name) > 3 and name != "localhost"]
    words += [(home, "home")] if len(home) > len("/root") else []
    return Cleaner(_ordered(words))


def _forms(value: str) -> set[str]:
    """How a secret may be written: as it is, in an address, and in a `repr`."""
    return {value, quote(value, safe=""), repr(value)[1:-1]}


def plain(text: str) -> str:
    """Valid Unicode without escape sequences, control and invisible characters; lines end in a newline."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _INVISIBLE.sub("", _CONTROL.sub("", text))


def _telling(name: str) -> bool:
    return len(name) > 2 and name.lower() not in COMMON


def _masked(name: str, match: re.Match[str]) -> str:
    kept = match["keep"] if "keep" in match.re.groupindex else ""
    return f"{kept}[{name}]"


def _replaced(word: str, name: str, text: str) -> str:
    """A name is masked as a whole word only, so that the user `al` leaves `aten::all` alone; a long secret always."""
    if word not in text:
        return text
    if name == "secret" and len(word) >= SURELY:
        return text.replace(word, f"[{name}]")
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", f"[{name}]", text)


def _ordered(words: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(dict(words).items(), key=lambda item: (-len(item[0]), item[0])))


def lowered(text: str) -> str:
    """In lower case as patterns that ignore it see it: four letters beyond ASCII count as `i`, `s` and `k` there."""
    odd = not text.isascii() and not _ODD_CASES.isdisjoint(text)
    return (text.translate(_PLAIN_CASES) if odd else text).lower()


def _mask_address(match: re.Match[str]) -> str:
    """C++'s `a::b` and clock times have the shape of an address, too."""
    text = match[0]
    if "." not in text and text.count(":") < 2:
        return text  # quickly, as text is full of these
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    harmless = address.is_loopback or address.is_unspecified
    doubtful = address.version == 6 and (not re.search(r"\d", text) or (text.count(":") < 3 and len(text) < 7))
    return text if harmless or doubtful else "[address]"


# In the order in which they are masked: secrets first, since an address may be part of one.
ROWS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str], tuple[str, ...]], ...] = (
    *((shape, partial(_masked, name), signs) for name, shape, signs in SECRETS),
    (MAIL, "[e-mail]", ("@",)),
    (PROMPT, "[user]@[host]", ("@",)),
    (HOME, "~", ("/home/", "users", "/root")),
    (NAME_FIELD, r"\g<keep>[name]", ("name",)),
    (HOST, "[host]", ("t1v-n-", "gke-", "ip-", ".internal", ".intranet", ".local", ".lan", ".corp")),
    (IP4, _mask_address, (".",)),
    (IP6, _mask_address, (":",)),
)
SHAPES = tuple((shape, stands) for shape, stands, _ in ROWS)
SIGNED: Mapping[str, tuple[int, ...]] = {
    sign: tuple(place for place, row in enumerate(ROWS) if sign in row[2])
    for sign in dict.fromkeys(sign for *_, signs in ROWS for sign in signs)
}
