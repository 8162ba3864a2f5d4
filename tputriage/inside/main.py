"""The entry: run as a file by a target's interpreter, which need not have tputriage.

    python main.py session REQUESTS_FD ANSWERS_FD     a worker, see session.py
    python main.py launch CONFIG_FD                   one program, see launch.py

Everything else comes as JSON over the first descriptor: node ids and paths are hostile input and never stand on
a command line. This folder is loaded by its path under a name of its own, so
that nothing else of the site-packages in which tputriage lives comes along.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

NAME = "tputriage_inside"


def load_own_package() -> ModuleType:
    """This folder as the package `tputriage_inside`, and off `sys.path`, where Python put it."""
    folder = Path(__file__).resolve().parent
    sys.path[:] = [place for place in sys.path if not place or Path(place).resolve() != folder]
    spec = importlib.util.spec_from_file_location(
        NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    return package


if __name__ == "__main__":
    load_own_package()
    importlib.import_module(f"{NAME}.{sys.argv[1]}").run(*map(int, sys.argv[2:]))
