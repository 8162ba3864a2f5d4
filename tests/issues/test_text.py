"""An issue as a maintainer reads it: title, body, and what hostile reports do to them (nothing)."""

import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from tests.issues.values import (
    MESSAGE,
    POLICY,
    a_filed_failure,
    a_fixed_dossier,
    a_ready_bucket,
    a_ready_dossier,
    a_ready_repro,
)
from tputriage.issues.marker import END, read_mark, section_of
from tputriage.issues.policy import Policy
from tputriage.issues.text import BODY_LIMIT, TITLE_LIMIT, draft_issue

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def test_the_title_names_the_operator_what_happens_and_the_condition():
    title, _ = draft_issue(a_ready_dossier())
    assert title.startswith(
        "torch.nn.functional.group_norm raises RuntimeError for channels_last input of any dtype: view()"
    )
    assert len(title) <= TITLE_LIMIT


def test_a_missing_operators_title_says_just_that():
    bucket = a_ready_bucket()
    signature = replace(bucket.signature, family="missing-op", operator="aten::median")
    title, _ = draft_issue(replace(a_ready_dossier(repro=None), bucket=replace(bucket, signature=signature)))
    assert title == "aten::median is not implemented for TPU"


def test_the_frames_of_the_runner_and_the_folders_of_the_machine_are_not_shown():
    trace = (
        'noise\nTraceback (most recent call last):\n  File "/venv/lib/site-packages/_pytest/runner.py", line 1, in x\n'
        '    hook()\n    ^^^^\n  File "/venv/lib/site-packages/torch/a.py", line 2, in f\n    return g()\n'
        "RuntimeError: boom"
    )
    _, body = draft_issue(a_ready_dossier(repro=a_ready_repro(a_ready_bucket(), traceback=trace)))
    shown = body[body.index("```pytb") :]
    assert shown.startswith(
        '```pytb\nTraceback (most recent call last):\n  File "site-packages/torch/a.py", line 2, in f\n    return g()\n'
    )


def test_the_body_has_its_parts_in_the_readers_order():
    _, body = draft_issue(a_ready_dossier())
    parts = (
        "<!-- tputriage ",
        "raises RuntimeError on TPU",
        "### Repro",
        "| Expected (CPU) | Actual (TPU) |",
        "### When it fails",
        "### Traceback",
        "<details><summary>C++ error trace",
        "### Where it fails",
        "### Versions",
        "first seen",
        "last seen",
        "<details><summary>Affected tests: 1",
        "python -m pytest",
        "Not a bug",
        END,
    )
    places = [body.index(part) for part in parts]
    assert places == sorted(places)
    assert body.startswith("<!-- tputriage ")


def test_a_setting_is_told_as_one_makes_it_and_those_that_end_alike_share_a_row():
    knobs = {"no-compile": "fails alike", "checks": "fails alike", "blocking": "passes"}
    dossier = replace(a_ready_dossier(), verdict=replace(a_ready_dossier().verdict, knobs=knobs))
    how = {"no-compile": "TORCH_COMPILE_DISABLE=1", "blocking": "x.y(`|`)"}
    _, body = draft_issue(dossier, Policy(settings=how))
    assert "| `with TORCH_COMPILE_DISABLE=1, or checks` | fails alike |" in body
    assert "| ``with x.y(`\\|`)`` | passes |" in body


def test_parametrized_variants_are_folded():
    failures = [a_filed_failure(test_id=f"tests/a.py::test_x[{n}/::{n}]") for n in range(56)]
    _, body = draft_issue(a_ready_dossier(*failures, a_filed_failure(test_id="tests/a.py::test_y[only]")))
    assert "- `tests/a.py::test_x` (56 variants)" in body
    assert "- `tests/a.py::test_y[only]`" in body


def test_emulated_evidence_is_called_that():
    bucket = a_ready_bucket()
    dossier = a_ready_dossier(
        repro=a_ready_repro(bucket, targets={"emulator": "fail", "cpu": "pass"}), history=(), verdict=None
    )
    _, body = draft_issue(dossier)
    assert "no TPU hardware was at hand" in body
    assert "Actual (TPU, emulated)" in body


CRASH = """Initializing TPU distributed runtime
F0000 00:00:1796026933.133524    1523 inversion.cc:112] in-place operations on overlapping views
*** Check failure stack trace: ***
Fatal Python error: Aborted

Extension modules: numpy._core._multiarray_umath, torch._C (total: 2)
"""


def test_a_crash_is_named_by_its_message_and_its_trace_starts_there():
    bucket = a_ready_bucket()
    bucket = replace(bucket, signature=replace(bucket.signature, family="crash"))
    repro = a_ready_repro(bucket, actual=CRASH.splitlines()[1], traceback=CRASH, operator="", condition="")
    title, body = draft_issue(a_ready_dossier(bucket=bucket, repro=repro))
    assert "crashes the process: inversion.cc:112] in-place" in title
    assert "```pytb\nF0000 00:00" in body
    assert "Extension modules" not in body


@pytest.mark.parametrize(
    ("family", "says"),
    [
        ("exception", "exits with 1 while the bug is there and with 0 once it is fixed, so `git bisect run` can"),
        ("crash", "give it `sh -c 'python repro.py tpu || exit 1'`; `python repro.py cpu` passes."),
        ("timeout", "give it `sh -c 'timeout 120 python repro.py tpu || exit 1'`; `python repro.py cpu` passes."),
    ],
)
def test_a_bisection_is_told_how_the_script_ends(family, says):
    bucket = a_ready_bucket()
    bucket = replace(bucket, signature=replace(bucket.signature, family=family))
    _, body = draft_issue(a_ready_dossier(bucket=bucket))
    assert says in body


def test_the_body_of_what_is_fixed_says_so():
    _, body = draft_issue(a_fixed_dossier(), fixed="0.3.0")
    assert "It passes with torch_tpu 0.3.0" in body
    assert read_mark(body).fixed == "0.3.0"


def test_the_title_and_the_sample_are_of_the_same_test():
    fast = a_filed_failure(message="first message", text="RuntimeError: first message", duration_s=0.1)
    dossier = a_ready_dossier(a_filed_failure(duration_s=9.0), fast, repro=None)
    title, body = draft_issue(dossier)
    assert "first message" in title
    assert "RuntimeError: first message" in body
    assert MESSAGE not in body


@pytest.mark.parametrize("huge", ["traceback", "source", "tests", "conditions", "message", "matrix"])
def test_everything_fits_with_the_marks_in_place(huge):
    text = "x" * 50 + "\n" + "``` `` <b> " * 30_000
    failures = [a_filed_failure(test_id=f"t.py::test_{'y' * 200}_{n}") for n in range(3000 if huge == "tests" else 1)]
    bucket = a_ready_bucket(*failures)
    repro = a_ready_repro(
        bucket,
        traceback=text if huge == "traceback" else "",
        source=text if huge == "source" else "pass",
        actual=text if huge == "message" else "boom",
        conditions=tuple((f"{n} {text[:400]}", text[:400]) for n in range(500)) if huge == "conditions" else (),
    )
    verdict = replace(a_ready_dossier().verdict, matrix=((text, text),) * 500 if huge == "matrix" else ())
    _, body = draft_issue(a_ready_dossier(bucket=bucket, repro=repro, verdict=verdict))
    assert len(body) <= BODY_LIMIT
    assert section_of(body) == body


def test_a_template_of_the_users_own_takes_its_place(tmp_path):
    (tmp_path / "title.md.j2").write_text("[suite] {{ subject }}\n")
    title, _ = draft_issue(a_ready_dossier(), replace(POLICY, templates=tmp_path))
    assert title == "[suite] torch.nn.functional.group_norm"


# -- hostile text ------------------------------------------------------------------------------------------

_ATTACKS = (
    "ping @octocat and @org/team",
    "see #12, GH-13 and owner/repo#14",
    "fixes #15, closes #16; Resolves owner/repo#17",
    "<!-- tputriage signature=1 key=stolen aliases= seen= fixed= -->",
    "<!-- /tputriage -->",
    "<!-- hidden",
    "```\n# out of the fence\n@octocat",
    "~~~\n</details>\n~~~",
    "</details></summary><h1>big</h1>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1)) ![x](http://x.example/y.png)",
    "https://github.com/owner/repo/issues/1",
    "| a | b |\n|---|---|\n| @octocat | \\| |",
    "`code` ``more`` ```` four ````",
    "# heading\n- list\n> quote\n1. one\n---\n***",
    "\\`\\| \\\\| \\\\\\|",
    "&lt;b&gt; &#64;octocat &commat;octocat",
    "\ud800 lone \udfff surrogates",
    "\u202eright to left\u202c and \u200bzero\u200bwidth @\u200boctocat",
    "\x1b[31mred\x1b[0m \x00 nul \x07 bell",
    "{{ 7 * 7 }} {% raw %} {# comment #}",
    "line\r\nline\rline\n\n\n\n</pre></code>",
    "x" * 300_000,
    "`" * 5000,
)
HOSTILE = [*_ATTACKS, *(f"Error: {text}\n\n{text} {text}" for text in _ATTACKS)]
_TAGS = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "details", "summary", "ul", "li"}
_TAGS |= {"strong", "blockquote", "hr", "br", "em"}


class Page(HTMLParser):
    """What a browser would see: the tags used, and the text that stands outside code."""

    def __init__(self):
        super().__init__()
        self.tags, self.comments, self.outside, self.depth = [], [], "", 0

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.depth += tag in ("code", "pre")

    def handle_endtag(self, tag):
        self.depth -= tag in ("code", "pre")

    def handle_comment(self, data):
        self.comments.append(data.strip())

    def handle_data(self, data):
        self.outside += "" if self.depth else data


def page_of(text):
    test_id = f"tests/a.py::test_x[{text[:200]}]"
    failure = a_filed_failure(test_id=test_id, message=text, text=f"Traceback\n{text}\nRuntimeError: {text}")
    bucket = a_ready_bucket(failure)
    repro = a_ready_repro(
        bucket, actual=text, expected=text[:500], condition=text[:500], conditions=((text, text),), traceback=""
    )
    verdict = replace(a_ready_dossier().verdict, reason=text, matrix=((text, text),), knobs={text: text})
    title, body = draft_issue(a_ready_dossier(bucket=bucket, repro=repro, verdict=verdict), POLICY)
    page = Page()
    page.feed(MARKDOWN.render(body))
    page.close()
    return title, body, page


def test_there_are_fifty_hostile_messages():
    assert len(HOSTILE) == 50


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_message_renders_harmlessly(text):
    title, body, page = page_of(text)
    assert set(page.tags) <= _TAGS
    assert page.tags.count("details") == 2 or "CreateView" not in body
    assert not re.search(r"(?:^|\W)@[A-Za-z]|#\d|GH-\d|://", page.outside)
    assert len(page.comments) == 2
    assert read_mark(body).key != "stolen"
    assert len(body) <= BODY_LIMIT
    assert len(title) <= TITLE_LIMIT
    assert not re.search(r"@[a-z]|#\d", title)
    (body + title).encode()


def test_the_inspection_itself_finds_what_acts():
    page = Page()
    page.feed(MARKDOWN.render("@octocat <script>x</script> `@inside`"))
    assert "script" in page.tags
    assert "@octocat" in page.outside
    assert "@inside" not in page.outside


def test_paragraphs_are_not_wrapped_since_github_would_keep_the_breaks():
    _, body = draft_issue(a_ready_dossier(history=()), POLICY)
    outside = re.sub(r"^`{3,}.*?^`{3,}$", "", body, flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in outside.splitlines() if line and not re.match(r"[-|<>#]|\*\*", line)]
    assert not [pair for pair in itertools.pairwise(outside.splitlines()) if pair[0] in lines and pair[1] in lines]
