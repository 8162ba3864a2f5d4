import threading

import pytest

from tests.compare.scripted import CRASHES, HANGS, IS_LOST, MISSING_OP, PASSES, SKIPS, Scripted, bucket_of, fails
from tputriage.compare import compare, final_buckets, moved_into
from tputriage.errors import TargetError
from tputriage.model import Phase, VerdictKind

A, B, C = (f"tests/test_{name}.py::test_it" for name in "abc")
SECONDARY = "a required argument is in a failed state"
BLOCKING = "TORCH_TPU_LAUNCH_BLOCKING"


def run(buckets, device, reference=lambda test, job: PASSES, **options):
    """({test id: verdict of its bucket}, the buckets as they came, the two runners)."""
    runners = Scripted("tpu", device), Scripted("cpu", reference)
    found = list(compare(buckets, *runners, limit_s=10.0, **options))
    return {test: verdict for bucket, verdict in found for test in bucket.tests}, found, runners


def always(value):
    return lambda test, job: value


def once_in(sequence):
    """A rule that answers with these in turn, and the last for ever."""
    left = list(sequence)
    return lambda test, job: left.pop(0) if len(left) > 1 else left[0]


def test_a_certain_message_costs_three_runs_on_the_device_and_two_on_the_reference():
    verdicts, _, (device, reference) = run([bucket_of(A)], always(fails(MISSING_OP)))
    plain = [job for job in device.jobs if not job.env]
    assert (verdicts[A].kind, len(plain), len(reference.jobs)) == (VerdictKind.TPU_ONLY, 3, 2)


def test_an_error_that_names_its_operator_is_no_matter_of_chance():
    said = "view(): cannot create a view of shape [2]", "the numbers are off"
    runs = [run([bucket_of(A, message=words)], always(fails(words)))[2][0] for words in said]
    assert [sum(not job.env for job in device.jobs) for device in runs] == [3, 8]


def test_a_failure_that_only_happens_sometimes_gets_the_budget_and_a_rate():
    flips = once_in([fails("odd", "ValueError"), PASSES] * 10)
    verdicts, _, _ = run([bucket_of(A, message="odd", exception="ValueError")], flips)
    assert (verdicts[A].kind, verdicts[A].failed, verdicts[A].total) == (VerdictKind.FLAKY, 10, 20)


def test_representatives_come_from_different_files():
    tests = [f"tests/test_{name}.py::test_{n}" for name in "abcd" for n in range(20)]
    _, _, (device, _) = run([bucket_of(*tests)], always(fails(MISSING_OP)))
    files = {job.payload["test_id"].partition("::")[0] for job in device.jobs if not job.env}
    assert len(files) == 3


def test_a_bucket_whose_members_disagree_is_split_and_each_part_judged():
    tests = (A, B, C)
    verdicts, found, _ = run(
        [bucket_of(*tests, message="odd", exception="ValueError")],
        always(fails("odd", "ValueError")),
        lambda test, job: fails("odd", "ValueError") if test == C else PASSES,
    )
    assert {test: verdicts[test].kind.value for test in tests} == {A: "tpu-only", B: "tpu-only", C: "everywhere"}
    assert len({bucket.id for bucket, _ in found}) == 2
    assert all("disagree" in verdict.reason for _, verdict in found)


def test_two_flaky_members_do_not_disagree():
    coin = {
        A: once_in([fails("odd", "ValueError"), PASSES] * 30),
        B: once_in([PASSES, fails("odd", "ValueError")] * 30),
    }
    bucket = bucket_of(A, B, message="odd", exception="ValueError")
    _, found, _ = run([bucket], lambda test, job: coin[test](test, job))
    assert [verdict.kind for _, verdict in found] == [VerdictKind.FLAKY]


def test_where_the_reference_skips_another_member_is_the_witness():
    tests = [f"tests/test_a.py::test_{n}" for n in range(8)]

    def runs_there(test, job):
        return PASSES if test.endswith("_7") else SKIPS

    verdicts, _, _ = run([bucket_of(*tests)], always(fails(MISSING_OP)), runs_there)
    assert "passes on cpu in 2 of 2 runs" in verdicts[tests[0]].reason


def test_a_witness_is_looked_for_in_small_groups():
    tests = [f"tests/test_a.py::test_{n:02}" for n in range(40)]
    runs_there = {tests[3]: PASSES}
    _, _, (_, reference) = run(
        [bucket_of(*tests)], always(fails(MISSING_OP)), lambda test, job: runs_there.get(test, SKIPS)
    )
    assert len(reference.jobs) < 15


def test_no_witness_is_looked_for_where_the_suites_own_line_decides():
    tests = [f"tests/test_a.py::test_{n}" for n in range(8)]
    said = "Using streams for data transfer requires a CUDA device, or an Intel XPU device."
    bucket = bucket_of(*tests, message=said, exception="ValueError")
    verdicts, _, (_, reference) = run([bucket], always(fails(said, "ValueError")), always(SKIPS))
    assert (verdicts[tests[0]].kind, len(reference.jobs)) == (VerdictKind.SUITE, 3)


def test_a_secondary_error_goes_to_the_bucket_of_its_real_error():
    def device(test, job):
        return fails(MISSING_OP) if test == A or BLOCKING in job.env else fails(SECONDARY)

    before = [bucket_of(A), bucket_of(B, message=SECONDARY)]
    verdicts, found, _ = run(before, device)
    buckets = final_buckets(before, [bucket for bucket, _ in found])
    assert [bucket.tests for bucket in buckets] == [(A, B)]
    assert [failure.test_id for failure in moved_into(buckets[0], before)] == [B]
    assert verdicts[B].kind is VerdictKind.TPU_ONLY


def test_a_secondary_error_that_hides_an_emulator_artifact_is_infra():
    artifact = "no FFI handler registered for lapack_sgetrf_ffi on a platform Host"

    def device(test, job):
        return fails(artifact) if BLOCKING in job.env else fails(SECONDARY)

    _, found, _ = run([bucket_of(A, message=SECONDARY)], device)
    assert [verdict.kind for _, verdict in found] == [VerdictKind.INFRA, VerdictKind.INFRA]
    assert [bucket.tests for bucket, _ in found] == [(A,), ()]


def test_a_bucket_that_needs_no_rerun_takes_in_what_belongs_to_it_and_costs_nothing():
    artifact = "no FFI handler registered for lapack_sgetrf_ffi on a platform Host"
    settled = bucket_of(B, message=artifact)

    def device(test, job):
        return fails(artifact) if BLOCKING in job.env else fails(SECONDARY)

    _, found, (device_runner, _) = run([bucket_of(A, message=SECONDARY)], device, settled=[settled])
    assert (found[0][0].id, found[0][0].tests) == (settled.id, (B, A))
    assert len(device_runner.jobs) == 1


@pytest.mark.parametrize("stopped", [HANGS, fails("a/b does not appear to have a file named c.json.", "OSError")])
def test_a_rerun_that_the_machine_stops_names_no_real_error(stopped):
    def device(test, job):
        return stopped if BLOCKING in job.env and test == A else fails(SECONDARY)

    before = [bucket_of(A, B, message=SECONDARY)]
    _, found, _ = run(before, device, settings=False)
    assert [bucket.tests for bucket in final_buckets(before, [bucket for bucket, _ in found])] == [(A, B)]


CHECK = "F1130 05:32:01.123456 4711 inversion.cc:112] Check failed: a.rank() == b.rank() (3 vs. 4)"
DIED = {"message": "worker 'gw0' crashed while running 'tests/test_a.py::test_it'", "exception": ""}


def dies(words):
    """What a worker says of a process that left these words."""
    return {"outcome": "crash", "failures": [{**fails(words, "")["failures"][0], "outcome": "crash"}]}


def test_deaths_without_words_that_are_one_failed_check_are_one_bucket():
    before = [bucket_of(test, **DIED) for test in (A, B)]
    verdicts, found, (device, _) = run(before, always(dies(CHECK)))
    (bucket,) = final_buckets(before, [bucket for bucket, _ in found])
    assert (bucket.tests, bucket.signature.family, verdicts[A].kind.value) == ((A, B), "crash-check", "tpu-only")
    assert sum(not job.env for job in device.jobs) == 2 + 3


def test_a_death_that_never_has_words_stays_where_it_is():
    _, found, _ = run([bucket_of(A, **DIED)], always(CRASHES))
    assert [(bucket.tests, verdict.kind.value) for bucket, verdict in found] == [((A,), "tpu-only")]


NO_KERNEL = "no registered implementation for untyped custom call to tpu_custom_call for Host"
KERNELS = "TPUTRIAGE_ATTENTION_KERNELS"


def test_what_an_emulator_with_attention_kernels_reported_is_rerun_with_them():
    settled = bucket_of(B, message=NO_KERNEL)

    def device(test, job):
        return fails(NO_KERNEL) if {BLOCKING, KERNELS} <= job.env.keys() else PASSES

    _, found, (device_runner, _) = run([bucket_of(A, message=SECONDARY)], device, settled=[settled])
    assert [(bucket.tests, verdict.kind.value) for bucket, verdict in found] == [((B, A), "infra"), ((), "infra")]
    assert len(device_runner.jobs) == 1
    assert [run.knobs.keys() >= {BLOCKING, KERNELS} for run in found[0][1].runs] == [True]


def test_a_report_without_a_missing_kernel_is_rerun_without_attention_kernels():
    _, _, (device, _) = run([bucket_of(A, message=SECONDARY)], always(PASSES))
    assert not any(KERNELS in job.env for job in device.jobs)


def test_a_slow_first_run_is_no_hang():
    def device(test, job):
        return fails(MISSING_OP) if job.limit_s > 10.0 else HANGS

    verdicts, _, (runner, _) = run([bucket_of(A)], device)
    assert verdicts[A].kind is VerdictKind.TPU_ONLY
    assert {job.limit_s for job in runner.jobs} == {10.0, 30.0}


def test_a_hang_is_believed_after_the_limit_grew_once():
    bucket = bucket_of(A, message="Timeout (>2.0s) from pytest-timeout.", exception="Failed")
    verdicts, _, (device, _) = run([bucket], always(HANGS))
    assert verdicts[A].kind is VerdictKind.TPU_ONLY
    assert [job.limit_s for job in device.jobs].count(30.0) == 1


def test_a_crash_takes_no_other_run_with_it():
    crash = bucket_of(A, message=f"worker 'gw0' crashed while running '{A}'", exception="")
    verdicts, _, _ = run([crash, bucket_of(B)], lambda test, job: CRASHES if test == A else fails(MISSING_OP))
    assert (verdicts[A].kind, verdicts[B].kind) == (VerdictKind.TPU_ONLY, VerdictKind.TPU_ONLY)


def test_a_held_chip_is_one_message_and_a_stop():
    held = fails("ABORTED: The TPU is already in use by process with pid 4711.")
    buckets = [
        bucket_of(f"tests/a.py::test_{n}", message=f"boom number {word}", exception="ValueError")
        for n, word in enumerate(("one", "two", "three", "four"))
    ]
    device, reference = Scripted("tpu", always(held)), Scripted("cpu", always(PASSES))
    with pytest.raises(TargetError, match=r"tpu cannot be used: .*4711"):
        list(compare(buckets, device, reference, limit_s=10.0))
    assert len(device.jobs) <= len(buckets)


def test_a_worker_that_is_lost_leaves_its_bucket_undecided():
    verdicts, _, _ = run([bucket_of(A)], always(IS_LOST))
    assert verdicts[A].kind is VerdictKind.UNDECIDED


def test_what_passes_alone_and_fails_after_others_names_them():
    file = "tests/test_a.py"
    order = [f"{file}::test_{n}" for n in range(30)]
    culprits = {order[4], order[21]}

    def either(test, job):
        return fails("left over", "ValueError") if culprits <= set(job.payload["before"]) else PASSES

    bucket = bucket_of(order[29], message="left over", exception="ValueError")
    verdicts, _, _ = run([bucket], either, either, order={file: order})
    assert verdicts[order[29]].kind is VerdictKind.EVERYWHERE
    assert f"after {order[4]}, {order[21]}" in verdicts[order[29]].reason


def test_knobs_say_what_makes_the_failure_go_away():
    def device(test, job):
        return PASSES if job.env.get("TORCH_TPU_DEFER_AND_FUSE") == "0" else fails("odd", "ValueError")

    verdicts, _, _ = run([bucket_of(A, message="odd", exception="ValueError")], device)
    assert verdicts[A].knobs["no-deferral"] == "passes"
    assert set(verdicts[A].knobs.values()) == {"passes", "fails alike"}
    assert "it passes with no-deferral (it needs deferred and fused execution)" in verdicts[A].reason


def test_wrong_numbers_that_go_away_with_random_numbers_from_cpu_are_randomness():
    def device(test, job):
        return PASSES if job.env.get("TPUTRIAGE_CPU_RANDOM") else fails("assert 4.94 < 0.01", "AssertionError")

    verdicts, _, _ = run([bucket_of(A, message="assert 5.1 < 0.01", exception="AssertionError")], device)
    assert verdicts[A].kind is VerdictKind.SUITE
    assert "randomness" in verdicts[A].reason
    assert ("greatest absolute difference", "4.94") in verdicts[A].matrix


def test_one_more_target_gives_one_more_column():
    also = Scripted("emulator", always(fails(MISSING_OP)))
    verdicts, _, _ = run([bucket_of(A)], always(fails(MISSING_OP)), also=also)
    assert ("emulator", "fails alike") in verdicts[A].matrix
    assert "the chip and libtpu are not at fault" in verdicts[A].reason


def test_both_targets_work_at_the_same_time():
    meeting = threading.Barrier(2, timeout=5)

    def first_meets(value):
        met = []

        def rule(test, job):
            if not met:
                met.append(test)
                meeting.wait()  # raises where the other target only starts once this one is done
            return value

        return rule

    verdicts, _, _ = run([bucket_of(A)], first_meets(fails(MISSING_OP)), first_meets(PASSES))
    assert verdicts[A].kind is VerdictKind.TPU_ONLY


def test_verdicts_come_one_by_one():
    messages = {f"tests/a.py::test_{n}": f"boom of kind {'x' * n}" for n in range(1, 20)}
    buckets = [bucket_of(test, message=message, exception="ValueError") for test, message in messages.items()]
    device = Scripted("tpu", lambda test, job: fails(messages[test], "ValueError"))
    said = []
    answers = compare(
        buckets,
        device,
        Scripted("cpu", always(PASSES)),
        limit_s=10.0,
        on_progress=lambda done, total, what: said.append((done, total)),
    )
    next(answers)
    asked = {job.payload["test_id"] for job in device.jobs}
    answers.close()
    assert len(asked) < len(buckets)
    assert said == [(1, 19)]


def test_repeats_keep_one_traceback_for_each_message():
    verdicts, _, _ = run([bucket_of(A, message="odd", exception="ValueError")], always(fails("odd", "ValueError")))
    plain = [run for run in verdicts[A].runs if run.failure is not None and not run.knobs]
    assert [bool(run.failure.text) for run in plain] == [True] + [False] * (len(plain) - 1)


def test_a_file_that_can_be_collected_again_did_not_reproduce():
    gone = {**fails("no test is called tests/test_a.py among the 3 collected", "", phase="collect")}
    gone["outcome"] = "unavailable"
    bucket = bucket_of("tests/test_a.py", message="No module named 'x'", exception="ImportError", phase=Phase.COLLECT)
    verdicts, _, _ = run([bucket], always(gone), always(gone))
    assert verdicts["tests/test_a.py"].kind is VerdictKind.NOT_REPRODUCED


def test_without_settings_no_knob_is_tried():
    verdicts, _, (device, _) = run([bucket_of(A)], always(fails(MISSING_OP)), settings=False)
    assert (verdicts[A].knobs, [job for job in device.jobs if job.env]) == ({}, [])
