"""Each rule and each family row by its own examples."""

import pytest

from tputriage.signatures.families import FAMILIES, Kind, match_family
from tputriage.signatures.rules import RULES, changes, normalise, unwrap


def unescaped(text):
    return text.replace("\\n", "\n")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_merges_what_it_says_and_is_what_merges_it(rule):
    one, other = rule.merges
    assert normalise(one) == normalise(other)
    assert rule.name in {change.rule for text in rule.merges for change in changes(text)}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_keeps_apart_what_it_says(rule):
    assert normalise(rule.keeps[0]) != normalise(rule.keeps[1])


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_matches_its_example_and_leaves_its_counterexample(family):
    assert match_family(unescaped(family.example)) is family
    assert family is FAMILIES[-1] or match_family(unescaped(family.counterexample)) is not family


def test_every_kind_has_a_family_and_every_name_is_one():
    assert {family.kind for family in FAMILIES} == set(Kind)
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize(
    ("message", "template"),
    [
        ("shape [4, 2, 1024] of 3", "shape [N, N, N] of N"),
        ("shape [4, 32, 512] of 17", "shape [N, N, N] of N"),
        ("aten::conv2d got torch.float32 on tpu:3", "aten::conv2d got torch.float32 on tpu:N"),
        ("E1001: 8.00M free", "E1001: N free"),
        ("[Errno 28] at /home/a/b.py:12", "[Errno 28] at <path>"),
        ("<a.B object at 0x7f1234>", "<a.B>"),
    ],
)
def test_structure_names_and_codes_survive(message, template):
    assert normalise(message) == template


@pytest.mark.parametrize(
    "text", ["(" * 4000, "[" + "1, " * 1500, "tensor(" * 500, "a/" * 2000, "0x" * 2000, "E " * 2000]
)
def test_hostile_messages_end_quickly(text):
    assert len(normalise(text)) <= 500


def test_wrapped_errors_come_out_with_their_own_type():
    wrapped = "backend='tpu' raised:\nLoweringException: ValueError: boom"
    assert unwrap("torch._dynamo.exc.BackendCompilerFailed", wrapped) == (
        "ValueError",
        "boom",
        "torch._dynamo.exc.BackendCompilerFailed",
    )
