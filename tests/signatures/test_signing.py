"""What is one bug and what is not."""

from dataclasses import replace

import pytest

from tests.helpers import a_failure
from tputriage.model import Frame, Outcome, Phase
from tputriage.signatures import (
    CURRENT,
    Kind,
    RuleSet,
    explain,
    family_of,
    old_keys,
    same_bug,
    second_key,
    sign,
    title_of,
)

VIEW = "view(): cannot create a view of shape {} from the input tensor of shape {} and strides {}; consider reshape()"
HELPER = Frame("/venv/lib/python3.11/site-packages/torch/testing/_comparison.py", 1600, "assert_close", "raise error")


def failing(message, exception="RuntimeError", **more):
    return a_failure(message=message, exception=exception, **more)


def asserting(message, function="test_a", text="", path="tests/test_m.py", inner=()):
    frames = (Frame(path, 3, function, text), *inner)
    return failing(message, "AssertionError", frames=frames, test_id=f"{path}::{function}")


def alike(one, other):
    return sign(one).key == sign(other).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (failing(VIEW.format([4, 2, 1024], [4, 8, 16], [1, 2])), failing(VIEW.format([1, 4, 32], [9, 9, 9], [7, 8]))),
        (failing("Boom on tpu:0"), failing("boom on tpu:3")),
        (
            failing("operator 'aten::mish.out' is not implemented for TPU"),
            failing("operator 'aten::mish' is not implemented for TPU", "NotImplementedError"),
        ),
        (failing("boom\n\nC++ error trace (starting from the origin):\na.cc:1: F()"), failing("boom")),
        (
            failing("backend='tpu' raised:\nRuntimeError: operator 'aten::mish.out' is not implemented for TPU", "X"),
            failing("operator 'aten::mish.out' is not implemented for TPU"),
        ),
        (
            failing("a required argument is in a failed state"),
            failing("a required argument is in a failed state", test_id="b.py::c"),
        ),
        (
            asserting("assert 0.3 < 0.01", text="assert diff.max() < 1e-2"),
            asserting("assert 0.7 < 0.01", text="assert diff.max() < 1e-2"),
        ),
        (
            failing("X does not appear to have a file named a.json", "OSError"),
            failing("offline", "hub.LocalEntryNotFoundError"),
        ),
    ],
    ids=str,
)
def test_the_same_bug_has_one_key(one, other):
    assert alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (failing("expected float32"), failing("expected float64")),
        (failing("shape [4, 2]"), failing("shape [4, 2, 3]")),
        (
            failing("operator 'aten::mish.out' is not implemented for TPU"),
            failing("operator 'aten::median' is not implemented for TPU"),
        ),
        (
            asserting("Tensor-likes are not close!", inner=(HELPER,)),
            asserting("Tensor-likes are not close!", "test_b", inner=(HELPER,)),
        ),
        (asserting("assert False", text="assert x.ok"), asserting("assert False", text="assert y.ok")),
        (failing("boom", "ValueError"), failing("boom", "TypeError")),
        (failing("E1000: failed"), failing("E1001: failed")),
    ],
    ids=str,
)
def test_different_bugs_have_different_keys(one, other):
    assert not alike(one, other)


@pytest.mark.parametrize(
    "message",
    [
        "Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm.",
        "failed to compile MLIR module -- the XLA compiler failed with: INTERNAL: bad",
        "Timeout (>2.0s) from pytest-timeout.",
        "worker 'gw0' crashed while running 'x'",
    ],
)
def test_some_families_never_merge_by_text_alone(message):
    one = failing(message, frames=(Frame("src/a.py", 1, "forward"),), test_id="t.py::test_a")
    other = failing(message, frames=(Frame("src/b.py", 1, "forward"),), test_id="t.py::test_b")
    assert not alike(one, other)


def test_compiled_and_eager_compile_failures_stay_apart():
    text = "no registered implementation for untyped custom call to tpu_custom_call for Host"
    wrapped = failing(f"backend='tpu' raised:\nRuntimeError: {text}", "torch._dynamo.exc.BackendCompilerFailed")
    assert family_of(failing(text)).kind is Kind.EMULATOR
    assert not alike(failing(text), wrapped)


def test_a_crash_is_known_by_its_failed_check_without_its_line():
    dead = failing("worker 'gw0' crashed", "", outcome=Outcome.CRASH, phase=Phase.CRASH)
    one = replace(dead, captured="F1130 05:32 1 inversion.cc:112] Check failed: a == b (3 vs. 4)", test_id="t.py::a")
    other = replace(dead, captured="F1201 06:00 2 inversion.cc:120] Check failed: a == b (1 vs. 2)", test_id="t.py::b")
    assert alike(one, other)


FATAL = "F0000 00:00:1796031949.198141   12272 inversion.cc:112] in-place operations on overlapping views"


def test_a_fatal_line_of_the_log_is_a_failed_check_too():
    dead = failing(FATAL, "", outcome=Outcome.CRASH, phase=Phase.CRASH)
    assert (sign(dead).family, sign(dead).template) == ("crash-check", f"inversion.cc: {FATAL.partition('] ')[2]}")
    warned = replace(dead, message=FATAL.replace("F0000", "W0000"))
    assert sign(warned).family == "crash"


def test_an_abort_of_the_emulators_own_is_the_emulators():
    said = "F0000 00:00:1796025765.914920 24315 computation_partitioner.cc:269] Check failed: operand_maps.size() == 1"
    assert family_of(failing(said, "", outcome=Outcome.CRASH, phase=Phase.CRASH)).kind is Kind.EMULATOR


def test_torch_tpus_own_refusal_is_not_the_suites_check():
    said = failing("this needs a device: torch not compiled with CUDA", frames=(Frame("x/torch_tpu/a.py", 1, "f"),))
    assert family_of(said).kind is not Kind.SUITE
    assert family_of(replace(said, frames=())).kind is Kind.SUITE


def test_recorded_numbers_merge_by_their_expression_wherever_they_stand():
    one = asserting("assert 4.9 < 0.01", "test_a", "assert abs(result_sum.item() - 162.52383422) < 1e-2", "tests/a.py")
    other = asserting("assert 8.6 < 0.01", "test_b", "assert abs(result_sum.item() - 170.3135) < 1e-2", "tests/b.py")
    assert alike(one, other)


def test_the_cause_of_a_chain_counts_where_it_is_the_devices():
    missing = "RuntimeError: operator 'aten::mish.out' is not implemented for TPU"
    outer = failing("the model cannot run", causes=("KeyError: 'x'", missing))
    assert alike(outer, failing("operator 'aten::mish' is not implemented for TPU"))
    assert alike(failing("the model cannot run", causes=("KeyError: 'x'",)), failing("the model cannot run"))


def test_torchs_own_tests_lose_neither_type_nor_message():
    said = "bad size 3\n\nCaused by sample input at index 2: SampleInput(x)\n\nTo execute this test, run the following"
    assert alike(failing(said, "Exception", causes=("ValueError: bad size 3",)), failing("bad size 7", "ValueError"))


def test_equal_names_in_two_classes_of_one_file_are_two_tests():
    one = replace(asserting("assert 3 == 4", "test_a"), test_id="tests/test_m.py::TestA::test_a")
    other = replace(one, test_id="tests/test_m.py::TestB::test_a")
    mixin = replace(one, frames=(Frame("tests/common.py", 3, "test_a"),))
    assert not alike(one, other)
    assert alike(mixin, replace(mixin, test_id="tests/test_n.py::TestC::test_a"))


def test_a_comparison_with_a_tolerance_is_numeric_whatever_it_says():
    failure = asserting("False is not true", text="self.assertTrue(torch.allclose(a, b))")
    assert family_of(failure).kind is Kind.NUMERIC


@pytest.mark.parametrize("seen", ["Tensor-likes are not equal!", "assert 3 == 4", "Scalars are not close!"])
def test_a_mismatch_is_wanted_in_any_words(seen):
    wanted = sign(asserting("Tensor-likes are not close!\n\nMismatched elements: 3 / 10", inner=(HELPER,)))
    assert same_bug(wanted, asserting(seen, "<module>", path="repro.py"))
    assert not same_bug(wanted, failing("boom"))


def test_a_shrunk_script_may_have_other_shapes_and_ranks_but_no_other_message():
    wanted = sign(failing(VIEW.format([4, 2, 1024], [4, 8, 16, 16], [1, 2, 3, 4])))
    assert same_bug(wanted, failing(VIEW.format([1, 2], [1, 2, 3], [1, 2, 3]), test_id="repro.py"))
    assert not same_bug(wanted, failing("view(): size mismatch"))
    assert not same_bug(wanted, failing(VIEW.format([1], [2], [3]), "ValueError"))


def test_another_missing_operator_is_another_bug():
    wanted = sign(failing("operator 'aten::mish.out' is not implemented for TPU"))
    assert not same_bug(wanted, failing("operator 'aten::median' is not implemented for TPU"))


def test_a_hang_is_one_bug_whoever_stopped_it():
    wanted = sign(failing("Failed: Timeout (>15.0s) from pytest-timeout.", "Failed", outcome=Outcome.TIMEOUT))
    assert wanted.key == sign(failing("did not end within 30 s", "", outcome=Outcome.TIMEOUT)).key
    assert same_bug(wanted, failing("did not end within 30 s", "", outcome=Outcome.TIMEOUT))
    assert not same_bug(wanted, failing("the process died", "", outcome=Outcome.CRASH))


def test_a_bare_assert_needs_its_function_or_its_expression():
    wanted = sign(asserting("assert False", text="assert model.ready"))
    assert same_bug(wanted, asserting("assert False", "<module>", "assert model.ready", "repro.py"))
    assert not same_bug(wanted, asserting("assert False", "<module>", "assert other.ready", "repro.py"))


def test_a_found_operator_outranks_the_frames_of_a_mismatch():
    one, other = asserting("Tensor-likes are not close!", "test_a"), asserting("Scalars are not close!", "test_b")
    assert not alike(one, other)
    assert alike(replace(one, operator="aten.gelu.default"), replace(other, operator="aten::gelu"))


def test_an_older_rule_set_gives_older_keys_and_leaves_equal_ones_out():
    coarse = RuleSet(0, CURRENT.rules[1:])  # a version that did not mask numbers
    numbers, plain = failing("bad size 12"), failing("bad layout")
    assert old_keys(numbers, [coarse]) == (sign(numbers, coarse).key,)
    assert old_keys(plain, [coarse]) == ()
    assert sign(numbers, coarse).version == 0


def test_the_cpp_origin_is_the_second_key():
    said = "boom\n\nC++ error trace (starting from the origin):\n  torch_tpu/eager/view.cc:123: torch_tpu::View(x)\n"
    assert second_key(failing(said)) == "view.cc:torch_tpu::View"


def test_an_explanation_shows_inputs_and_changes():
    told = explain(failing("bad size 12 at /home/a/b.py"))
    assert ("template", "bad size N at <path>") in told.inputs
    assert [change.rule for change in told.changes] == ["number", "path"]


@pytest.mark.parametrize(
    ("failure", "title"),
    [
        (failing("operator 'aten::mish.out' is not implemented for TPU"), "aten::mish is not implemented for TPU"),
        (failing("unique2(): sorted=False is not yet supported"), "unique2(): sorted=False is not yet supported"),
        (failing("bad index", "IndexError"), "IndexError: bad index"),
        (
            failing("bad <m.Model object at 0x7ff928b1d050> at 12", "ValueError"),
            "ValueError: bad <m.Model object> at 12",
        ),
        (failing("stream 0x7ff928b1d050 of device 0x3"), "stream 0x… of device 0x3"),
        (failing("boom " * 100), None),
        (
            failing("F1130 05:32:01.1 47 a/inversion.cc:112] Check failed: a == b", "", outcome=Outcome.CRASH),
            "the process aborts in inversion.cc: Check failed: a == b",
        ),
        (failing("", ""), "a failure without a message"),
    ],
)
def test_titles_read_like_a_person_wrote_them(failure, title):
    made = title_of(sign(failure), [failure])
    assert len(made) <= 110
    assert title is None or made == title


def test_a_bare_assert_outside_pytest_is_known_by_its_expression():
    text = "assert relu(x).stride() == x.stride()"
    wanted = sign(asserting("assert (48, 16, 4, 1) == (48, 1, 12, 3)\n  At index 1 diff: 16 != 1", "test_a", text))
    assert same_bug(wanted, asserting("", "<module>", text, "repro.py"))
    assert not same_bug(wanted, asserting("", "<module>", "assert relu(x).shape == x.shape", "repro.py"))


@pytest.mark.parametrize(
    ("written", "script", "same"),
    [
        ('assert kind(x) == "tpu"', "assert kind(x) == 'tpu'", True),
        ("assert m.alike(", "assert m.alike(x, y)", True),
        ("assert not (", "assert not (x or y)", False),
        ("assert m.alike(x, y)", "assert m.alike(", False),
        ('self.assertFalse(self.w, "it is wrong")', "self.assertFalse(self.w, 'it is wrong')", True),
        ('self.assertFalse(self.w, "it is wrong")', "self.assertFalse(self.v, 'it is wrong')", False),
    ],
)
def test_an_asserted_expression_is_the_same_in_other_quotes_and_on_fewer_lines(written, script, same):
    wanted = sign(asserting("assert False", "test_a", written))
    assert same_bug(wanted, asserting("", "<module>", script, "repro.py")) is same


def test_an_error_in_a_spawned_process_is_that_error():
    cause = "cannot re-initialize TPU in a forked subprocess"
    trace = (
        f'Traceback (most recent call last):\n  File "spawn.py", line 87, in _wrap\n    fn(i)\nRuntimeError: {cause}'
    )
    said = f"\n\n-- Process 0 terminated with the following error:\n{trace}"
    signed = sign(failing(said, "torch.multiprocessing.spawn.ProcessRaisedException"))
    assert (signed.exception, signed.template) == ("RuntimeError", cause)
