"""Scripts that show a wrong result: both sides on the same inputs, made on CPU."""

import pytest

from tputriage.config import Settings
from tputriage.minimize.arguments import Call, Fill, Tensor, View
from tputriage.minimize.departures import Departure, checks_of, compare_calls, script_of
from tputriage.minimize.saying import run_script
from tputriage.targets.catalogue import find_target
from tputriage.targets.seam import Answer, Ended, Target
from tputriage.targets.worker import Worker

X = Tensor(1, (2, 2), "float32", fill=Fill.VALUES, values=(1.0, 2.0, 3.0, 4.0))


def script(kind, call, *, output=-1, detail="largest difference 1", fill=None):
    departure = Departure(kind, detail, output, call)
    return script_of(departure, call, "tpu", checks_of(kind)[0])


def body(*args, **kwargs):
    return script(*args, **kwargs).partition('"tpu"\n')[2]


def test_wrong_values_are_compared():
    assert body("values", Call("torch.exp", (X,), {})) == (
        "x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\n"
        "expected = torch.exp(x)\n"
        "actual = torch.exp(x.to(device))\n"
        "torch.testing.assert_close(actual.cpu(), expected)\n"
    )


def test_the_output_that_differs_is_compared():
    lines = body("values", Call("torch.topk", (X, 1), {}), output=1).splitlines()
    assert lines[1:3] == ["expected = torch.topk(x, 1)[1]", "actual = torch.topk(x.to(device), 1)[1]"]


def test_a_changed_argument_is_compared_after_the_call():
    assert body("state", Call("torch.Tensor.mul_", (X, 2), {}), output=0).splitlines()[1:] == [
        "x_there = x.clone().to(device)",
        "x *= 2",
        "x_there *= 2",
        "torch.testing.assert_close(x_there.cpu(), x)",
    ]


def test_a_missing_exception_fails_only_where_it_is_missing():
    text = script("no-error", Call("torch.f", (X,), {}), detail="IndexError")
    assert text.startswith("import contextlib\nimport sys\n")
    assert text.splitlines()[-3:] == [
        "with contextlib.suppress(IndexError):",
        "    torch.f(x)",
        '    raise AssertionError("no IndexError was raised")',
    ]


def test_an_error_in_other_words_is_compared_with_cpus():
    assert body("message", Call("torch.f", (X,), {}), detail="RuntimeError: no").splitlines()[1:] == [
        "",
        "",
        "def raised(device):",
        "    try:",
        "        torch.f(x.to(device))",
        "    except Exception as error:",
        "        return error",
        '    raise SystemExit("nothing was raised")',
        "",
        "",
        'actual, expected = raised(device), raised("cpu")',
        "assert str(actual) == str(expected), actual",
    ]


@pytest.fixture(scope="module")
def cpu():
    with Worker(find_target("cpu", Settings())) as worker:
        yield worker


RAISING = """
def f(x):
    if x.device.type != SILENT:
        raise (ValueError if x.is_meta else TypeError)(x.device.type)
"""


@pytest.mark.parametrize("kind", ["exception", "message"])
@pytest.mark.parametrize(("silent", "ends"), [("meta", "SystemExit"), ("cpu", "SystemExit"), ("", "AssertionError")])
def test_a_side_that_raises_nothing_ends_otherwise_than_errors_that_differ(cpu, kind, silent, ends):
    source = script(kind, Call("torch.f", (X,), {}), detail="").replace('raised("cpu")', 'raised("meta")')
    source = RAISING.replace("SILENT", repr(silent)) + source.replace("torch.f(", "f(")
    assert run_script(source, cpu, 60.0).failure.exception == ends


def test_of_errors_the_types_are_compared_and_views_lie_in_one_tensor_on_each_side():
    y = Tensor(2, (7,), "float32", view=View(Tensor(1, (8,), "float32"), "[1:]"))
    lines = body("exception", Call("torch.f", (y, 2), {}), detail="IndexError").splitlines()
    assert lines[:3] == ["x = torch.ones(8)", "", ""]
    at = lines.index("def raised(device):")
    assert lines[at + 1 : at + 5] == [
        "    x_there = x.to(device)",
        "    y_there = x_there[1:]",
        "    try:",
        "        torch.f(y_there, 2)",
    ]
    assert lines[-1] == "assert type(actual) is type(expected), actual"


def test_views_of_one_tensor_are_views_of_one_tensor_on_the_device_too():
    x = Tensor(1, (8,), "float32")
    y = Tensor(2, (7,), "float32", view=View(x, "[1:]"))
    assert body("values", Call("torch.add", (x, y), {})).splitlines() == [
        "x = torch.ones(8)",
        "y = x[1:]",
        "expected = torch.add(x, y)",
        "x_there = x.to(device)",
        "y_there = x_there[1:]",
        "actual = torch.add(x_there, y_there)",
        "torch.testing.assert_close(actual.cpu(), expected)",
    ]


def test_an_exception_is_named_as_people_know_it():
    text = script("no-error", Call("torch.f", (X,), {}), detail="torch._C._LinAlgError")
    assert "with contextlib.suppress(torch.linalg.LinAlgError):\n" in text
    assert text.endswith('raise AssertionError("no LinAlgError was raised")\n')


def test_random_inputs_are_seeded_and_made_on_cpu():
    x = Tensor(1, (2, 2), "float32", fill=Fill.RANDN)
    assert body("values", Call("torch.exp", (x,), {})).startswith("torch.manual_seed(0)\nx = torch.randn(2, 2)\n")


class Answering:
    target = Target("tpu", "tpu", "python")

    def __init__(self, **value):
        self._value = {"departures": [], "open": [], "random": [], "compared": 7, "largest": ["", 0.0]} | value

    def ask(self, jobs):
        for job in jobs:
            yield Answer(job, Ended.DONE, self._value, 0.1)


def test_ties_are_named_and_no_departure():
    found = compare_calls({"test_id": "t"}, Answering(open=["torch.topk"]), 1.0)
    assert found.departures == ()
    assert found.reason == "torch.topk differs only in what torch leaves open: the order of equals, the sign of vectors"


def test_rounding_that_adds_up_names_the_call_that_adds_most():
    found = compare_calls({"test_id": "t"}, Answering(largest=["torch.matmul", 0.001]), 1.0)
    assert found.reason == "none of the 7 calls compared departs: rounding adds up, torch.matmul adds most (0.001)"
