"""Exceptions as records: nothing of the machinery, nothing that can raise, nothing without bound."""

import json

import pytest

from tputriage.inside import record


def caught(raise_it):
    try:
        raise_it()
    except BaseException as exc:  # noqa: BLE001 - SystemExit is one of them
        return exc


def recorded(raise_it):
    return record.failure(caught(raise_it), test_id="t", phase="call", outcome="failed")


def test_a_type_has_its_module_unless_it_is_built_in():
    assert recorded(lambda: 1 / 0)["exception"] == "ZeroDivisionError"
    assert recorded(lambda: json.loads("{"))["exception"] == "json.decoder.JSONDecodeError"


def test_causes_are_nearest_first_and_end_where_they_come_round():
    def chained():
        try:
            try:
                raise KeyError("first")
            except KeyError as exc:
                raise ValueError("second") from exc
        except ValueError:
            raise RuntimeError("third")  # noqa: B904

    exc = caught(chained)
    assert recorded(chained)["causes"] == ["ValueError: second", "KeyError: 'first'"]
    exc.__context__.__cause__.__cause__ = exc
    assert len(list(record.causes(exc))) == 2


def test_a_suppressed_context_is_no_cause():
    def suppressed():
        try:
            raise KeyError
        except KeyError:
            raise ValueError from None

    assert recorded(suppressed)["causes"] == []


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_message_that_raises_is_said_and_not_raised(kind):
    class OddError(Exception):
        def __str__(self):
            raise kind

    def odd():
        raise OddError

    assert kind.__name__ in recorded(odd)["message"]
    assert "Traceback" in recorded(odd)["text"]


def test_a_huge_message_is_cut_in_its_middle():
    def huge():
        raise ValueError("a" * 500_000 + "the end")

    found = recorded(huge)
    assert len(found["message"]) < record.LONGEST_TEXT + 100
    assert found["message"].endswith("the end")


def test_deep_recursion_keeps_both_ends():
    def deep():
        deep()

    frames = recorded(deep)["frames"]
    assert len(frames) == record.MOST_FRAMES
    assert frames[-1]["function"] == "deep"


def test_arguments_are_never_shown():
    class Loud:
        def __repr__(self):
            raise AssertionError("repr was called")

    def fails(value):
        raise ValueError("plain")

    assert recorded(lambda: fails(Loud()))["message"] == "plain"


def test_paths_inside_the_root_are_relative(tmp_path):
    path = tmp_path / "tests" / "test_a.py"
    code = compile("def fails():\n    raise ValueError\n", str(path), "exec")
    names = {}
    exec(code, names)
    exc = caught(names["fails"])
    assert record.frames(exc.__traceback__, str(tmp_path))[-1]["path"] == "tests/test_a.py"


def test_everything_is_json():
    assert json.loads(json.dumps(recorded(lambda: "\udc80".encode())))["exception"] == "UnicodeEncodeError"
