"""The page's text; what it does in a browser is tested in tests/browser/."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from tests.dashboard.values import HOSTILE, NOW_S, a_dossier, a_hostile_dossier, a_row
from tputriage.dashboard import Links, board_of, page
from tputriage.dashboard.page import LONGEST, ROOM_CHARS, STATIC_ROWS, embedded


def made(*dossiers, rows=None):
    reports = [a_row(0), a_row(1)] if rows is None else rows
    return page(dossiers, board_of(dossiers, reports, Links()), Links(), now_s=NOW_S, version="1.2.3")


class Elements(HTMLParser):
    """What a browser would make of it: elements with their attributes, and the text of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.found, self.raw = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.found and self.found[-1][0] in ("script", "style"):
            self.raw.append((self.found[-1][0], self.found[-1][1], data))


def data_of(text, name):
    return next(data for tag, attrs, data in Elements(text).raw if attrs.get("id") == name)


def test_every_bucket_is_in_the_page_and_reads_back():
    text = made(a_dossier(0), a_dossier(1))
    assert [row["id"] for row in json.loads(data_of(text, "index"))] == ["b0000000000", "b0000000001"]
    assert [json.loads(line)["condition"] for line in data_of(text, "parts").split("\n")] == [
        "fails with every dtype tried"
    ] * 2


def test_hostile_text_adds_no_element():
    tame, hostile = Elements(made(a_dossier(9))), Elements(made(a_hostile_dossier(9)))
    assert [tag for tag, _ in hostile.found] == [tag for tag, _ in tame.found]


def test_hostile_text_of_a_report_adds_no_element():
    rows = [a_row(0, suite=HOSTILE, source=HOSTILE, versions={"torch_tpu": HOSTILE})]
    assert "window.hacked" not in str([attrs for tag, attrs in Elements(made(rows=rows)).found if tag == "script"])
    assert [tag for tag, _ in Elements(made(rows=rows)).found].count("script") == 3


def test_the_policy_allows_the_pages_own_script_and_style_alone():
    elements = Elements(made(a_dossier()))
    policy = next(attrs["content"] for tag, attrs in elements.found if "content-security-policy" in str(attrs).lower())
    for kind, tag in (("script-src", "script"), ("style-src", "style")):
        own = next(data for name, attrs, data in elements.raw if name == tag and "type" not in attrs)
        digest = base64.b64encode(hashlib.sha256(own.encode("utf-8")).digest()).decode("ascii")
        assert f"{kind} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")


def test_nothing_is_loaded_from_anywhere():
    text = made(a_dossier(issue=3))
    assert not [attrs for _, attrs in Elements(text).found if attrs.get("src")]
    assert [attrs["href"] for tag, attrs in Elements(text).found if "href" in attrs] == ["#buckets"] * 6
    assert not re.search(r"@import|url\(", text)


def test_no_element_has_an_inline_handler_or_style():
    names = {name for _, attrs in Elements(made(a_hostile_dossier())).found for name in attrs}
    assert not {name for name in names if name.startswith("on") or name == "style"}


def test_an_empty_store_gives_a_page():
    text = made(rows=[])
    assert "No failure is stored." in text
    assert json.loads(data_of(text, "index")) == []


@pytest.mark.parametrize("text", ["</script>", "<!--", "<ScRiPt", "a\u2028b\u2029c", "\ud800", "&amp;"])
def test_embedded_text_reads_back_and_cannot_end_its_element(text):
    line = embedded(text)
    assert not set(line) & set("<>&\u2028\u2029\n")
    assert json.loads(line) == text.encode("utf-8", "replace").decode("utf-8")


def test_without_scripts_the_first_buckets_are_a_table():
    text = made(*(a_dossier(number) for number in range(STATIC_ROWS + 5)))
    assert text.partition("<noscript>")[2].partition("</noscript>")[0].count('scope="row"') == STATIC_ROWS


def test_ten_thousand_buckets_share_the_room():
    number = 3 * ROOM_CHARS // LONGEST // 2
    dossiers = [a_dossier(at, words="x" * LONGEST) for at in range(8)] * (number // 8)
    assert len(made(*dossiers)) < 2.5 * ROOM_CHARS
