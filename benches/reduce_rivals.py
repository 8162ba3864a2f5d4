"""The general reducers that bench_reduce runs beside ours, each in an environment of its own, outside the project."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

HOME = Path(tempfile.gettempdir()) / "tputriage-bench-rivals"
SCRIPT_PACKAGES = ("diffusers==0.42.1", "accelerate")  # the version that the shared scripts were checked with
PURELIB = "import sysconfig; print(sysconfig.get_path('purelib'))"
ASK = '''\
"""Asks the oracle of bench_reduce: `python ask.py PORT FILE` leaves with 0 if the file is interesting."""
import json, socket, sys

def interesting(args, prefix=None):
    with socket.create_connection(("127.0.0.1", int(args[0]))) as link:
        link.sendall(json.dumps(args[-1]).encode() + b"\\n")
        return link.recv(1) == b"1"

if __name__ == "__main__":
    sys.exit(0 if interesting(sys.argv[1:]) else 1)
'''


@dataclass(frozen=True)
class Rival:
    name: str
    package: str
    needs: tuple[int, int]  # the oldest Python it runs on
    start: tuple[str, ...]  # after the environment's Python; {port}, {ask}, {file} are filled in


RIVALS = (
    Rival("lithium", "lithium-reducer==4.0.0", (3, 11), ("-m", "lithium", "{ask}", "{port}", "{file}")),
    Rival(
        "shrinkray",
        "shrinkray==26.4.14.0",
        (3, 12),
        ("-m", "shrinkray", "--ui=basic", "--parallelism=1", "--input-type=arg", "--timeout=60",
         "{python} {ask} {port}", "{file}"),
    ),
)  # fmt: skip


def python_for(needs):
    """An interpreter that is new enough, or None."""
    if sys.version_info >= needs:
        return sys.executable
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{needs[0]}.{needs[1]}.*/bin/python"))
    for found in (*map(str, pyenv), shutil.which(f"python{needs[0]}.{needs[1]}")):
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found
    return None


def install(rival):
    """Its environment's Python; None where this machine cannot have it."""
    base = python_for(rival.needs)
    return base and environment(rival.name, base, rival.package)


def scripts_python():
    """An interpreter with what the scripts import, over the packages of this one."""
    return environment("scripts", sys.executable, *SCRIPT_PACKAGES, over=sysconfig.get_path("purelib"))


def environment(name, base, *packages, over=None):
    """The Python of an environment that is made once; `over` is a folder whose packages it sees too."""
    python = HOME / name / "bin" / "python"
    done = HOME / name / "done"
    if not (done.exists() and done.read_text() == f"{packages} {over}"):
        subprocess.run([base, "-m", "venv", "--clear", str(HOME / name)], check=True)
        if over:
            places = subprocess.run([str(python), "-c", PURELIB], check=True, capture_output=True, text=True).stdout
            Path(places.strip(), "over.pth").write_text(over + "\n")
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
        done.write_text(f"{packages} {over}")
    return str(python)


def run(rival, python, source, port, limit_s):
    """Until it ends by itself or its time is over; what it found best is what the oracle remembers."""
    with tempfile.TemporaryDirectory() as folder:
        file, ask = Path(folder, "script.py"), Path(folder, "ask.py")
        file.write_text(source, "utf-8")
        ask.write_text(ASK, "utf-8")
        filled = {"port": port, "ask": str(ask), "file": str(file), "python": python}
        command = [python, *(part.format(**filled) for part in rival.start)]
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return "stopped"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return "ended"
