"""Buckets that are ready to be filed, a ledger in a dictionary, and a tracker on our own server."""

from dataclasses import replace

from tests.helpers import a_failure
from tputriage.issues.apply import Filer
from tputriage.issues.credentials import Credentials
from tputriage.issues.github import GitHubTracker, Patience
from tputriage.issues.policy import Policy
from tputriage.model import (
    Bucket,
    Dossier,
    Level,
    Outcome,
    Repro,
    ReproStatus,
    Run,
    Sighting,
    Signature,
    TrackedIssue,
    Verdict,
    VerdictKind,
)

REPOSITORY = "google-pytorch/torch_tpu"
BOT = "triage-bot"
POLICY = Policy(authors=frozenset({BOT}))
MESSAGE = (
    "view(): cannot create a view of shape [4, 2, 1024] from the input tensor of shape [4, 8, 16, 16] and strides"
    " [2048, 1, 128, 8]; consider creating a new tensor using reshape() instead of taking a view"
)
TEMPLATE = (
    "view(): cannot create a view of shape […] from the input tensor of shape […] and strides […];"
    " consider creating a new tensor using reshape() instead of taking a view"
)
SOURCE = """import sys

import torch
import torch.nn.functional as F

device = sys.argv[1] if len(sys.argv) > 1 else "tpu"
x = torch.randn(4, 8, 16, 16, device=device).to(memory_format=torch.channels_last)
F.group_norm(x, 2)
"""
TRACE = f"""Traceback (most recent call last):
  File "/home/alice/suite/tests/models/test_unet.py", line 41, in test_forward
    out = model(sample)
  File "/home/alice/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 2990, in group_norm
    return torch.group_norm(
RuntimeError: {MESSAGE}

C++ error trace (starting from the origin):
view.cc:123: CreateView()
dispatch.cc:77: NativeGroupNorm()"""


def a_filed_failure(**changes):
    test = "tests/models/test_unet.py::TestUnet::test_forward[0]"
    return replace(a_failure(test_id=test, message=MESSAGE, text=TRACE, exception="RuntimeError"), **changes)


def a_ready_bucket(*failures, number=0, **changes):
    key = f"9f3c2a1b0d{number:06x}"
    signature = Signature(
        1, "exception", "RuntimeError", TEMPLATE, "aten::native_group_norm", ("functional.py:group_norm",), key
    )
    title = "group_norm: view(): cannot create a view"
    return replace(Bucket(f"b{key[-10:]}", signature, title, failures or (a_filed_failure(),)), **changes)


A_VERDICT = Verdict(
    VerdictKind.TPU_ONLY,
    "fails on tpu in all of 3 runs, and passes on cpu in all of 3",
    failed=3,
    total=3,
    matrix=(("tpu", "fails in 3 of 3 runs"), ("cpu", "passes in 3 of 3 runs"), ("launch blocking", "fails alike")),
)


def a_ready_repro(bucket, **changes):
    repro = Repro(
        bucket.id,
        bucket.representative,
        ReproStatus.VERIFIED,
        Level.OP,
        SOURCE,
        lines=5,
        targets={"tpu": "fail", "cpu": "pass"},
        operator="torch.nn.functional.group_norm",
        actual=f"RuntimeError: {MESSAGE}",
        expected="returns a tensor of shape (4, 8, 16, 16)",
        condition="fails for channels_last input of any dtype; passes contiguous",
        conditions=(("memory_format=torch.channels_last", "fail"), ("contiguous", "pass")),
        reliability=(5, 5),
        versions={"torch": "2.13.0", "torch_tpu": "0.2.0", "libtpu": "0.0.50", "python": "3.11.9"},
    )
    return replace(repro, **changes)


def a_sighting(version="0.2.0", at_s=1.0, **changes):
    versions = {"torch_tpu": version, "tpu": "v6e"}
    return replace(Sighting(f"run-{version}.json", at_s, versions, 1, "tpu"), **changes)


def a_passing_run(version="0.3.0", **changes):
    return replace(Run("repro", "tpu", Outcome.PASSED, versions={"torch_tpu": version, "tpu": "v6e"}), **changes)


def a_ready_dossier(*failures, number=0, **changes):
    bucket = a_ready_bucket(*failures, number=number)
    return replace(Dossier(bucket, A_VERDICT, a_ready_repro(bucket), (a_sighting(),)), **changes)


def a_fixed_dossier(version="0.3.0", **changes):
    return a_ready_dossier(fixed_in=version, verifications=(a_passing_run(version),) * 3, **changes)


def an_issue(number=1, **changes):
    return replace(TrackedIssue(number, "an issue", "", "open", author=BOT, repository=REPOSITORY), **changes)


class DictLedger:
    """A ledger that lives as long as the test."""

    def __init__(self):
        self.filings = {}
        self.history = []

    def find(self, key):
        return self.filings.get(key)

    def write(self, filing):
        self.filings[filing.key] = filing
        self.history.append(filing.state)


QUICK = Patience(
    timeout_s=1, between_requests_s=0.0, between_writes_s=0.0, longest_wait_s=300.0, tries=3, backoff_s=0.0
)


def a_tracker(hub, token="token-of-bot", patience=QUICK, sleep=lambda seconds: None, **changes):
    return GitHubTracker(Credentials(token=token), api_url=hub.url, patience=patience, sleep=sleep, **changes)


def a_filer(hub, ledger=None, **changes):
    filer = Filer(a_tracker(hub), ledger or DictLedger(), POLICY.barred, POLICY.authors)
    return replace(filer, **changes)
