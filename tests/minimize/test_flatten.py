"""From a node id to one script: the pure part on small suites, and every test of the fixture suite on CPU."""

from pathlib import Path

import pytest

from tputriage.config import Settings
from tputriage.errors import TriageError
from tputriage.minimize.flatten import assemble, flatten
from tputriage.targets import runs
from tputriage.targets.catalogue import find_target
from tputriage.targets.worker import Worker

SUITE = Path(__file__).parents[2] / "fixtures" / "minisuite"
FILES = [str(path) for path in sorted((SUITE / "tests").rglob("test_*.py")) if "common" not in path.name]
STRICT = {"MINISUITE_TEST_DEVICE": "cpu"}


def told(folder, modules, **changes):
    """What `describe` would say of a suite of these modules: {name: (source, devices)}."""
    about = {}
    for name, (source, devices) in modules.items():
        path = folder / f"{name}.py"
        path.write_text(source)
        about[str(path)] = {"name": name, "devices": devices}
    plain = {
        "file": str(folder / "test_x.py"),
        "class": "",
        "class_file": str(folder / "test_x.py"),
        "function": "test_x",
        "line": 0,
        "unittest": False,
        "coroutine": False,
        "asynchronous": False,
        "setups": [],
        "setup_takes_method": False,
        "arguments": [],
        "params": {},
        "unwritten": {},
        "fixtures": [],
        "modules": about,
        "module_file": str(folder / "test_x.py"),
        "class_made": None,
        "switch": "",
    }
    return plain | changes


def fixture(folder, name, **changes):
    plain = {
        "name": name,
        "value": name,
        "file": str(folder / "test_x.py"),
        "line": 1,
        "function": name,
        "arguments": {},
        "place": None,
        "options": {},
    }
    also = {"in_class": False, "outer": "", "generator": False, "coroutine": False, "param": None}
    return plain | also | changes


def run(script, device="cpu"):
    space = {"__name__": "__main__"}
    code = compile(script.replace("sys.argv[1] if len(sys.argv) > 1 else 'tpu'", repr(device)), "script", "exec")
    exec(code, space)
    return space


def test_helpers_and_constants_come_along_and_the_rest_stays(tmp_path):
    helpers = "SIZE = 3\nOTHER = 4\n\ndef build():\n    return [0] * SIZE\n\ndef unused():\n    pass\n"
    test = "from helpers import build\nseen = []\n\ndef test_x():\n    seen.append(build())\n"
    script = assemble(told(tmp_path, {"test_x": (test, {}), "helpers": (helpers, {})}), "tpu")
    assert run(script)["seen"] == [[0, 0, 0]]
    assert "unused" not in script


def test_the_device_is_the_argument(tmp_path):
    test = "import os\nDEVICE = os.environ['D']\nseen = []\n\ndef test_x():\n    seen.append(DEVICE)\n"
    script = assemble(told(tmp_path, {"test_x": (test, {"DEVICE": "text"})}), "tpu")
    assert run(script, "elsewhere")["seen"] == ["elsewhere"]
    assert "environ" not in script


def test_a_library_that_lies_beside_the_suite_is_not_written_out(tmp_path):
    names = [f"f{number}" for number in range(500)]
    library = "".join(f"def {name}():\n    pass\n\n" for name in names) + f"ALL = [{', '.join(names)}]\n"
    test = "from library.parts import ALL\n\ndef test_x():\n    ALL[0]()\n"
    modules = {"library.parts": (library, {}), "test_x": (test, {})}
    with pytest.raises(TriageError, match="install library in the interpreter"):
        assemble(told(tmp_path, modules), "tpu")


@pytest.mark.parametrize("text", ["'tpu'", "str('tpu')", "['tpu'][0]", "dict(at='tpu')['at']"])
def test_a_parameter_that_holds_the_device_is_the_argument(tmp_path, text):
    test = "seen = []\n\ndef test_x(where):\n    seen.append(where)\n"
    script = assemble(told(tmp_path, {"test_x": (test, {})}, arguments=["where"], params={"where": text}), "tpu")
    assert run(script, "elsewhere")["seen"] == ["elsewhere"]


def test_an_import_that_holds_the_device_is_the_argument(tmp_path):
    test = "from os import sep as torch_device\nseen = []\n\ndef test_x():\n    seen.append(torch_device)\n"
    script = assemble(told(tmp_path, {"test_x": (test, {"torch_device": "text"})}), "tpu")
    assert run(script, "elsewhere")["seen"] == ["elsewhere"]


def test_the_switch_of_the_suite_is_set_before_anything_is_imported(tmp_path):
    test = "import json\n\ndef test_x():\n    json.dumps(1)\n"
    script = assemble(told(tmp_path, {"test_x": (test, {})}, switch="X_DEVICE"), "tpu", switch=True)
    assert script.index("os.environ['X_DEVICE'] = device") < script.index("import json")


def test_of_two_imports_the_one_that_was_made_counts(tmp_path):
    helpers = "def build():\n    return 5\n"
    test = (
        "import os\nif os.getenv('NOWHERE'):\n    from nowhere.helpers import build\nelse:\n"
        "    from helpers import build\nseen = []\n\ndef test_x():\n    seen.append(build())\n"
    )
    script = assemble(told(tmp_path, {"helpers": (helpers, {}), "test_x": (test, {})}), "cpu")
    assert run(script)["seen"] == [5]


def test_a_module_of_the_suite_used_by_its_name_is_dissolved(tmp_path):
    test = "import helpers\nseen = []\n\ndef test_x():\n    seen.append(helpers.build())\n"
    script = assemble(told(tmp_path, {"test_x": (test, {}), "helpers": ("def build():\n    return 1\n", {})}), "tpu")
    assert run(script)["seen"] == [1]


def test_what_is_installed_stays_an_import(tmp_path):
    test = "import json as j\nfrom math import pi as p\n\ndef test_x():\n    j.dumps(p)\n"
    script = assemble(told(tmp_path, {"test_x": (test, {})}), "tpu")
    assert "import json as j\nfrom math import pi as p\n" in script


def test_fixtures_run_in_their_order_and_yield(tmp_path):
    test = (
        "import pytest\nseen = []\n\n@pytest.fixture\ndef base():\n    yield 2\n    seen.append('down')\n\n"
        "@pytest.fixture\ndef top(base):\n    return base + 1\n\ndef test_x(top):\n    seen.append(top)\n"
    )
    fixtures = [fixture(tmp_path, "base", generator=True), fixture(tmp_path, "top", arguments={"base": "base"})]
    about = told(tmp_path, {"test_x": (test, {})}, fixtures=fixtures, arguments=["top"])
    assert run(assemble(about, "tpu"))["seen"] == [3]


def test_a_parametrized_fixture_has_its_request(tmp_path):
    test = (
        "import pytest\nseen = []\n\n@pytest.fixture(params=[1, 2])\ndef size(request):\n    return request.param\n\n"
        "def test_x(size):\n    seen.append(size)\n"
    )
    fixtures = [fixture(tmp_path, "size", arguments={"request": "request"}, param="2")]
    about = told(tmp_path, {"test_x": (test, {})}, fixtures=fixtures, arguments=["size"])
    assert run(assemble(about, "tpu"))["seen"] == [2]


def test_marks_go_and_other_decorators_stay(tmp_path):
    test = (
        "import pytest\nseen = []\n\ndef twice(f):\n    return lambda: (f(), f())\n\n"
        "@pytest.mark.slow\n@twice\ndef test_x():\n    seen.append(1)\n"
    )
    script = assemble(told(tmp_path, {"test_x": (test, {})}), "tpu")
    assert run(script)["seen"] == [1, 1]
    assert "pytest" not in script


def test_bases_come_along_without_their_other_tests(tmp_path):
    mixin = (
        "class Mixin:\n    def build(self):\n        return self.size\n    def test_other(self):\n        pass\n"
        "    def test_x(self):\n        self.seen.append(self.build())\n"
    )
    test = "from mixins import Mixin\n\nclass TestX(Mixin):\n    size = 4\n    seen = []\n"
    about = told(tmp_path, {"test_x": (test, {}), "mixins": (mixin, {})}, **{"class": "TestX"})
    script = assemble(about, "tpu")
    assert run(script)["case"].seen == [4]
    assert "test_other" not in script


def test_setup_of_unittest_is_called(tmp_path):
    test = (
        "import unittest\n\nclass TestX(unittest.TestCase):\n    def setUp(self):\n        self.seen = [1]\n"
        "    def test_x(self):\n        self.assertEqual(self.seen, [1])\n"
    )
    about = told(tmp_path, {"test_x": (test, {})}, **{"class": "TestX", "unittest": True, "setups": ["setUp"]})
    assert run(assemble(about, "tpu"))["case"].seen == [1]


def test_a_test_that_is_a_coroutine_is_run(tmp_path):
    test = "seen = []\n\nasync def test_x():\n    seen.append(1)\n"
    script = assemble(told(tmp_path, {"test_x": (test, {})}, coroutine=True), "tpu")
    assert run(script)["seen"] == [1]


def test_a_fixture_that_is_a_coroutine_is_said(tmp_path):
    test = "async def one():\n    return 1\n\ndef test_x(one):\n    pass\n"
    fixtures = [fixture(tmp_path, "one", coroutine=True)]
    about = told(tmp_path, {"test_x": (test, {})}, fixtures=fixtures, arguments=["one"])
    with pytest.raises(TriageError, match="one is asynchronous"):
        assemble(about, "tpu")


@pytest.mark.parametrize("takes", [True, False])
def test_setup_method_gets_the_method_where_it_wants_it(tmp_path, takes):
    setup = "    def setup_method(self, method=None):\n        self.seen = [method]\n"
    test = f"class TestX:\n{setup}    def test_x(self):\n        pass\n"
    about = told(tmp_path, {"test_x": (test, {})}, **{"class": "TestX", "setups": ["setup_method"]})
    space = run(assemble(about | {"setup_takes_method": takes}, "tpu"))
    assert space["case"].seen == [space["case"].test_x if takes else None]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arguments": ["pytester"]}, "pytester is a fixture that a script cannot have"),
        ({"arguments": ["model"], "unwritten": {"model": None}}, "model cannot be written down"),
        ({"module_file": "elsewhere.py"}, "outside the suite's own modules"),
    ],
)
def test_what_stands_in_the_way_is_said(tmp_path, changes, words):
    about = told(tmp_path, {"test_x": ("def test_x():\n    pass\n", {})}, **changes)
    with pytest.raises(TriageError, match=words):
        assemble(about, "tpu")


def test_what_is_nested_too_deeply_is_said(tmp_path):
    chain = "".join(f"N{number} = N{number - 1} + 1\n" for number in range(1, 390))
    test = f"N0 = 0\n{chain}\ndef test_x():\n    assert N389\n"
    with pytest.raises(TriageError, match="nested too deeply"):
        assemble(told(tmp_path, {"test_x": (test, {})}), "tpu")


def test_an_import_inside_a_condition_is_an_import(tmp_path):
    helpers = "if len('a'):\n    import json\n    STYLE = json.dumps(1)\n\ndef build():\n    return json.dumps(STYLE)\n"
    test = "import json\nfrom helpers import build\nseen = []\n\ndef test_x():\n    seen.append(json.loads(build()))\n"
    script = assemble(told(tmp_path, {"test_x": (test, {}), "helpers": (helpers, {})}), "tpu")
    assert run(script)["seen"] == ["1"]


def test_two_things_of_one_name_get_two_names(tmp_path):
    helpers = "def size():\n    return 1\n\ndef build():\n    return size()\n"
    test = (
        "from helpers import build\nseen = []\n\ndef size():\n    return 2\n\n"
        "def test_x():\n    seen.append((build(), size()))\n"
    )
    script = assemble(told(tmp_path, {"test_x": (test, {}), "helpers": (helpers, {})}), "tpu")
    assert run(script)["seen"] == [(1, 2)]


@pytest.fixture(scope="module")
def worker():
    with Worker(find_target("cpu", Settings()), SUITE, files=FILES, device_env="MINISUITE_TEST_DEVICE") as worker:
        yield worker


def test_flattened_tests_of_the_fixture_suite_end_as_the_tests_do(worker):
    different = []
    for test_id in worker.tests:
        run = runs.run_of(next(iter(worker.ask([runs.test_job(test_id, limit_s=30)]))), worker.target)
        if run.outcome.value in ("passed", "failed") and "in_time" not in test_id:
            script = flatten(test_id, worker)
            other = runs.run_of(next(iter(worker.ask([runs.script_job(script, "cpu", limit_s=30)]))), worker.target)
            if other.outcome is not run.outcome:
                different.append((test_id, other.failure))
    assert different == []


DOCUMENTED = 'def one():\n    """\n    >>> one()\n    2\n    """\n    return 1\n\n\ndef test_x():\n    pass\n'


def test_a_test_in_a_docstring_is_said_to_be_no_function(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --doctest-modules\n")
    (tmp_path / "test_doc.py").write_text(DOCUMENTED)
    target, files = find_target("cpu", Settings()), [str(tmp_path / "test_doc.py")]
    with Worker(target, tmp_path, files=files) as worker, pytest.raises(TriageError, match="it is no function"):
        flatten("test_doc.py::test_doc.one", worker)


def test_a_test_that_is_not_there_is_said(worker):
    with pytest.raises(TriageError, match="no test is called"):
        flatten("tests/test_layers.py::test_nothing", worker)


@pytest.mark.parametrize(
    "prefix", [b"\xef\xbb\xbf", b"# -*- coding: latin-1 -*-\r\n# \xe9\r\n"], ids=["BOM", "latin-1"]
)
def test_a_suite_file_is_read_in_its_own_encoding(tmp_path, prefix):
    about = told(tmp_path, {"test_x": ("", {})})
    (tmp_path / "test_x.py").write_bytes(prefix + b"def test_x():\r\n\tassert 1 == 2\r\n")
    assert "assert 1 == 2" in assemble(about, "tpu")
