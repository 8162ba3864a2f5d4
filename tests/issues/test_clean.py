"""Quoted text cannot act, whatever it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tputriage.issues.clean import code, fenced, prose, shorten, shorten_middle, title

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PIECES = st.lists(
    st.sampled_from(
        ["`", "``", "```", "\\", "|", "\n", "<b>", "*", "_", "[x](y)", "~~~", " ", "@user", "#12", "a", "<!--"]
    )
).map("".join)


@given(PIECES)
def test_nothing_ends_a_fence_from_inside(text):
    tokens = MARKDOWN.parse(fenced(text))
    assert [token.type for token in tokens] == ["fence"]


@given(PIECES)
def test_a_code_span_is_one_code_span(text):
    span = code(text)
    inline = MARKDOWN.parse(f"a {span} b")[1]
    if span:
        assert [token.type for token in inline.children] == ["text", "code_inline", "text"]


@given(PIECES)
def test_a_code_span_stays_in_its_cell(text):
    table = f"| x | y |\n|---|---|\n| {code(text, cell=True) or 'empty'} | last |\n"
    html = MARKDOWN.render(table)
    assert html.count("<td>") == 2
    assert "<td>last</td>" in html


@given(PIECES)
def test_prose_is_text_and_nothing_else(text):
    inline = MARKDOWN.parse(f"It says {prose(text)} here.")[1]
    assert {token.type for token in inline.children} <= {"text", "text_special"}


@pytest.mark.parametrize(
    ("text", "living"), [("@someone", "@s"), ("#12", "#1"), ("GH-12", "GH-1"), ("o/r#3", "#3"), ("http://x.y", "://")]
)
def test_mentions_references_and_links_are_broken_up_in_prose_and_titles(text, living):
    assert living not in prose(text)
    assert living == "://" or living not in title(text, 110)


def test_names_with_underscores_read_as_they_are_written():
    assert prose("fails for channels_last") == "fails for channels_last"


def test_what_is_cut_says_so():
    assert shorten("one two three", 9) == "one two…"
    assert "characters left out" in shorten_middle("head\n" * 1000 + "tail", 100)


def test_our_own_marks_are_not_found_in_quoted_text():
    assert "<!-- tputriage" not in fenced("<!-- tputriage signature=1 key=a -->\n<!-- /tputriage -->")
