"""A small suite of what modules do to each other; each test raises what it saw."""

ODD = {
    "pytest.ini": "[pytest]\n",
    "conftest.py": """
import pytest


class Kind:
    pass


@pytest.fixture
def made(request):
    return [request.param]
""",
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
    "odd/test_given.py": """
import enum
import unittest

import pytest
import torch


class Flag(enum.Flag):
    X = 1
    Y = 2


class Kind:
    def __init__(self, value):
        self.value = value


def say(*values):
    raise ValueError(repr(values))


@pytest.fixture(name="class")
def named_by_a_keyword():
    return 1


@pytest.fixture
def asks(request):
    return request.getfixturevalue("class")


@pytest.mark.usefixtures("class")
def test_keyword():
    say("class")


def test_folders(tmp_path, tmpdir):
    say(str(tmp_path) == str(tmpdir))


@pytest.mark.parametrize("value", [Flag.X, Flag.X | Flag.Y, Flag(0), torch.Size([1]), torch.device("meta")])
def test_values(value):
    say(value)


@pytest.mark.parametrize("Kind", [Kind])
def test_a_parameter_of_a_class_name(Kind):
    say(Kind(1).__class__.__name__)


class TestOuter:
    size = 4

    @pytest.fixture(autouse=True)
    def seen(self, request):
        request.cls.seen_by = type(self).__name__

    @pytest.fixture
    def value(self):
        return self.size

    class TestInner:
        def test_inner(self, value):
            say(value, self.seen_by)


class TestAsync(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.first = 1

    async def asyncSetUp(self):
        self.second = 2

    async def asyncTearDown(self):
        if "torn" in self._testMethodName:
            say("torn")

    async def test_async(self):
        say(self.first, self.second)

    async def test_torn(self):
        pass
""",
    "odd/test_parameters.py": """
import pytest


class Kind:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Kind({self.value})"


def say(*values):
    raise ValueError(repr(values))


mine = pytest.mark.parametrize("one", [Kind(1), Kind(2)])


def given(*values):
    return pytest.mark.parametrize("one", list(values))


def pairs():
    for number in range(2):
        yield pytest.param(Kind(number), number, id=f"pair{number}")


@pytest.mark.parametrize(("one",), [(Kind(3),)])
def test_a_list_of_one_name(one):
    say(one)


@pytest.mark.parametrize(argnames="one", argvalues=[Kind(4)])
def test_by_keyword(one):
    say(one)


@mine
def test_a_mark_with_a_name(one):
    say(one)


@given(Kind(5))
def test_a_mark_that_is_made(one):
    say(one)


@pytest.mark.parametrize("one", map(Kind, range(2)))
def test_used_up(one):
    say(one)


@pytest.mark.parametrize(("one", "number"), pairs())
def test_pairs_used_up(one, number):
    say(one, number)


@pytest.mark.parametrize("one", [pytest.param(*[Kind(6)])])
def test_starred(one):
    say(one)


@pytest.mark.parametrize("made", [Kind(7)], indirect=True)
def test_of_another_file(made):
    say(made)


class TestOne:
    KINDS = [Kind(8)]

    @pytest.mark.parametrize("one", KINDS)
    def test_same(self, one):
        say(one)

    @pytest.fixture(params=KINDS)
    def own(self, request):
        return request.param

    def test_own(self, own):
        say(own)


class TestTwo:
    pytestmark = [pytest.mark.parametrize("two", [Kind(9)])]

    @pytest.mark.parametrize("one", [Kind(10)])
    def test_same(self, one, two):
        say(one, two)
""",
}
