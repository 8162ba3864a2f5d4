"""One oracle for every reducer of bench_reduce: README.md of the bench scripts defines it.

The reducers ask over a socket of this machine, so that each candidate is a fork of a warm process.
"""

import json
import re
import socketserver
import threading
import time
from contextlib import closing
from pathlib import Path

from tputriage.minimize.names import normal_form
from tputriage.targets.seam import Ended, Job

LIMIT_S = 40.0


def normalised(message):
    first = message.strip().splitlines()[0] if message.strip() else ""
    return re.sub(r"\d+", "N", re.sub(r"\[[\d, -]*\]", "[*]", first))[:300]


def on_cpu(source):
    """`cpu` in place of `tpu`, where that is a word: `output` holds it too."""
    return re.sub(r"\btpu\b", "cpu", source)


class BenchOracle:
    """Fails on the device with the expected type and message, and `cpu` in place of `tpu` passes on the reference."""

    def __init__(self, device, reference, expected, limit_s):
        self.device, self.reference, self.expected = device, reference, expected
        self.runs, self.best, self.ends = 0, None, time.monotonic() + limit_s
        self.lock = threading.Lock()

    @property
    def exhausted(self):
        return time.monotonic() > self.ends

    @property
    def workers(self):
        return self.device.target.slots

    def __call__(self, source):
        return self.first([source]) is not None

    def first(self, sources):
        """Index of the first interesting one; free slots of the device try those behind it meanwhile."""
        with self.lock:
            programs = [place for place, source in enumerate(sources) if normal_form(source) is not None]
            if self.exhausted:
                return None
            said = {}
            with closing(self._run(self.device, {place: sources[place] for place in programs})) as runs:
                for place in programs:
                    while place not in said:
                        said.update([next(runs)])
                    if self._is_it(sources[place], said[place]):
                        return place
            return None

    def _is_it(self, source, said):
        if said is None or (said["exception"], normalised(said["message"])) != self.expected:
            return False
        if next(self._run(self.reference, {0: on_cpu(source)}))[1] is not None:
            return False
        self.best = source
        return True

    def _run(self, runner, sources):
        """(place, the failure's record or None where it passed), as they end."""
        jobs = {place: Job("script", {"source": source, "argv": [], "name": "cand.py"}, LIMIT_S)
                for place, source in sources.items()}  # fmt: skip
        by_id = {id(job): place for place, job in jobs.items()}
        with closing(runner.ask(self._counted(jobs.values()))) as answers:
            for answer in answers:
                yield by_id[id(answer.job)], failure_in(answer)

    def _counted(self, jobs):
        for job in jobs:
            self.runs += 1
            yield job


def failure_in(answer):
    if answer.ended is not Ended.DONE:
        return {"exception": answer.ended, "message": ""}
    return next(iter(answer.value["failures"]), None)


class Server:
    """Answers rivals: a line with a path in, `1` or `0` out."""

    def __init__(self, oracle):
        outer = oracle

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                path = json.loads(self.rfile.readline())
                source = Path(path).read_text("utf-8", "surrogateescape")
                self.wfile.write(b"1" if outer(source) else b"0")

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
