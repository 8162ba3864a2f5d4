"""Values as expressions of a script."""

import tempfile

import pytest

from tputriage.inside.spelling import Speller


@pytest.mark.parametrize("text", ["{}", "{}/a", "could not read {}/a in full", "file://{}"])
def test_a_folder_of_the_run_is_in_no_value(text):
    assert Speller({}, "tpu", {}).spell(text.format(tempfile.gettempdir())) is None
    assert Speller({}, "tpu", {}).spell([text.format(tempfile.gettempdir())]) is None


def test_another_folder_is_written_down():
    assert Speller({}, "tpu", {}).spell("/data/weights") == "'/data/weights'"
