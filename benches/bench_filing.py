"""Filing under fire: seeded runs with faults injected and the process killed (SIGKILL) at a random moment.

Each run has a GitHub of its own state (tests/issues/server.py, a process beside this one, over HTTP on loopback), a
store of its own on the disk, and a handful of buckets: new ones, one that is fixed, one that is back. Children
forked from this process file them: the first are killed, and the last goes on until nothing is left to do. Then
server and ledger are compared with what should be. Prints one JSON object; leaves 1 unless everything is 0.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from figures import print_figures

from tests.issues.server import CONTROL, KINDS, GitHub
from tests.issues.values import (
    BOT,
    POLICY,
    QUICK,
    REPOSITORY,
    a_fixed_dossier,
    a_ready_dossier,
    a_sighting,
)
from tputriage.errors import TriageError
from tputriage.issues.apply import Filer, apply_plan
from tputriage.issues.credentials import Credentials
from tputriage.issues.github import GitHubTracker
from tputriage.issues.marker import read_mark
from tputriage.issues.plan import make_plan
from tputriage.issues.survey import survey
from tputriage.issues.text import draft_issue
from tputriage.model import Action
from tputriage.store import open_store
from tputriage.store.ledger import StoredLedger

POLICY = replace(POLICY, close_fixed=True, max_new=50)
FAULTS = tuple(kind for kind in KINDS if not kind.startswith("timeout"))  # a drop is a time-out without the wait
ATTEMPTS = 12
LONGEST_S = 0.12  # a child is killed within this time; an undisturbed one needs about half of it


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=100, help="pairs of filers at the same time")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    server, url = start_server()
    began = time.monotonic()
    try:
        counts = {"runs": 0, "duplicates": 0, "lost": 0, "wrong_closings": 0, "disagreements": 0, "unfinished": 0}
        counts |= {"kills": 0, "closed_copies": 0}
        for number in range(options.runs):
            add(counts, one_run(url, random.Random(f"{options.seed}-{number}")))
            if not (number + 1) % 100:
                print(json.dumps(counts), file=sys.stderr, flush=True)
        pairs = {"pairs": 0, "pair_duplicates": 0, "pair_lost": 0, "pair_copies_closed": 0}
        for number in range(options.pairs):
            add(pairs, one_pair(url, random.Random(f"{options.seed}-pair-{number}")))
    finally:
        os.kill(server, signal.SIGTERM)
        os.waitpid(server, 0)
    result = {**counts, **pairs, "seed": options.seed, "seconds": round(time.monotonic() - began, 1)}
    print_figures(("figure", "value"), result.items(), result)
    bad = ("duplicates", "lost", "wrong_closings", "disagreements", "unfinished")
    sys.exit(any(counts[name] for name in bad) or bool(pairs["pair_duplicates"] or pairs["pair_lost"]))


def start_server():
    """(process id, URL) of a server in a process of its own, so that this one has a single thread and can fork."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        with GitHub() as hub:
            os.write(writing, hub.url.encode())
            os.close(writing)
            signal.pause()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return pid, pipe.read()


def control(url, **given):
    """Change the server's state, or only read it: {number: issue}."""
    data = json.dumps(given).encode() if given else None
    with urllib.request.urlopen(urllib.request.Request(url + CONTROL, data, method="POST")) as answer:
        issues = json.load(answer).get(REPOSITORY, {})
    return {int(number): issue for number, issue in issues.items()}


def scene(random_):
    """(dossiers, issues that are there before, what each bucket's issue must be in the end)."""
    dossiers, issues, expected = [], [], {}
    for number in range(random_.randint(2, 4)):
        kind = random_.choice(("new", "new", "known", "fixed", "back", "old"))
        make = {"fixed": a_fixed_dossier, "back": a_fixed_dossier, "old": a_fixed_dossier}.get(kind, a_ready_dossier)
        dossier = make(number=number)
        if kind == "back":
            dossier = replace(dossier, history=(a_sighting(), a_sighting("0.4.0")))
        if kind != "new":
            title, body = draft_issue(dossier, POLICY, fixed="0.3.0" if kind in ("back", "old") else "")
            closed = kind in ("back", "old")
            state = {"state": "closed", "state_reason": "completed", "closed_s": 2.0} if closed else {}
            issues.append({"author": BOT, "title": title, "body": body, **state})
        expected[dossier.bucket.signature.key] = "closed" if kind in ("fixed", "old") else "open"
        dossiers.append(dossier)
    issues.append({"author": "person", "title": "something else", "body": "text"})
    issues.append({"author": "person", "title": "a change", "body": "", "is_pull": True})
    random_.shuffle(issues)
    return dossiers, issues, expected


def trouble(random_):
    """A few faults, each for the next request of its kind."""
    return [
        {"kind": kind, "verb": _verb(kind, random_), "times": 1, "seconds": 0.0}
        for kind in random_.choices(FAULTS, k=random_.randint(1, 4))
    ]


def _verb(kind, random_):
    if kind == "stale":
        return "GET"
    return random_.choice(("POST", "POST", "PATCH", "GET", ""))


def one_run(url, random_):
    dossiers, issues, expected = scene(random_)
    control(url, repository=REPOSITORY, issues=issues, faults=trouble(random_), list_lag=random_.choice((0, 0, 5, 40)))
    with tempfile.TemporaryDirectory() as folder:
        store, kills, finished = Path(folder), 0, False
        for _ in range(random_.randint(1, 3)):
            kills += run_child(url, store, dossiers, random_.uniform(0.0, LONGEST_S))[0]
        for attempt in range(ATTEMPTS):
            if attempt == ATTEMPTS // 2:
                control(url, faults=[])  # what has not come up by now is not going to
            finished = run_child(url, store, dossiers)[1]
            if finished:
                break
        # Nothing disturbs the last one: it finds what is left over, such as the copy of a lost answer.
        control(url, faults=[])
        finished = run_child(url, store, dossiers)[1] and finished
        return {"kills": kills, **judged(control(url), store, expected), "unfinished": not finished}


def one_pair(url, random_):
    """Two at once, of one store or of two; nobody comes after them to tidy up."""
    dossier = a_ready_dossier(number=0)
    control(url, repository=REPOSITORY, issues=[], faults=[], list_lag=random_.choice((0, 5, 40)))
    with tempfile.TemporaryDirectory() as folder:
        stores = [Path(folder, name) for name in random_.choice((("a", "a"), ("a", "b")))]
        for store in stores:
            open_store(store).__exit__()
        pids = [fork_child(url, store, [dossier], random_.uniform(0.0, 0.01)) for store in stores]
        for pid in pids:
            os.waitpid(pid, 0)
    there = control(url)
    open_ones = [issue for issue in there.values() if issue["state"] == "open"]
    return {
        "pairs": 1,
        "pair_duplicates": len(open_ones) > 1,
        "pair_lost": not open_ones,
        "pair_copies_closed": len(there) - len(open_ones),
    }


def run_child(url, store, dossiers, limit_s=None):
    """(killed, finished): a process that plans and applies, ended after `limit_s` where that is given."""
    pid = fork_child(url, store, dossiers)
    if limit_s is not None:
        time.sleep(limit_s)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status), os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


def fork_child(url, store, dossiers, wait_s=0.0):
    pid = os.fork()
    if not pid:
        time.sleep(wait_s)
        os._exit(file_them(url, store, dossiers))
    return pid


def file_them(url, store, dossiers):
    """As the command does it; 0 where nothing is left to do."""
    try:
        with open_store(store) as opened:
            ledger = StoredLedger(opened)
            numbers = ledger.issues()
            known = [replace(dossier, issue=numbers.get((dossier.bucket.id, REPOSITORY))) for dossier in dossiers]
            token = Credentials(token="token-of-bot")
            tracker = GitHubTracker(token, api_url=url, patience=QUICK, sleep=lambda seconds: None)
            policy = replace(POLICY, authors=frozenset({tracker.login()}))
            steps = make_plan(known, survey(tracker, known, policy), policy)
            results = apply_plan(steps, Filer(tracker, ledger, policy.barred, policy.authors))
    except TriageError:
        return 1
    left = any(not result.done for result in results)
    return int(left or any(step.action is not Action.SKIP for step in steps))


def judged(there, store, expected):
    """What is wrong in the end, counted."""
    found = {key: [] for key in expected}
    for number, issue in there.items():
        mark = read_mark(issue["body"])
        if mark is not None:
            found[mark.key].append((number, issue["state"], issue["state_reason"]))
    with open_store(store) as opened:
        ledger = {bucket: number for (bucket, _), number in StoredLedger(opened).issues().items()}
    counts = {"runs": 1, "duplicates": 0, "lost": 0, "wrong_closings": 0, "disagreements": 0, "closed_copies": 0}
    for key, wanted in expected.items():
        real = [item for item in found[key] if item[2] != "duplicate"]
        copies = [item for item in found[key] if item[2] == "duplicate"]
        counts["duplicates"] += len(real) > 1
        counts["lost"] += not real
        counts["wrong_closings"] += any(state == "closed" and wanted == "open" for _, state, _ in real)
        remembered = ledger.get(f"b{key[-10:]}")
        agree = bool(real) and real[0][1] == wanted and remembered in (None, *(item[0] for item in real))
        counts["disagreements"] += not agree
        counts["closed_copies"] += len(copies)
    return counts


def add(counts, more):
    for name, value in more.items():
        counts[name] += int(value)


if __name__ == "__main__":
    main()
