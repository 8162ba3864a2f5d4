"""An interrupted road goes on where it was."""

from tests.minimize.helpers import THE_BUG, FakeRunner
from tputriage.minimize.aimed import Aimed
from tputriage.minimize.arguments import Call, Layout, Tensor, Way
from tputriage.minimize.interesting import Interesting
from tputriage.minimize.memory import Memory
from tputriage.minimize.shrinking import Shrink
from tputriage.minimize.writing import script_of
from tputriage.model import Failure, Outcome, Phase
from tputriage.signatures import sign

FAILURE = Failure("t", Phase.CALL, Outcome.FAILED, THE_BUG["exception"], THE_BUG["message"])
CALL = Call("torch.f", (Tensor(1, (8, 6, 4, 4), "bfloat16", layout=Layout(Way.PERMUTED, (0, 2, 3, 1))), 7), {})


def fails(source):
    return THE_BUG if "channels_last" in source and "bfloat16" in source else None


class Interrupting(FakeRunner):
    """Is interrupted by Ctrl-C at one of its questions."""

    def __init__(self, device, rule, at=10_000):
        super().__init__(device, rule)
        self._at = at

    def ask(self, jobs):
        for job in jobs:
            if len(self.asked) >= self._at:
                raise KeyboardInterrupt
            yield from super().ask([job])


def shrunk(memory, at=10_000):
    """(the shrunk script, questions to the device); what was asked where it was interrupted."""
    device, reference = Interrupting("tpu", fails, at), FakeRunner("cpu", lambda source: None)
    oracle = Interesting(sign(FAILURE), device, reference, memory=memory)
    shrink = Shrink(lambda call: script_of(call, "tpu"), Aimed(oracle, sign(FAILURE), FAILURE))
    try:
        shrink.start(CALL)
        shrink.shrink()
    except KeyboardInterrupt:
        return "", len(device.asked)
    return shrink.source, len(device.asked)


def test_an_interrupted_road_comes_to_the_same_end(tmp_path):
    shrunk(Memory(tmp_path / "asked"), at=6)
    assert shrunk(Memory(tmp_path / "asked"))[0] == shrunk(Memory())[0]


def test_what_was_answered_is_not_asked_again(tmp_path):
    _, before = shrunk(Memory(tmp_path / "asked"), at=6)
    _, after = shrunk(Memory(tmp_path / "asked"))
    assert before + after == shrunk(Memory())[1]


def test_a_finished_road_that_is_taken_again_asks_nothing(tmp_path):
    shrunk(Memory(tmp_path / "asked"))
    assert shrunk(Memory(tmp_path / "asked"))[1] == 0


def test_the_reducer_remembers_too(tmp_path):
    source = "import torch\ntorch.f('channels_last', 'bfloat16')\n"
    device, reference = FakeRunner("tpu", fails), FakeRunner("cpu", lambda source: None)
    for _ in range(2):
        assert Interesting(sign(FAILURE), device, reference, memory=Memory(tmp_path / "asked"))(source)
    assert len(device.asked) == 1


def test_answers_hold_for_what_they_were_given_about(tmp_path):
    Memory(tmp_path / "asked", lambda: "torch 2.13").keep("x", True)
    assert Memory(tmp_path / "asked", lambda: "torch 2.14").get("x") is None


def test_a_line_that_was_cut_off_is_not_read(tmp_path):
    memory = Memory(tmp_path / "asked")
    memory.keep("x", True)
    whole = (tmp_path / "asked").read_text()
    (tmp_path / "asked").write_text(whole[:-1])
    assert Memory(tmp_path / "asked").get("x") is None


def test_what_is_forgotten_is_gone(tmp_path):
    Memory(tmp_path / "asked").keep("x", True)
    Memory(tmp_path / "asked").forget()
    assert Memory(tmp_path / "asked").get("x") is None


def test_each_better_script_is_told():
    told = []
    oracle = Aimed(
        Interesting(sign(FAILURE), FakeRunner("tpu", fails), FakeRunner("cpu", lambda source: None)),
        sign(FAILURE),
        FAILURE,
    )
    shrink = Shrink(lambda call: script_of(call, "tpu"), oracle, on_better=told.append)
    shrink.start(CALL)
    shrink.shrink()
    assert told[-1] == shrink.source
    assert len(told) > 1


def test_a_damaged_answer_is_none(tmp_path):
    path = tmp_path / "asked"
    Memory(path).keep("a", True)
    path.write_text(path.read_text("ascii").replace("yes", "yas"), "ascii")
    assert Memory(path).get("a") is None
