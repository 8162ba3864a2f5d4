"""The mark by which we know our issues again, and the part of a body that is ours.

    <!-- tputriage signature=1 key=9f… aliases=1c…,77… seen=0.2.0 fixed= -->
    our section
    <!-- /tputriage -->

What people write before or after the section stays. A mark counts only where it opens a line, and only the first
one; whether the issue's author may set one at all is match.py's question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tputriage.model import Bucket

END = "<!-- /tputriage -->"
_BEGIN = re.compile(r"^<!-- tputriage(?P<fields>(?: [a-z]+=[^\s<>]*)+) -->[ \t]*$", re.MULTILINE)
_END = re.compile(rf"^{re.escape(END)}[ \t]*$", re.MULTILINE)
_COMMENT = "<!-- tputriage comment={} -->"
_KEEP_ALIASES = 60  # a mark of two kilobytes at most


@dataclass(frozen=True, slots=True)
class Mark:
    """What the first line of our section says."""

    signature: int  # version of the rules that made `key`
    key: str
    aliases: tuple[str, ...] = ()
    seen: str = ""  # newest torch_tpu version known to fail
    fixed: str = ""  # torch_tpu version in which it was reported as fixed

    @property
    def keys(self) -> frozenset[str]:
        return frozenset((self.key, *self.aliases)) - {""}

    def __str__(self) -> str:
        aliases = ",".join(self.aliases[:_KEEP_ALIASES])
        fields = f"signature={self.signature} key={self.key} aliases={aliases}"
        return f"<!-- tputriage {fields} seen={_word(self.seen)} fixed={_word(self.fixed)} -->"


def mark_of(bucket: Bucket, former: Mark | None = None, *, seen: str = "", fixed: str = "") -> Mark:
    """The bucket's mark; keys that a former mark of the same issue had stay known as aliases."""
    known = (*bucket.aliases, *((former.key, *former.aliases) if former else ()))
    aliases = tuple(dict.fromkeys(key for key in known if key and key != bucket.signature.key))
    return Mark(bucket.signature.version, bucket.signature.key, aliases, seen, fixed)


def read_mark(body: str) -> Mark | None:
    """The mark of an issue's body, or None where there is none that can be read."""
    match = _BEGIN.search(body.replace("\r\n", "\n"))
    if match is None:
        return None
    fields = dict(field.split("=", 1) for field in match["fields"].split())
    version = fields.get("signature", "")
    if not version.isdecimal() or not fields.get("key"):
        return None
    aliases = tuple(alias for alias in fields.get("aliases", "").split(",") if alias)
    return Mark(int(version), fields["key"], aliases, fields.get("seen", ""), fields.get("fixed", ""))


def replace_section(body: str, section: str) -> str | None:
    """The body with our section renewed and all else as it is; None where its end cannot be found any more."""
    body = body.replace("\r\n", "\n")
    begin = _BEGIN.search(body)
    end = _END.search(body, begin.end()) if begin else None
    if begin is None or end is None:
        return None
    return body[: begin.start()] + section.strip() + body[end.end() :]


def section_of(body: str) -> str:
    """Our section alone; "" where there is none."""
    body = body.replace("\r\n", "\n")
    begin = _BEGIN.search(body)
    end = _END.search(body, begin.end()) if begin else None
    return body[begin.start() : end.end()] if begin and end else ""


def comment_mark(occasion: str) -> str:
    """First line of a comment of ours, by which it is found again after an answer that was lost."""
    return _COMMENT.format(_word(occasion))


def _word(text: str) -> str:
    return re.sub(r"[^\w.+:-]", "_", text)
