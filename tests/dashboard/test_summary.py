"""Markdown for a CI job's own page."""

import re

from markdown_it import MarkdownIt

from tests.dashboard.values import HOSTILE, SOURCE, a_dossier, a_hostile_dossier, a_row
from tputriage.dashboard import Links, board_of, summary
from tputriage.dashboard.summary import LIMIT_BYTES


def made(*dossiers, rows=None):
    return summary(dossiers, board_of(dossiers, [a_row(0)] if rows is None else rows, Links()), Links())


def rendered(text):
    return MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)


def test_the_pass_rate_and_each_bucket_are_told():
    text = made(a_dossier(0, tests=3))
    assert "<b>77.8%</b>" in text
    assert "<td>3</td><td>tpu-only</td><td>verified</td>" in text


def test_the_script_stands_there_to_be_copied():
    code = re.search(r'<pre lang="python"><code>(.*?)</code></pre>', rendered(made(a_dossier())), re.S)[1]
    assert code.replace("&gt;", ">").replace("&#34;", '"') == SOURCE


def test_hostile_text_stands_in_code_alone_and_makes_no_element():
    rows = [a_row(0, suite=HOSTILE, versions={"torch_tpu": HOSTILE})]
    page = rendered(made(a_hostile_dossier(), rows=rows))
    assert set(re.findall(r"<(\w+)", page)) <= set(
        ["h1", "table", "tr", "th", "td", "tbody", "thead", "b", "p", "code", "pre", "details", "summary", "a"]
    )
    outside = re.sub(r"<code>.*?</code>", "", page, flags=re.S)
    assert not re.search(r"hacked|everyone|fixes|\bbold\b", outside)


def test_a_thousand_long_buckets_fit():
    text = made(*(a_dossier(number, words="<&>\"'" * 2_000) for number in range(1_000)))
    assert len(text.encode("utf-8")) <= LIMIT_BYTES
    assert "500 more buckets are left out here" in text
    left = int(re.search(r"The scripts of (\d+) more buckets are left out", text)[1])
    assert left + text.count("<details>") == 1_000


def test_an_issue_links_where_it_is():
    dossier = a_dossier(issue=5)
    text = summary(
        [dossier], board_of([dossier], [], Links()), Links({dossier.bucket.id: "https://github.com/o/n/issues/5"})
    )
    assert '<a href="https://github.com/o/n/issues/5">5</a>' in text
