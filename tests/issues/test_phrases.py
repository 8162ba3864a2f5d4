"""The words that title, body and comments share; and every command in them is one that can be parsed."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import click
import pytest

from tests.issues.values import a_filed_failure, a_ready_bucket, a_ready_dossier
from tputriage.cli import commands
from tputriage.issues.phrases import condition_words, expected_words, happens, rerun_command, subject_of

TEMPLATES = Path(__file__).parent.parent.parent / "templates"


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("layout: fails with channels_last, passes with contiguous; fails with every dtype tried (float32)",
         "with channels_last"),
        ("dtype: fails with bfloat16, passes with float32; layout: fails with transposed, passes with contiguous",
         "with bfloat16, with transposed"),
        ("Fails with channels_last, passes with contiguous or transposed; fails with sizes of 8 in place of "
         "4, passes with sizes of 0 in place of 4; the same with any dtype tried, a gradient or none",
         "with channels_last"),
        ("gradient: fails with requires_grad, passes with none", "with requires_grad"),
        ("fails with every dtype tried (float32, int64); a gradient or none", ""),
        ("fails for channels_last input, passes for contiguous input; fails for size 4 or 8, passes for size 0",
         "for channels_last input"),
        ("fails for sliced input, passes for contiguous input; fails for dimensions of 8, passes for dimensions of 0",
         "for sliced input"),
        ("fails for int64, stops at another error for float16; size makes no difference", "for int64"),
        ("fails for every dtype, layout and size tried, with and without requires_grad", ""),
        ("fails without requires_grad, passes with requires_grad", "without requires_grad"),
        ("fails for channels_last input of any dtype; passes contiguous", "for channels_last input of any dtype"),
        ("", ""),
    ],
)  # fmt: skip
def test_what_decides_follows_the_verb(condition, words):
    assert condition_words(condition, 60) == words


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("returns, as on CPU", "runs to its end"),
        ("the script runs to its end, as on CPU", "runs to its end"),
        ("returns a tensor of shape (4, 8)", "returns a tensor of shape (4, 8)"),
        ("tensor([1.0])", "gives tensor([1.0])"),
        ("as on CPU", "runs to its end"),  # a result that differs, as the op road words it
        ("", "runs to its end"),
    ],
)
def test_what_is_expected_follows_cpu(expected, words):
    assert expected_words(expected) == words


@pytest.mark.parametrize("test_id", ["tests/a.py::test_x[a b;$(rm -rf ~)]", "-p=evil.py::test", "t.py::test['\"`\n]"])
def test_a_test_id_is_one_word_of_the_shell_and_no_option(test_id):
    words = shlex.split(rerun_command(test_id))
    assert words[:3] == ["python", "-m", "pytest"]
    assert words[3:] == [test_id if not test_id.startswith("-") else f"./{test_id}"]


def test_without_an_operator_the_test_is_named():
    bucket = a_ready_bucket(a_filed_failure(test_id="t.py::TestA::test_b[x::y]"))
    bucket = replace(bucket, signature=replace(bucket.signature, operator=""))
    assert subject_of(a_ready_dossier(repro=None, bucket=bucket)) == "test_b"


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("missing-op", "is not implemented for TPU"),
        ("crash-check", "crashes the process"),
        ("timeout", "hangs"),
        ("not-close", "gives another result than CPU"),
        ("not-raised", "raises no error"),
        ("exception", "raises RuntimeError"),
        ("a family of a later version", "raises RuntimeError"),
    ],
)
def test_the_verb_says_what_happens(family, words):
    bucket = a_ready_bucket()
    dossier = a_ready_dossier(bucket=replace(bucket, signature=replace(bucket.signature, family=family)))
    assert happens(dossier) == words


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.md.j2")), ids=lambda path: path.name)
def test_every_command_of_ours_in_a_template_can_be_parsed(path):
    for line in re.findall(r"`tputriage (.+?)`", path.read_text("utf-8")):
        name, *arguments = shlex.split(line)
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        assert command.make_context(name, list(arguments), resilient_parsing=False)
