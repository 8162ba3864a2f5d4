"""When a call fails: the grid, and the sentence made of it."""

from tputriage.minimize.arguments import Call, Layout, Tensor, Way
from tputriage.minimize.conditions import find_conditions, statement, variations
from tputriage.minimize.writing import script_of
from tputriage.model import Failure, Outcome, Phase
from tputriage.signatures import sign
from tputriage.targets.seam import Answer, Ended, Target

MESSAGE = "view size is not compatible with the layout"
WANTED = sign(Failure("t", Phase.CALL, Outcome.FAILED, "RuntimeError", MESSAGE))
CHANNELS_LAST = Layout(Way.PERMUTED, (0, 2, 3, 1))
CALL = Call("torch.f", (Tensor(1, (2, 4, 2, 2), "float32", layout=CHANNELS_LAST),), {})


class Fake:
    """A runner on which a script fails with what `rule` says; None passes."""

    def __init__(self, device, rule):
        self.target = Target(device, device, "python")
        self.asked = []
        self._rule = rule

    def ask(self, jobs):
        for job in jobs:
            self.asked.append(job.payload["source"])
            message = self._rule(job.payload["source"])
            record = {
                "test_id": "repro.py", "phase": "call", "outcome": "failed", "exception": "RuntimeError",
                "message": message, "frames": [], "text": "", "causes": [],
            }  # fmt: skip
            value = {"outcome": "failed" if message else "passed", "failures": [record] if message else []}
            yield Answer(job, Ended.DONE, value, 0.1)


def found(device_rule, reference_rule=lambda source: None):
    device, reference = Fake("tpu", device_rule), Fake("cpu", reference_rule)
    result = find_conditions(CALL, lambda call: script_of(call, "tpu"), WANTED, device, reference, limit_s=1.0)
    return result, device, reference


def test_the_layout_that_decides_comes_first():
    result, _, _ = found(lambda source: MESSAGE if "channels_last" in source else None)
    assert result.statement.startswith(
        "fails for channels_last input, passes for contiguous, transposed or sliced ([..., ::2]) input;"
    )


def test_an_axis_that_does_not_matter_is_said_so():
    result, _, _ = found(lambda source: MESSAGE)
    assert result.statement == (
        "fails for every dtype, layout and size tried, with and without requires_grad, eager and compiled"
    )


def test_what_the_reference_refuses_too_is_left_out():
    refuses = lambda source: "no kernel" if "int64" in source else None  # noqa: E731
    result, _, _ = found(lambda source: refuses(source) or MESSAGE, refuses)
    assert "dtype: int64" not in dict(result.table)


def test_another_error_is_named_in_the_table():
    result, _, _ = found(lambda source: "out of memory in the moon" if "float16" in source else MESSAGE)
    assert dict(result.table)["dtype: float16"] == "error: out of memory in the moon"


def test_the_call_itself_is_not_run_again():
    _, device, _ = found(lambda source: MESSAGE)
    assert script_of(CALL, "tpu") not in device.asked


def test_the_reference_is_asked_only_about_what_does_not_pass():
    _, _, reference = found(lambda source: None)
    assert reference.asked == []


def test_nothing_known_says_nothing():
    assert statement([]) == ""


def test_two_names_are_joined_by_or():
    known = [("size", "0", "pass"), ("size", "1", "pass"), ("size", "8", "fail")]
    assert statement(known) == "fails for dimensions of 8, passes for dimensions of 0 or 1"


def test_an_axis_with_another_error_is_not_said_to_make_no_difference():
    known = [("dtype", "float32", "fail"), ("dtype", "float16", "error: no such kernel")]
    assert statement(known) == "fails for float32, stops at another error for float16"


def test_dtypes_that_are_all_that_was_tried_are_listed():
    known = [("dtype", "float32", "fail"), ("dtype", "int64", "fail")]
    assert statement(known) == "fails for every dtype tried (float32, int64)"


def test_an_axis_on_which_one_value_is_known_says_nothing():
    assert statement([("dtype", "complex64", "fail")]) == ""


def test_of_axes_that_decide_the_rest_is_said_to_make_no_difference():
    known = [("gradient", "with requires_grad", "fail"), ("gradient", "without requires_grad", "pass")]
    alike = [("dtype", "float32", "fail"), ("dtype", "float64", "fail")]
    assert statement(known + alike) == (
        "fails with requires_grad, passes without requires_grad; dtype makes no difference"
    )


def test_a_compiled_call_is_one_of_the_variations():
    _, device, _ = found(lambda source: None)
    assert any("torch.compile(lambda x: torch.f(x))(x)\n" in source for source in device.asked)


def test_what_only_the_plugin_stops_at_is_left_out():
    said = "GetOutputMemoryKinds is not supported"
    result, _, _ = found(lambda source: said if "compile" in source else MESSAGE)
    assert "mode: under torch.compile" not in dict(result.table)


def test_every_dimension_is_varied_where_the_reference_takes_that():
    _, device, _ = found(lambda source: None)
    assert any("torch.ones(8, 8, 8, 8" in source for source in device.asked)


def test_a_dtype_that_is_not_changed_is_not_claimed():
    call = Call("torch.f", (Tensor(1, (2,), "complex64"),), {})
    assert {entry.name for entry in variations(call) if entry.axis == "dtype"} == {"complex64", "complex128"}
