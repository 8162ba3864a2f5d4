"""A program as a compiled function: the text of the script, without a device."""

from tputriage.minimize.arguments import Call, Fill, Tensor
from tputriage.minimize.compiled import Shows, script_of
from tputriage.minimize.trace_road import Step

X = Tensor(1, (2, 3), "float32")
RELU = Step(Call("torch.nn.functional.relu", (X,), {}), (2,))
MAX = Step(Call("torch.max", (X,), {"dim": 1}), (3, 4), several=True)
ADD = Step(Call("torch.Tensor.add_", (X, 1), {}), (1,))


def body(program, shows=Shows()):  # noqa: B008 -- a frozen value
    return script_of(program, shows, "tpu").partition('"tpu"\n\n\n')[2]


def test_an_error_takes_a_decorated_function_and_a_call():
    assert body((RELU,)) == (
        "@torch.compile\ndef f(x):\n    return torch.nn.functional.relu(x)\n\n\nf(torch.ones(2, 3, device=device))\n"
    )


def test_an_error_that_shows_late_is_provoked():
    assert body((RELU,), Shows(stage="read")).endswith("device=device)).cpu()\n")
    assert body((MAX,), Shows(stage="backward", output=0)).endswith("device=device))[0].sum().backward()\n")


def test_what_was_given_to_compile_is_given_again():
    shows = Shows(options={"backend": "aot_eager", "dynamic": True})
    assert body((RELU,), shows).startswith('@torch.compile(backend="aot_eager", dynamic=True)\n')


def test_several_calls_name_what_they_hand_on():
    program = (RELU, Step(Call("torch.exp", (Tensor(2, (2, 3), "float32"),), {}), (5,)))
    assert "def f(x):\n    y = torch.nn.functional.relu(x)\n    return torch.exp(y)\n" in body(program)


def test_results_that_nothing_takes_are_returned_together():
    assert "    z = torch.nn.functional.relu(x)\n    return y, z\n" in body((Step(RELU.call, (6,)), RELU))


def test_wrong_numbers_are_shown_beside_the_eager_function():
    assert body((RELU,), Shows("values")).endswith(
        "x = torch.ones(2, 3, device=device)\ntorch.testing.assert_close(torch.compile(f)(x).cpu(), f(x).cpu())\n"
    )


def test_random_inputs_take_a_seed():
    drawn = Step(Call("torch.exp", (Tensor(1, (2,), "float32", fill=Fill.RANDN),), {}), (2,))
    assert "torch.manual_seed(0)\nx = torch.randn(2, device=device)\n" in body((drawn,), Shows("values"))


def test_a_wrong_change_of_an_input_is_shown_on_two_copies():
    assert body((ADD,), Shows("state", output=0)).endswith(
        "    x += 1\n    return x\n\n\nx = torch.ones(2, 3, device=device)\nexpected, actual = x.clone(), x.clone()\n"
        "f(expected)\ntorch.compile(f)(actual)\ntorch.testing.assert_close(actual.cpu(), expected.cpu())\n"
    )
