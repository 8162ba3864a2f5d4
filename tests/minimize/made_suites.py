"""Suites made by chance: fixtures that need each other, helpers of one name in several modules, any kind of test."""

NAMES = ("tag", "TABLE", "Item")
HELPER = """
from {before} import *

TABLE = {{"{name}": {number}}}
TABLE["more"] = {number} + 1


def tag(value=None):
    return "{name}", value, sorted(TABLE.items())


class Item:
    kind = tag("{name}")

    def __repr__(self):
        return f"Item({{self.kind}})"
"""


def made_suite(random, tests=8):
    """{file name: text}."""
    files = {"made/__init__.py": ""}
    for number in range(3):
        before = f".h{number - 1}" if number else "math"
        files[f"made/h{number}.py"] = HELPER.format(before=before, name=f"h{number}", number=number)
    fixtures = [_fixture(random, number) for number in range(7)]
    files["made/conftest.py"] = _imports(random) + "\n".join(fixtures[:3])
    names = [_name(number) for number in range(7)]
    body = "\n".join(_test(random, number, names) for number in range(tests))
    files["made/test_made.py"] = _imports(random) + "\n".join(fixtures[3:]) + body
    return files


def _name(number):
    return f"part{number}"


def _imports(random):
    """The helpers in one of the ways in which modules are imported."""
    module = random.randrange(3)
    ways = (
        f"from .h{module} import *",
        f"from .h{module} import {', '.join(NAMES)}",
        f"from . import h{module}\n\n{_through(f'h{module}')}",
        f"import made.h{module} as helpers\n\n{_through('helpers')}",
        f"import made.h{module}\n\n{_through(f'made.h{module}')}",
        f"from .h{module} import Item, TABLE\n\n\ndef tag(value=None):\n    return 'own', value, Item()",
    )
    return f"import unittest\n\nimport pytest\n\n{random.choice(ways)}\n"


def _through(module):
    return f"\ndef tag(value=None):\n    return {module}.tag(value), {module}.Item()\n\n\nTABLE = dict({module}.TABLE)"


def _fixture(random, number):
    """One that may need, give away or tear down; those before it are what it asks for."""
    asked = random.sample(range(number), min(number, random.randrange(3)))
    param = random.random() < 0.3
    options = [f"scope={random.choice(('function', 'function', 'module'))!r}"] if not asked else []
    options += ["params=[7]"] if param else []
    options += ["autouse=True"] if random.random() < 0.2 and not param else []
    arguments = ["request"] * param + [_name(one) for one in asked]
    value = f"[tag({number}), {'request.param' if param else 'None'}, {', '.join(_name(one) for one in asked)}]"
    lines = [f"yield {value}", *(["raise KeyError('down')"] if random.random() < 0.15 else [])]
    body = lines if random.random() < 0.5 else [f"return {value}"]
    head = f"\n\n@pytest.fixture({', '.join(options)})\ndef {_name(number)}({', '.join(arguments)}):\n"
    return head + "\n".join(f"    {line}" for line in body)


def _test(random, number, names):
    asked = random.sample(names, random.randrange(4))
    seen = f"[{', '.join(asked)}]"
    ends = (
        f"raise ValueError(repr([{seen}, tag(), TABLE]))",
        f"assert not {seen}, repr(tag({number}))",
        f"with pytest.raises(TypeError):\n{{}}    raise KeyError(repr({seen}))",
        f"pytest.fail(repr(tag({number})))",
        "pass",
    )
    end = random.choice(ends)
    if random.random() < 0.4:
        return f"\n\ndef test_{number}({', '.join(asked)}):\n    {end.format('    ')}\n"
    if random.random() < 0.5:
        call = f"    def test_{number}(self, {', '.join(asked)}):\n        {end.format('        ')}\n"
        return f"\n\nclass TestMade{number}:\n    table = TABLE\n\n{call}"
    setup = "    def setUp(self):\n        self.table = tag(TABLE)\n\n    def tearDown(self):\n        del self.table\n"
    call = f"    def test_{number}(self):\n        self.assertEqual(self.table, {number})\n"
    return f"\n\nclass TestMade{number}(unittest.TestCase):\n{setup}\n{call}"
