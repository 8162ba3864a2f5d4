"""A script is read as Python reads it, and written as UTF-8; what is left of it runs as it stands."""

import json
import subprocess
import sys

import pytest

from tputriage.errors import InputError
from tputriage.pipeline.shrinking import read_script

# Two CPU targets, of which one makes the script fail, so that no device is needed.
SETTINGS = """
target = "mine"
[targets.mine]
device = "cpu"
env = { SHRINK_WRONG = "no document" }
slots = 1
"""


@pytest.mark.parametrize(
    ("written", "source"),
    [
        (b"# -*- coding: latin-1 -*-\r\nx = '\xe9'\r\n", "\nx = 'é'\n"),
        (b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nx = '\x80'", "#!/usr/bin/env python\n\nx = '€'"),
        (b"\xef\xbb\xbfx = '\xc3\xa9'\n", "x = 'é'\n"),
        (b"x = 1\n\n# coding: latin-1\ny = '\xc3\xa9'\n", "x = 1\n\n# coding: latin-1\ny = 'é'\n"),
        (b"", ""),
    ],
)
def test_a_script_is_read_in_its_own_coding_and_says_none_afterwards(tmp_path, written, source):
    (tmp_path / "script.py").write_bytes(written)
    assert read_script(tmp_path / "script.py") == source


@pytest.mark.parametrize("written", [b"# coding: nonsense\nx = 1\n", b"x = '\xe9'\n", b"x = 1\n\n\n\ny = '\xe9'\n"])
def test_a_script_that_python_cannot_read_is_refused(tmp_path, written):
    (tmp_path / "script.py").write_bytes(written)
    with pytest.raises(InputError, match=r"script\.py cannot be read"):
        read_script(tmp_path / "script.py")


@pytest.mark.parametrize(
    ("imports", "left"),
    [
        ("import xml.dom.minidom", "import xml.dom.minidom\n"),
        ("import xml\nimport xml.dom.minidom", "import xml.dom.minidom\nimport os\nimport sys\nimport xml\n\n"),
    ],
)
def test_what_is_left_runs_in_a_process_of_its_own(tmp_path, imports, left):
    """The second script binds `xml` twice: in a child of the worker, which has imported both, one of them is enough."""
    (tmp_path / "tputriage.toml").write_text(SETTINGS)
    (tmp_path / "script.py").write_text(
        f"import os\nimport sys\n{imports}\ndevice = sys.argv[1]\nwords = os.environ.get('SHRINK_WRONG', '<a/>')\n"
        "print(xml.dom.minidom.parseString(words), device)\n"
    )
    told = [sys.executable, "-m", "tputriage", "shrink", "script.py", "--json", "-q"]
    done = subprocess.run(told, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["verified"]) == (0, True), done.stderr
    assert left in (tmp_path / "script.small.py").read_text()
