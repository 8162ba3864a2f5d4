"""Whose an option behind the script is."""

import pytest

from tputriage.pipeline.running import run


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (("--target", "cpu"), []),
        (("--target", "cpu", "--fast"), ["--fast"]),
        (("--target", "prod"), ["--target", "prod"]),
        (("cpu", "--target", "cpu"), ["cpu", "--target", "cpu"]),
    ],
)
def test_a_target_right_behind_the_script_is_ours(tmp_path, capfd, monkeypatch, given, seen):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repro.py").write_text("import sys\nprint(sys.argv[1:])\n", "utf-8")
    late = given[:2] == ("--target", "cpu")
    assert run("repro.py", given, module=False, target=None if late else "cpu", plugin=None) == 0
    assert capfd.readouterr().out == f"{seen}\n"
