"""One oracle for every reducer of bench_reduce: README.md of the bench scripts defines it.

The reducers ask over a socket of this machine, so that each candidate is a fork of a warm process.
"""

import json
import re
import socketserver
import threading
import time
from pathlib import Path

from tputriage.minimize.names import normal_form
from tputriage.targets.seam import Ended, Job

LIMIT_S = 40.0


def normalised(message):
    first = message.strip().splitlines()[0] if message.strip() else ""
    return re.sub(r"\d+", "N", re.sub(r"\[[\d, -]*\]", "[*]", first))[:300]


class BenchOracle:
    """Fails on the device with the expected type and message, and `cpu` in place of `tpu` passes on the reference."""

    def __init__(self, device, reference, expected, limit_s):
        self.device, self.reference, self.expected = device, reference, expected
        self.limit_s = limit_s
        self.start()

    def start(self):
        self.calls = self.runs = self.device_runs = self.free = 0
        self.best, self.known, self.ends = None, {}, time.monotonic() + self.limit_s
        self.accepted = []
        self.lock = threading.Lock()

    @property
    def exhausted(self):
        return time.monotonic() > self.ends

    def __call__(self, source):
        with self.lock:
            return self._ask(source)

    def first(self, sources):
        return next((place for place, source in enumerate(sources) if self(source)), None)

    def _ask(self, source):
        self.calls += 1
        key = normal_form(source)
        if key is None:
            self.free += 1
            return False
        if self.exhausted:
            return False
        self.device_runs += 1
        said = self._run(self.device, source)
        if said is None or (said["exception"], normalised(said["message"])) != self.expected:
            return False
        if self._run(self.reference, source.replace("tpu", "cpu")) is not None:
            return False
        self.best = source
        self.accepted.append((self.runs, said["frames"][-1]["function"] if said["frames"] else ""))
        return True

    def _run(self, runner, source):
        """The failure's record, None where it passed."""
        self.runs += 1
        job = Job("script", {"source": source, "argv": [], "name": "cand.py"}, LIMIT_S)
        answer = next(iter(runner.ask([job])))
        if answer.ended is not Ended.DONE:
            return {"exception": answer.ended, "message": "", "frames": []}
        failures = answer.value["failures"]
        return failures[0] if failures else None


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
