"""A failing call with what made its inputs, as a straight-line program."""

from tputriage.minimize.arguments import Call, Tensor
from tputriage.minimize.trace_road import Step, find_program, programs, write


def tensor(number, *dims):
    return Tensor(number, dims or (2, 3), "float32")


STEPS = [
    Step(Call("torch.neg", (tensor(1),), {}), (2,)),
    Step(Call("torch.exp", (tensor(9),), {}), (8,)),  # feeds nothing
    Step(Call("torch.Tensor.mul_", (tensor(2), 3), {}), (2,)),
    Step(Call("torch.Tensor.t", (tensor(2),), {}), (3,)),
    Step(Call("torch.Tensor.relu", (tensor(3, 3, 2),), {}), (4,)),
]
LAST = Call("torch.f", (tensor(4, 3, 2),), {})


def body(program):
    return write(program, "tpu").partition('"tpu"\n')[2]


def found(rule):
    return find_program(STEPS, LAST, "tpu", rule, lambda said: None)


def test_programs_double_back_through_the_dataflow():
    assert [len(program) - 1 for program in programs(STEPS, LAST)] == [1, 2, 4]


def test_what_feeds_nothing_is_no_part_of_it():
    assert all("exp" not in body(program) for program in programs(STEPS, LAST))


def test_a_program_reads_as_straight_lines():
    assert body(list(programs(STEPS, LAST))[-1]) == (
        "x = torch.ones(2, 3, device=device)\ny = torch.neg(x)\ny *= 3\nz = y.t()\nu = z.relu()\ntorch.f(u)\n"
    )


def test_steps_that_do_not_matter_are_left_out():
    program = found(lambda source: ".t()" in source and "torch.f(" in source)
    assert body(program) == (
        "x = torch.ones(2, 3, device=device)\ny = x.t()\nz = torch.ones(3, 2, device=device)\ntorch.f(z)\n"
    )


def test_where_no_length_fails_there_is_no_program():
    assert found(lambda source: False) is None


def test_a_result_of_several_is_unpacked():
    step = Step(Call("torch.max", (tensor(1), 0), {}), (2, 3), several=True)
    assert "y, z = torch.max(x, 0)\n" in body((step, Step(Call("torch.f", (tensor(2),), {}))))
