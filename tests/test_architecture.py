"""The house: imports run down the stairs only, and each dangerous library has one door."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tputriage"

# Rooms from the top of the stairs down. A room may import rooms of a higher number, and itself.
RANKS = {
    "__main__": 0,
    "cli": 1,
    "pipeline": 2,
    "collect": 3,
    "compare": 3,
    "minimize": 3,
    "issues": 3,
    "dashboard": 3,
    "doctor": 3,
    "targets": 4,
    "rendering": 4,
    "store": 4,
    "formats": 5,
    "signatures": 5,
    "config": 6,
    "console": 6,
    "ordering": 6,
    "model": 7,
    "errors": 8,
    "__init__": 9,
}
# Folders that stand alone: they run where tputriage is not installed.
ALONE = {"inside", "journal"}

DOORS = {
    "subprocess": ("targets/",),
    "multiprocessing": ("targets/",),
    "pty": (),
    "github": ("issues/github.py",),
    "sqlite3": ("store.py", "store/"),
    "torch": ("inside/",),
    "jinja2": ("rendering.py",),
}
# What `os` can do to processes is a door too.
OS_DOORS = {name: ("targets/", "inside/") for name in ("fork", "execv", "execve", "system", "popen", "kill", "killpg")}
LONGEST_FILE = 300


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py"))


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node, "." * node.level + (node.module or "")


def our_room(name):
    parts = name.split(".")
    return "__init__" if parts == ["tputriage"] else parts[1] if parts[0] == "tputriage" else None


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_down_the_stairs(path):
    here, tree = room_of(path), ast.parse(path.read_text("utf-8"))
    for node, name in imports(tree):
        room = our_room(name)
        if here in ALONE:
            assert room is None, f"{path.name}:{node.lineno} must not import tputriage: it runs where that is missing"
        elif room is not None and room != here:
            assert room not in ALONE, f"{path.name}:{node.lineno} imports what runs elsewhere"
            assert RANKS[room] > RANKS[here], f"{path.name}:{node.lineno} imports {name}, which is not below it"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_dangerous_library_has_one_door(path):
    place = path.relative_to(PACKAGE).as_posix()
    tree = ast.parse(path.read_text("utf-8"))
    for node, name in imports(tree):
        doors = DOORS.get(name.split(".")[0])
        if doors is not None:
            assert place.startswith(doors) if doors else False, f"{place}:{node.lineno} imports {name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            doors = OS_DOORS.get(node.attr)
            assert doors is None or place.startswith(doors), f"{place}:{node.lineno} calls os.{node.attr}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_are_short_and_say_what_they_are(path):
    source = path.read_text("utf-8")
    assert len(source.splitlines()) <= LONGEST_FILE
    assert ast.get_docstring(ast.parse(source)), "each module says what it answers and what it may not do"


def test_only_the_pipeline_touches_the_store():
    users = {
        room_of(path)
        for path in modules()
        for _, name in imports(ast.parse(path.read_text("utf-8")))
        if our_room(name) == "store" and room_of(path) != "store"
    }
    assert users <= {"pipeline"}


def test_every_room_has_a_rank():
    assert {room_of(path) for path in modules()} <= RANKS.keys() | ALONE


def dotted(path):
    parts = ("tputriage", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def needed_at_import(tree, known):
    """Our modules that must be there when this one is imported; what a function imports comes later."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in (*inner, node.module) if name in known)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def test_no_import_runs_in_a_circle():
    ours = {dotted(path): path for path in modules() if room_of(path) not in ALONE}
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in ours.items()}
    graph = {}
    for name, tree in trees.items():
        needed = set(needed_at_import(tree, ours))
        # Each package on the way to a module is imported before it, save those that this one lies in itself.
        above = {".".join(one.split(".")[:depth]) for one in needed for depth in range(1, one.count(".") + 1)}
        graph[name] = {one for one in needed | above if not name.startswith(f"{one}.") and one != name}
    TopologicalSorter(graph).prepare()
