"""Questions about trees that several roads ask."""

import pytest

from tputriage.minimize.trees import led_by


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("f()\n", "import a\nf()\n"),
        ("import b\nf()\n", "import a\nimport b\nf()\n"),
        ("from __future__ import annotations\nf()\n", "from __future__ import annotations\nimport a\nf()\n"),
        ('"""Says."""\n\nf()\n', '"""Says."""\n\nimport a\nf()\n'),
        ("@d\nclass A:\n    pass\n", "import a\n@d\nclass A:\n    pass\n"),
        ('"""é"""; f()\n', '"""é"""; import a; f()\n'),
        ('"""Says."""\n', '"""Says."""\n'),
    ],
)
def test_an_import_is_put_where_it_changes_nothing_else(source, after):
    assert led_by(source, "import a") == after
