"""A script is read as Python reads it, and written as UTF-8."""

import pytest

from tputriage.errors import InputError
from tputriage.pipeline.shrinking import read_script


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
