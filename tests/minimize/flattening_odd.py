"""A small suite of what modules do to each other; each test raises what it saw."""

ODD = {
    "pytest.ini": "[pytest]\n",
    "conftest.py": "",
    "odd/__init__.py": "from .core import Core as Kernel\n",
    "odd/core.py": """
from __future__ import annotations

from functools import singledispatch

try:
    import no_such_package
    HAVE = True
except ImportError:
    HAVE = False

REGISTRY = {}
HEARD = []
COUNT = 0


def register(name):
    def noted(kind):
        REGISTRY[name] = kind
        return kind

    return noted


@register("own")
class Own:
    pass


def hear():
    HEARD.append(1)


hear()


def count():
    global COUNT
    COUNT += 1


count()
count()


class Base:
    kinds = []

    def __init_subclass__(cls):
        Base.kinds.append(cls.__name__)


class First(Base):
    pass


@singledispatch
def told(value):
    return "object"


@told.register
def _(value: int):
    return "int"


class Core:
    other: Circle | None = None

    def make(self) -> Circle:
        from .circle import Circle

        return Circle()


globals()["MADE"] = "made"
""",
    "odd/circle.py": """
from . import core


class Circle:
    base = core.Core

    def __repr__(self):
        return f"Circle({self.base.__name__})"
""",
    "odd/helpers.py": """
CONFIG = {"a": 0}
LIMIT = 1


def size():
    return "helpers", LIMIT
""",
    "odd/test_odd.py": """
from unittest import mock

import odd.helpers
from odd import Kernel, core, helpers
from odd.core import register
from odd.helpers import CONFIG

CONFIG["b"] = 1


def say(*values):
    raise ValueError(repr(values))


def make(number):
    def test():
        say(number)

    return test


for one in range(2):
    globals()[f"test_made_{one}"] = make(one)


@register("test")
class Mine:
    pass


def test_what_may_not_be_there():
    say(core.HAVE)


def test_registries():
    say(sorted(core.REGISTRY), core.HEARD, core.COUNT, core.Base.kinds, core.told(1), core.told("a"))


def test_circle():
    say(Kernel().make(), Kernel.__name__)


def test_changed_from_elsewhere():
    say(helpers.CONFIG)


def test_a_name_that_no_statement_binds():
    say(core.MADE)


def test_a_local_of_the_same_name():
    def size():
        return "local"

    say(size(), helpers.size())


def test_a_name_of_another_module_is_set():
    helpers.LIMIT += 5
    say(helpers.size())


@mock.patch("odd.helpers.LIMIT", 7)
def test_patched_by_path():
    with mock.patch("odd.test_odd.CONFIG", 3):
        say(helpers.size(), CONFIG)


@mock.patch("odd.helpers.size", return_value=42)
def test_a_function_patched_by_path(size):
    say(odd.helpers.size(), size.called)


def test_set_by_path(monkeypatch):
    monkeypatch.setattr("odd.helpers.LIMIT", 8)
    say(helpers.size())
""",
}
