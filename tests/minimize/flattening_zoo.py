"""A small suite that has one of everything a test can be built with; each test raises what it saw."""

FILES = {
    "pytest.ini": "[pytest]\nmarkers =\n    slow\n    kind\n",
    "conftest.py": """
import os
import pytest
import torch

os.environ["ZOO"] = "open"
torch.set_default_dtype(torch.float64)
LOG = []


def pytest_addoption(parser):
    parser.addoption("--feed", default="hay")


@pytest.fixture(autouse=True)
def keeper():
    LOG.append("keeper")
    yield


@pytest.fixture
def animal():
    return ["animal"]


@pytest.fixture(scope="session")
def cage():
    return {"size": 3}


@pytest.fixture
def fed(request):
    return request.config.getoption("--feed")


@pytest.fixture
def closing(request):
    found = []
    request.addfinalizer(lambda: found.append(1))
    return found


@pytest.fixture
def by_name(request):
    return request.getfixturevalue("cage")["size"]
""",
    "zoo/__init__.py": "from .names import NAMES\nKIND = 'zoo'\n",
    "zoo/names.py": "NAMES = ['ape']\nNAMES.append('bee')\nfor one in ('cat', 'dog'):\n    NAMES.append(one)\n",
    "zoo/helpers.py": """
from __future__ import annotations

try:
    import json
except ImportError:
    json = None
try:
    import no_such_package as maybe
except ImportError:
    maybe = None
from . import names
from .names import *

SIZE = 5
_cache: dict[str, int] = {}
_cache["a"] = 1


def size():
    return "helpers"


def build(device="cpu"):
    from .deep import inner
    from . import deep

    return [size(), SIZE, json.dumps(_cache), maybe, names.NAMES, inner(), deep.OUTER, NAMES is names.NAMES]


def shadow(size):
    SIZE = size + 1
    return [SIZE for size in range(2)], (lambda json: json)(SIZE)


def counted():
    global COUNT
    COUNT += 1
    return COUNT


COUNT = 0


def make():
    return [1, 2]


class Base:
    rate = SIZE * 2
    sizes = [one for one in range(rate)]

    def setup_method(self, method):
        self.seen = [method.__name__]

    @property
    def half(self):
        return self.rate / 2

    @classmethod
    def made(cls):
        return cls.__name__

    @staticmethod
    def plain():
        return size()

    def test_shared(self, animal):
        raise ValueError(repr([self.seen, self.half, self.made(), self.plain(), animal, self.sizes]))
""",
    "zoo/deep.py": "OUTER = 'outer'\n\n\ndef size():\n    return 'deep'\n\n\ndef inner():\n    return size(), OUTER\n",
    "zoo/test_functions.py": """
import logging
import os
import sys
import warnings
from unittest import mock

import pytest
import torch
import zoo.deep
import zoo.helpers
from pytest import fixture, mark

from . import helpers, names
from .helpers import *
from .helpers import build, counted, shadow
from .helpers import size as other_size

torch.manual_seed(7)
VALUES = [object(), make]
KINDS = {"a": lambda: "a of kinds"}
skip_if_windows = pytest.mark.skipif(sys.platform == "win32", reason="no zoo there")


def size():
    return "own"


class Animal:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Animal({self.name})"


@fixture
def animal(animal):
    return [*animal, "overridden"]


@fixture(params=[Animal("ape"), Animal("bee")], ids=["ape", "bee"])
def beast(request):
    return request.param


@fixture
def opened(tmp_path):
    path = tmp_path / "door"
    path.write_text("open")
    yield path
    path.unlink()


@fixture(scope="module", name="renamed")
def _renamed(cage):
    return dict(cage, more=1)


@fixture
def breaks_after():
    yield 1
    raise KeyError("after")


@fixture
def breaks_before():
    raise KeyError("before")


def test_helpers():
    raise ValueError(repr([build(), size(), other_size(), shadow(3), counted(), helpers.counted(), names.NAMES]))


def test_dotted():
    raise ValueError(repr([zoo.helpers.size(), zoo.KIND, zoo.NAMES, zoo.deep.inner()]))


def test_environment():
    raise ValueError(repr([os.environ.get("ZOO"), torch.get_default_dtype(), torch.initial_seed()]))


def test_overridden(animal, cage, renamed):
    raise ValueError(repr([animal, cage, renamed]))


def test_beasts(beast):
    raise ValueError(repr(beast))


@mark.parametrize("value", VALUES)
@mark.parametrize(("name", "count"), [("a", 1), pytest.param("b", 2, id="two", marks=mark.slow)])
def test_values(value, name, count):
    raise ValueError(repr([value is VALUES[0], value is make, name, count]))


HERE = torch.device("cpu")


@mark.parametrize("kind", [KINDS["a"], lambda: "plain", torch.nn.functional.relu, Animal("cat"), torch.float16, HERE])
def test_kinds(kind):
    raise ValueError(kind() if "lambda" in repr(kind) else repr(getattr(kind, "__name__", kind)))


@mark.parametrize("animal", [["given"]], indirect=False)
def test_fixture_given(animal):
    raise ValueError(repr(animal))


@mark.parametrize("beast", [3], indirect=True)
def test_fixture_indirect(beast):
    raise ValueError(repr(beast))


def test_folder(opened, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("ZOO", "shut")
    monkeypatch.setattr(helpers, "SIZE", 99)
    monkeypatch.setattr("os.sep", "|")
    raise ValueError(repr([opened.read_text(), tmp_path_factory.mktemp("x").exists(), os.environ["ZOO"], build()]))


def test_words(capsys, caplog, recwarn):
    print("said")
    print("cried", file=sys.stderr)
    logging.getLogger("zoo").warning("roar")
    warnings.warn("watch out")
    told = capsys.readouterr()
    with caplog.at_level(logging.INFO):
        logging.getLogger("zoo").info("purr")
    heard = [told.out, told.err, caplog.messages, caplog.records[0].levelname, "roar" in caplog.text]
    raise ValueError(repr([*heard, str(recwarn.pop(UserWarning).message)]))


def test_asked(fed, by_name, closing, request):
    raise ValueError(repr([fed, by_name, closing, request.node.name]))


@mock.patch("os.getcwd", return_value="nowhere")
def test_mocked(getcwd, cage):
    raise ValueError(repr([os.getcwd(), cage]))


@skip_if_windows
@mark.slow
@mark.usefixtures("opened")
def test_marked():
    raise ValueError("marked")


def test_after(breaks_after):
    pass


def test_before(breaks_before):
    pass


def test_passes(animal):
    with pytest.raises(ValueError, match="so"):
        raise ValueError("so it is")


def test_not_raised():
    with pytest.raises(ValueError):
        pass


def test_approximately():
    assert 1.0 == pytest.approx(1.0000001)
    assert [1, 2] == [1, 3], "not alike"


def test_default(cage, extra=5):
    raise ValueError(repr(extra))


def test_subtests(subtests):
    with subtests.test(msg="inner"):
        raise ValueError("within")
""",
    "zoo/test_classes.py": """
import gc
import unittest
from functools import cached_property

import pytest

from . import helpers
from .helpers import Base

LIST = []


def setup_module(module):
    LIST.append(module.__name__ and "module")


def teardown_module():
    LIST.clear()


class Mixin:
    @pytest.fixture(autouse=True)
    def own(self, request):
        self.log = ["own"]
        request.cls.seen_by = request.instance is self
        yield
        self.log.append("down")

    @pytest.fixture(params=[4, 5])
    def number(self, request):
        return request.param

    @cached_property
    def costly(self):
        return [len(self.log)]

    def build(self):
        return "mixin"


class TestPlain(Mixin, Base):
    rate = 3

    @classmethod
    def setup_class(cls):
        cls.counter = 10

    def setup_method(self, method=None):
        super().setup_method(method)
        self.more = getattr(self, "log", None)

    def build(self):
        return [super().build(), self.rate, helpers.size()]

    def test_all(self, number):
        raise ValueError(repr([self.seen, self.more, self.costly, self.build(), self.counter, number, LIST]))

    def test_mark(self):
        assert self.seen_by
        assert self.build() == 1


class TestOuter:
    class TestInner:
        def test_inner(self):
            raise ValueError(type(self).__name__)


class Common:
    def check(self):
        with self.subTest(kind="a"):
            self.assertEqual(self.seen, ["setUp"])
        self.addCleanup(self.seen.append, "cleaned")


class TestUnit(Common, unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = {"a": 1}
        cls.addClassCleanup(gc.collect)

    def setUp(self):
        super().setUp()
        self.seen = ["setUp"]

    def tearDown(self):
        super().tearDown()
        if "torn" in self._testMethodName:
            raise KeyError("torn")

    def test_unit(self):
        self.check()
        raise ValueError(repr([self.seen, self.shared, self._testMethodName]))

    def test_equal(self):
        self.check()
        self.assertListEqual([1], [2])

    def test_raises(self):
        with self.assertRaisesRegex(ValueError, "so"):
            raise ValueError("not")

    def test_torn(self):
        pass

    def test_cleaned(self):
        self.addCleanup(lambda: 1 / 0)

    @unittest.skipIf(False, "never")
    def test_kept(self):
        raise ValueError("kept")


@pytest.mark.parametrize("outer", ["x", "y"])
class TestGiven:
    def test_given(self, outer, animal):
        raise ValueError(repr([outer, animal]))
""",
}
EXPANDED = {
    "zoo/test_expanded.py": """
import unittest

from parameterized import parameterized, parameterized_class

from . import helpers


class TestExpanded(unittest.TestCase):
    @parameterized.expand([("one", 1), ("two", helpers.make)])
    def test_expanded(self, name, value):
        raise ValueError(repr([name, value == 1, value is helpers.make]))

    @parameterized.expand([(1,), (2,)])
    @unittest.skipIf(False, "never")
    def test_numbers(self, value, other="o"):
        raise ValueError(repr([value, other]))


@parameterized_class(("kind", "count"), [("a", 1), ("b", 2)])
class TestMade(unittest.TestCase):
    def test_made(self):
        raise ValueError(repr([self.kind, self.count]))
""",
}
