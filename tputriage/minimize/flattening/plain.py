"""What a plain script has for the fixtures that pytest itself and its common plugins bring. Data."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from tputriage.minimize.trees import Function


@dataclass(frozen=True, slots=True)
class Plain:
    """`lines` bind `{name}`; `around` is what the test is called within."""

    lines: tuple[str, ...]
    imports: tuple[str, ...] = ()
    around: str = ""


FOLDER = "pathlib.Path(tempfile.mkdtemp())"
FOLDER_IMPORTS = ("import pathlib", "import tempfile")


def _capture(kind: str) -> Plain:
    """pytest's own capture; closed before the traceback of what the test raises is printed."""
    return Plain(
        (f"{{name}} = CaptureFixture({kind}, None, _ispytest=True)", "{name}._start()"),
        (f"from _pytest.capture import CaptureFixture, {kind}", "import contextlib"),
        "contextlib.closing({name})",
    )


PLAIN: Mapping[str, Plain] = {
    "tmp_path": Plain((f"{{name}} = {FOLDER}",), FOLDER_IMPORTS),
    "tmpdir": Plain(("{name} = legacy_path(tmp_path)",), ("from _pytest.compat import legacy_path",)),
    "tmp_path_factory": Plain(
        (
            f"{{name}} = pytest.TempPathFactory({FOLDER} / 'base', 3, 'all', print, _ispytest=True)",
            "{name}.getbasetemp()",
        ),
        ("import pytest", *FOLDER_IMPORTS),
    ),
    "monkeypatch": Plain(("{name} = pytest.MonkeyPatch()",), ("import pytest",)),
    "capsys": _capture("SysCapture"),
    "capsysbinary": _capture("SysCaptureBinary"),
    "capfd": _capture("FDCapture"),
    "capfdbinary": _capture("FDCaptureBinary"),
    "caplog": Plain(
        (
            "handler = LogCaptureHandler()",
            "logging.getLogger().addHandler(handler)",
            "stash = {{caplog_handler_key: handler, caplog_records_key: {{'call': handler.records}}}}",
            "{name} = pytest.LogCaptureFixture(types.SimpleNamespace(stash=stash), _ispytest=True)",
        ),
        (
            "import logging",
            "import pytest",
            "import types",
            "from _pytest.logging import LogCaptureHandler, caplog_handler_key, caplog_records_key",
        ),
    ),
    "recwarn": Plain(
        (
            "{name} = pytest.WarningsRecorder(_ispytest=True)",
            "{name}.__enter__()",
            "warnings.simplefilter('default')",
        ),
        ("import pytest", "import warnings"),
    ),
    "subtests": Plain(
        ("{name} = types.SimpleNamespace(test=lambda *told, **values: contextlib.nullcontext())",),
        ("import contextlib", "import types"),
    ),
    "doctest_namespace": Plain(("{name} = {{}}",)),
    "worker_id": Plain(("{name} = 'master'",)),
    "benchmark": Plain(("{name} = lambda function, *args, **kwargs: function(*args, **kwargs)",)),
}
# Fixtures that only talk to the session; a test that wants the value of one cannot be a script.
IGNORED = frozenset({"pytestconfig", "record_property", "record_testsuite_property", "testrun_uid"})

# What `request` is asked for, by an expression over what is known of the test.
REQUEST: Mapping[str, str] = {
    "param": "{param}",
    "instance": "{instance}",
    "cls": "{cls}",
    "function": "{function}",
    "module": "sys.modules[__name__]",
    "node": "types.SimpleNamespace(name={name}, get_closest_marker=lambda name: None, iter_markers=lambda name: [])",
    "config": "types.SimpleNamespace(getoption={options}.get, getini={options}.get)",
    "addfinalizer": "{addfinalizer}",
    "getfixturevalue": "globals().get",
}


def request(known: Mapping[str, str], asked: frozenset[str] | None) -> tuple[str, tuple[str, ...]]:
    """(expression, imports) of a request with what is asked of it; everything where that is None."""
    parts = [f"{key}={text.format(**known)}" for key, text in REQUEST.items() if asked is None or key in asked]
    return f"types.SimpleNamespace({', '.join(parts)})", ("import types",)


def asked_of(function: Function | None) -> frozenset[str] | None:
    """The attributes of its `request` that a function reads; None where it hands the request on."""
    if function is None:
        return None
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    read = [node for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "request"]
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == "request"]
    return frozenset(node.attr for node in read) if len(names) == len(read) else None
