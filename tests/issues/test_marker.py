"""Our mark is found again, and what people write around our section stays."""

from hypothesis import given
from hypothesis import strategies as st

from tests.issues.values import a_ready_bucket
from tputriage.issues.marker import END, Mark, comment_mark, mark_of, read_mark, replace_section, section_of

MARK = Mark(2, "abc", ("def", "123"), "0.2.0", "0.3.0")


def test_a_mark_is_read_as_it_was_written():
    assert read_mark(f"{MARK}\ntext") == MARK


def test_a_mark_of_a_bucket_keeps_the_keys_it_was_known_by():
    bucket = a_ready_bucket(aliases=("old",))
    assert mark_of(bucket, MARK).keys == {bucket.signature.key, "old", "abc", "def", "123"}


def test_a_mark_counts_at_the_beginning_of_a_line_only():
    assert read_mark(f"> quoted {MARK}") is None


def test_a_damaged_mark_is_none():
    assert read_mark("<!-- tputriage signature=x key=abc -->") is None
    assert read_mark("<!-- tputriage signature=1 key= -->") is None


def test_a_bodys_line_ends_do_not_matter():
    assert read_mark(f"{MARK}\r\ntext\r\n") == MARK


@given(before=st.text(st.characters(exclude_characters="\r<", exclude_categories=["Cs"])), after=st.text("abc \n#"))
def test_what_people_write_around_our_section_survives(before, after):
    body = f"{before}\n{MARK}\nold\n{END}\n{after}"
    assert replace_section(body, f"{MARK}\nnew\n{END}") == f"{before}\n{MARK}\nnew\n{END}\n{after}"


def test_a_section_without_its_end_is_left_to_people():
    assert replace_section(f"{MARK}\nold", "new") is None
    assert section_of(f"{MARK}\nold") == ""


def test_a_comments_mark_holds_nothing_that_could_end_it():
    assert comment_mark("back:1 --> <b>") == "<!-- tputriage comment=back:1_--___b_ -->"
