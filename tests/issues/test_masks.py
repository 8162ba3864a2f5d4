"""What must not leave this machine does not, and what a bug report needs stays."""

import time

import pytest

from tests.issues.secrets import KINDS, planted
from tputriage.issues.masks import ROWS, Cleaner, cleaner_for, lowered, plain

ENVIRONMENT = {
    f"SOME_TOKEN_{number}": secret for number, (kind, _, secret) in enumerate(planted()) if kind == "environment"
}
CLEANER = cleaner_for(ENVIRONMENT)


@pytest.mark.parametrize("kind", KINDS)
def test_no_secret_survives(kind):
    for _, text, secret in (item for item in planted() if item[0] == kind):
        for line in secret.splitlines():
            assert line not in CLEANER.mask(f"E   RuntimeError: {text}\nnext line")


@pytest.mark.parametrize("kind", KINDS)
def test_masking_twice_changes_nothing(kind):
    text = next(text for name, text, _ in planted() if name == kind)
    once = CLEANER.mask(text)
    assert CLEANER.mask(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "view(): cannot create a view of shape [4, 2, 1024] from the input tensor",
        "scores = q @ k.mT; y = x@w.t()",
        "tests/test_unet.py::TestUnet::test_forward[dtype0-12:30:45]",
        "at::native::add std::vector<int> a::b c10::impl::f00d::bad",
        "torch 2.13.0+cpu, torch_tpu 0.2.0, libtpu 0.0.50",
        "tokenizer(pad_token='[PAD]', eos_token='<|endoftext|>')",
        "@pytest.mark.parametrize('x', [1])",
        "key = cache_key(module)",
        "key: torch.Tensor, token_ids=None, tokens: 4096",
        "threading.local() and self.internal = x.local",
        "http://localhost:8080 and 127.0.0.1",
        "RuntimeError: operator 'aten::median' is not implemented for TPU",
        'File "torch/_dynamo/eval_frame.py", line 12, in _fn',
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_what_a_report_needs_stays(text):
    assert Cleaner().mask(text) == text


def test_a_home_folder_becomes_a_tilde():
    assert Cleaner().mask('File "/home/alice/x/y.py"') == 'File "~/x/y.py"'
    assert Cleaner().mask(r"C:\Users\alice\x.py") == r"~\x.py"


def test_a_user_known_from_a_home_folder_is_masked_elsewhere_too():
    cleaner = Cleaner().knowing(["/home/alicesmith/x.py"])
    assert cleaner.mask("run by alicesmith") == "run by [user]"


def test_our_own_user_host_and_home_are_masked():
    cleaner = cleaner_for({}, user="alicesmith", host="box7.lab", home="/srv/alicesmith")
    assert cleaner.mask("alicesmith at box7.lab in /srv/alicesmith/x") == "[user] at [host] in [home]/x"


def test_a_name_is_masked_as_a_whole_word_only():
    assert cleaner_for({}, user="add").mask("aten::add_ by add, addmm") == "aten::[user]_ by [user], addmm"


def test_surrogates_escape_sequences_and_invisible_characters_go():
    assert plain("a\ud800b\x1b[31mred\x1b[0m\x00 \u202eleft\r\nend") == "a\ufffdbred left\nend"


def test_a_token_split_by_an_invisible_character_is_still_found():
    assert "abcdefghij" not in Cleaner().mask("ghp_\u200babcdefghijABCDEFGHIJabcdefghijABCDEF")


@pytest.mark.parametrize(
    "piece",
    ["a.b@c.d-e.f:1::2 ", "a.", "a-", "a@", "a:", "://a:", "token=", "eyJ.", "-----BEGIN PRIVATE KEY-----", "1."],
)
def test_a_huge_text_is_masked_in_reasonable_time(piece):
    began = time.perf_counter()
    Cleaner().mask(piece * (100_000 // len(piece)))
    assert time.perf_counter() - began < 3.0


@pytest.mark.parametrize("changed", [str, str.upper, str.lower, str.swapcase], ids=lambda changed: changed.__name__)
def test_what_a_shape_finds_has_one_of_its_signs(changed):
    """A text without the signs is not searched: a shape that matched there would let a secret through."""
    texts = [changed(text) for _, text, _ in planted()]
    texts += [changed(text) for text in ("user_name: alicesmith", r"C:\Users\alice\x", "alice@box7:~/x", "fe80::1:2:3")]
    for shape, stands, signs in ROWS:
        for text in texts:
            if shape.sub(stands, text) != text:
                assert any(sign in lowered(text) for sign in signs), (shape.pattern, text)


@pytest.mark.parametrize("letters", ["PA\u017f\u017fWORD", "to\u212aen", "AUTHOR\u0130ZATION", "author\u0131zation"])
def test_letters_that_count_as_others_hide_nothing(letters):
    assert "hunter2hunter2" not in Cleaner().mask(f"{letters}: 'hunter2hunter2'")


SECRET = "s3cr3tV4lueOf/Mine99"
HELD = {"A_PASSWORD": SECRET, "B_SECRET": "line one here\nline two here", "HTTPS_PROXY": "http://bob:hunter22@proxy:80"}


@pytest.mark.parametrize("text", [
    f"x{SECRET}y", f"Bearer{SECRET}", "a=1&key=s3cr3tV4lueOf%2FMine99", HELD["B_SECRET"], repr(HELD["B_SECRET"]),
    "bob and hunter22",
])  # fmt: skip
def test_a_secret_of_the_environment_is_masked_however_it_is_written(text):
    masked = cleaner_for(HELD).mask(text)
    assert "[secret]" in masked
    assert not any(word in masked for word in ("s3cr3t", "Mine99", "line one", "hunter22"))
