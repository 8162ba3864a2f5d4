"""Values for tests, one keyword away from what a test is about."""

from dataclasses import replace

from tputriage.model import Bucket, Failure, Outcome, Phase, Report, Signature

A_FAILURE = Failure(
    test_id="tests/test_models.py::TestUnet::test_forward",
    phase=Phase.CALL,
    outcome=Outcome.FAILED,
    exception="RuntimeError",
    message="operator 'aten::median' is not implemented for TPU. Please file a feature request",
    duration_s=0.5,
)


def a_failure(**changes):
    return replace(A_FAILURE, **changes)


def a_bucket(*failures, bucket_id="b0123456789", key="0123456789abcdef", **changes):
    failures = failures or (A_FAILURE,)
    signature = Signature(
        version=1,
        family="missing-op",
        exception="RuntimeError",
        template=failures[0].message,
        operator="aten::median",
        key=key,
    )
    return replace(Bucket(bucket_id, signature, "aten::median is not implemented", tuple(failures)), **changes)


def a_report(*failures, digest="d1", **changes):
    tests = {failure.test_id: failure.outcome for failure in failures} | {
        "tests/test_models.py::test_ok": Outcome.PASSED
    }
    report = Report("run.json", "pytest-json-report", digest, tests, tuple(failures), collected=len(tests))
    return replace(report, **changes)
