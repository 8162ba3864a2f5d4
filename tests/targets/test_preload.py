"""A script's imports are made once, before the worker forks."""

from tputriage.config import Settings
from tputriage.targets.catalogue import find_target
from tputriage.targets.runs import imports_of, run_of, script_job
from tputriage.targets.worker import Worker

SCRIPT = "import sys\nassert 'colorsys' in sys.modules\n"


def outcome(preload):
    with Worker(find_target("cpu", Settings()), preload=preload) as worker:
        return run_of(next(iter(worker.ask([script_job(SCRIPT, "cpu", limit_s=30)]))), worker.target).outcome


def test_a_child_finds_what_was_imported_before_it():
    assert outcome(["import colorsys", "import no_such_module"]).is_pass


def test_only_what_was_asked_for_is_imported():
    assert outcome([]).is_failure


def test_a_scripts_own_import_statements_are_told():
    source = "from a import b\nimport c.d as e\nfrom . import f\nif g:\n    import h\n"
    assert imports_of(source) == ("from a import b", "import c.d as e")
