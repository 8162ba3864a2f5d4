"""Dossiers and report rows as the store gives them, some of them hostile."""

from dataclasses import replace

from tests.helpers import a_bucket, a_failure
from tputriage.model import (
    Dossier,
    Level,
    Outcome,
    Phase,
    Repro,
    ReproStatus,
    Sighting,
    Verdict,
    VerdictKind,
)

SOURCE = """import sys

import torch

device = sys.argv[1] if len(sys.argv) > 1 else "tpu"
x = torch.ones(2, 4, device=device)  # a comment
torch.median(x)
"""
HOSTILE = (
    "</script><script>window.hacked = 1</script><!-- <img src=x onerror='window.hacked = 2'> & \u2028 \ud800 \u202e"
    " @everyone fixes #1 | `code` **bold** [link](javascript:hacked) \x1b[31mred\x1b[0m \x00"
)
DAY_S = 86_400.0
NOW_S = 1_796_000_000.0


def a_repro(bucket, **changes):
    made = Repro(
        bucket=bucket.id,
        test_id=bucket.representative,
        status=ReproStatus.VERIFIED,
        level=Level.OP,
        source=SOURCE,
        script=f".tputriage/repros/{bucket.id}.py",
        lines=4,
        targets={"emulator": "fail", "cpu": "pass"},
        operator="torch.median",
        actual="RuntimeError: no kernel",
        expected="returns, as on CPU",
        condition="fails with every dtype tried",
        conditions=(("dtype: float32", "fail"), ("dtype: int64", "pass"), ("size: 0", "error: refused")),
        traceback="Traceback (most recent call last):\nRuntimeError: no kernel\n",
        reliability=(3, 3),
    )
    return replace(made, **changes)


def a_verdict(kind=VerdictKind.TPU_ONLY, **changes):
    made = Verdict(
        kind,
        "fails on emulator in 3 of 3 runs, passes on cpu in 2 of 2 runs",
        failed=3,
        total=3,
        interval=(0.44, 1.0),
        knobs={"launch-blocking": "fails alike", "cpu-fallback": "passes"},
        matrix=(("emulator", "failed 3 of 3"), ("cpu", "passed 2 of 2")),
    )
    return replace(made, **changes)


def a_dossier(number=0, *, tests=1, words="aten::median is not implemented", kind=VerdictKind.TPU_ONLY, **changes):
    """The bucket `b…number` of `tests` tests."""
    failures = [
        a_failure(
            test_id=f"tests/models/unet/test_unet.py::TestUnet{number}::test_{at}[{words}]",
            text=f"def test():\n>   model(sample)\nE   RuntimeError: {words}",
            message=words,
        )
        for at in range(tests)
    ]
    bucket = a_bucket(*failures, bucket_id=f"b{number:010x}", key=f"{number:016x}", title=f"{number}: {words}"[:110])
    made = Dossier(
        bucket=bucket,
        verdict=a_verdict(kind),
        repro=a_repro(bucket),
        history=(Sighting("night.json", NOW_S, {"torch_tpu": "0.2.0"}, tests),),
    )
    return replace(made, **changes)


def a_hostile_dossier(number=9):
    """Every text that comes from outside is an attack."""
    found = a_dossier(number, words=HOSTILE)
    bucket = replace(found.bucket, title=HOSTILE[:110])
    repro = a_repro(
        bucket,
        source=f"# {HOSTILE}\n",
        condition=HOSTILE,
        actual=HOSTILE,
        traceback=HOSTILE,
        cpp_trace=HOSTILE,
        conditions=((HOSTILE, HOSTILE),),
    )
    verdict = a_verdict(reason=HOSTILE, knobs={HOSTILE: HOSTILE}, matrix=((HOSTILE, HOSTILE),))
    seen = Sighting(HOSTILE, NOW_S, {"torch_tpu": HOSTILE}, 1)
    return replace(found, bucket=bucket, repro=repro, verdict=verdict, history=(seen,))


def a_row(number=0, *, passed=7, failed=2, skipped=1, suite="diffusers", **changes):
    """The `number`th report, a day after the one before."""
    made = {
        "id": number,
        "source": f"night-{number}.json",
        "root": "/suite",
        "suite": suite,
        "created_s": NOW_S + number * DAY_S,
        "collected": passed + failed + skipped,
        "versions": {"torch_tpu": "0.2.0", "torch": "2.13.0"},
        "outcomes": {"passed": passed, "failed": failed, "skipped": skipped},
        "notes": [],
    }
    return made | changes


def a_crash(test_id):
    return a_failure(test_id=test_id, phase=Phase.CRASH, outcome=Outcome.CRASH, exception="", message="", frames=())
