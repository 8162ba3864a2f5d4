from dataclasses import replace

import pytest

from tests.compare.scripted import MISSING_OP, bucket_of
from tests.helpers import a_failure
from tputriage.compare.judge import Facts, judge, judge_moved, judge_without_runs
from tputriage.model import Frame, Outcome, Phase, Run, VerdictKind

TEST = "tests/test_models.py::TestUnet::test_forward"
BUCKET = bucket_of(TEST)
SAME = a_failure()
OTHER = a_failure(exception="ValueError", message="bad shape")
OFFLINE = a_failure(
    exception="requests.exceptions.ConnectionError", message="Max retries exceeded with url: /api/models"
)
ARTIFACT = a_failure(message="no FFI handler registered for lapack_sgetrf_ffi on a platform Host")


def device(*failures):
    return [a_run("tpu", failure) for failure in failures]


def reference(*failures):
    return [a_run("cpu", failure) for failure in failures]


def a_run(target, failure):
    outcome = failure if isinstance(failure, Outcome) else failure.outcome if failure else Outcome.PASSED
    return Run(TEST, target, outcome, None if isinstance(failure, Outcome) else failure)


@pytest.mark.parametrize(
    ("device_runs", "reference_runs", "kind", "said"),
    [
        (device(SAME, SAME), reference(None, None), "tpu-only", "passes on cpu in 2 of 2 runs"),
        (device(SAME, SAME), reference(SAME), "everywhere", "and alike on cpu"),
        (device(SAME, SAME), reference(OTHER), "tpu-only", "but otherwise (ValueError: bad shape)"),
        (device(SAME, SAME), reference(SAME, None), "everywhere", "1 of 2 runs"),
        (device(SAME, None), reference(None), "flaky", "in 1 of 2 runs (50%, 95 % interval 9% to 91%"),
        (device(SAME, None), reference(None, SAME), "flaky", "and on cpu in 1 of 2"),
        (device(None, None), reference(None), "not-reproduced", "passes on tpu in all of 2 runs alone"),
        (device(OTHER, OTHER), reference(None), "not-reproduced", "but otherwise: ValueError: bad shape"),
        (device(ARTIFACT), reference(None), "infra", "no FFI handler"),
        (device(OFFLINE), reference(OFFLINE), "infra", "Max retries"),
        (device(Outcome.SKIPPED), reference(None), "not-reproduced", "tpu skips the test"),
        (device(Outcome.UNAVAILABLE), reference(None), "undecided", "no run on tpu came to an end"),
        (device(SAME, SAME), reference(Outcome.SKIPPED), "tpu-only", "the message is torch_tpu's own"),
        ([], [], "undecided", "no run"),
    ],
)
def test_runs_decide(device_runs, reference_runs, kind, said):
    verdict = judge(BUCKET, device_runs, reference_runs, Facts(device="tpu"))
    assert (verdict.kind.value, said in verdict.reason) == (kind, True), verdict.reason


def test_runs_that_say_nothing_count_for_no_rate():
    verdict = judge(BUCKET, device(SAME, SAME, OFFLINE, Outcome.UNAVAILABLE), reference(None))
    assert (verdict.failed, verdict.total, verdict.kind) == (2, 2, VerdictKind.TPU_ONLY)


def test_all_runs_are_kept_as_evidence():
    runs = device(SAME, OFFLINE), reference(None)
    assert judge(BUCKET, *runs).runs == (*runs[0], *runs[1])


def test_without_a_reference_the_place_decides_whose_failure_it_is():
    message = (
        "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
    )
    failure = a_failure(message=message, frames=(Frame("src/hooks.py", 217, "to", "tensor.data = moved"),))
    runs = [Run(TEST, "tpu", Outcome.FAILED, failure)]
    verdict = judge(bucket_of(TEST, message=message), runs, reference(Outcome.SKIPPED))
    assert verdict.kind is VerdictKind.TPU_ONLY
    assert "src/hooks.py:217: tensor.data = moved" in verdict.reason


def test_without_a_reference_a_python_error_is_left_undecided():
    failure = a_failure(exception="ValueError", message="no", frames=(Frame("tests/a.py", 3, "t", "raise ValueError"),))
    runs = [Run(TEST, "tpu", Outcome.FAILED, failure)]
    bucket = bucket_of(TEST, message="no", exception="ValueError")
    assert judge(bucket, runs, reference(Outcome.SKIPPED)).kind is VerdictKind.UNDECIDED


def test_a_bucket_after_others_is_judged_by_the_same_order_on_the_reference():
    facts = Facts(after=("tests/test_models.py::test_a",))
    alike, alone = (judge(BUCKET, device(SAME), runs, facts) for runs in (reference(SAME), reference(None)))
    assert (alike.kind, alone.kind) == (VerdictKind.EVERYWHERE, VerdictKind.TPU_ONLY)
    assert "passes alone, and fails on the device after tests/test_models.py::test_a" in alone.reason


def test_a_wrong_number_that_random_streams_explain_is_the_suites():
    bucket = bucket_of(TEST, message="assert 4.94 < 0.01", exception="AssertionError")
    runs = [Run(TEST, "tpu", Outcome.FAILED, bucket.failures[0])]
    verdict = judge(bucket, runs, reference(None), Facts(randomness="it passes once numbers are drawn on cpu"))
    assert verdict.kind is VerdictKind.SUITE
    assert "it is randomness" in verdict.reason


@pytest.mark.parametrize(
    ("exception", "message", "kind"),
    [
        ("RuntimeError", MISSING_OP, VerdictKind.UNDECIDED),
        ("requests.exceptions.ConnectionError", "Max retries exceeded with url: /api", VerdictKind.INFRA),
        ("RuntimeError", "ABORTED: The TPU is already in use by process with pid 4711.", VerdictKind.INFRA),
        ("OSError", "[Errno 28] No space left on device: '/x'", VerdictKind.INFRA),
        ("RuntimeError", "no FFI handler registered for lapack_sgetrf_ffi on a platform Host", VerdictKind.INFRA),
    ],
)
def test_what_no_rerun_can_change_is_judged_at_once(exception, message, kind):
    assert judge_without_runs(bucket_of(TEST, exception=exception, message=message)).kind is kind


def test_sixty_nine_failures_by_a_held_chip_are_one_infra_bucket():
    message = "UNKNOWN: TPU initialization failed: ABORTED: The TPU is already in use by process with pid {}."
    failures = [a_failure(test_id=f"tests/a.py::test_{n}", message=message.format(n)) for n in range(69)]
    bucket = bucket_of(*(failure.test_id for failure in failures), message=failures[0].message)
    assert judge_without_runs(replace(bucket, failures=tuple(failures))).kind is VerdictKind.INFRA


def test_a_bucket_that_lost_all_to_emulator_artifacts_is_infra_too():
    secondary = bucket_of(TEST, message="a required argument is in a failed state")
    home = bucket_of(TEST, message=ARTIFACT.message)
    bucket, verdict = judge_moved(secondary, [home])
    assert (bucket.failures, verdict.kind) == ((), VerdictKind.INFRA)
    assert home.id in verdict.reason


def test_a_run_that_we_ended_for_its_memory_is_no_crash_of_the_device():
    words = "ended: it used more than 8000 MiB of memory"
    run = Run(TEST, "tpu", Outcome.CRASH, a_failure(outcome=Outcome.CRASH, message=words), last_words=words)
    crash = bucket_of(TEST, message=f"worker 'gw0' crashed while running '{TEST}'", exception="")
    verdict = judge(crash, [run], reference(None))
    assert verdict.kind is VerdictKind.INFRA
    assert "8000 MiB" in verdict.reason


def test_a_file_that_cannot_be_imported_here_decides_nothing():
    words = "No module named 'requests_mock'"
    broken = a_failure(exception="ModuleNotFoundError", message=words, phase=Phase.COLLECT, outcome=Outcome.ERROR)
    verdict = judge(BUCKET, device(broken), reference(broken), Facts(device="tpu"))
    assert verdict.kind is VerdictKind.UNDECIDED
    assert f"no run on tpu came to an end: ModuleNotFoundError: {words}" in verdict.reason
