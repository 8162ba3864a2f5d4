"""Suites that hard-code their device: real workers, and the real torch_tpu on the emulator."""

import textwrap

import pytest

from tests.targets.conftest import target_or_skip
from tputriage.compare import advice, compare
from tputriage.model import Verdict, VerdictKind
from tputriage.signatures import group
from tputriage.targets import runs
from tputriage.targets.worker import Worker

HARD = """
    import io
    import torch

    DEVICE = torch.device("tpu")

    def test_factories():
        for value in ("tpu", "tpu:0", DEVICE, torch.device("tpu", 0)):
            assert torch.ones(2, device=value).device == torch.zeros(2).to(value).device == DEVICE

    def test_modules():
        layer = torch.nn.Linear(2, 2).to("tpu")
        assert layer(torch.ones(1, 2).tpu()).is_tpu
        assert torch.nn.Linear(2, 2, device="tpu").weight.device == DEVICE

    def test_generators():
        generator = torch.Generator(device="tpu").manual_seed(0)
        assert isinstance(generator, torch.Generator)
        assert torch.randn(2, device="tpu", generator=generator).shape == (2,)

    def test_the_devices_own_module():
        assert torch.tpu.is_available()
        torch.tpu.manual_seed(0)
        torch.tpu.synchronize()

    def test_python_doors():
        with torch.autocast("tpu", dtype=torch.bfloat16), torch.random.fork_rng(devices=[], device_type="tpu"):
            pass
        file = io.BytesIO()
        torch.save(torch.ones(2), file)
        file.seek(0)
        assert torch.load(file, map_location="tpu").device == DEVICE

    def test_words_stay_words():
        assert "tpu".upper() == "TPU"
        assert torch.einsum("ij->ji", torch.ones(2, 3, device="tpu")).shape == (3, 2)

    def test_another_device_class(monkeypatch):
        monkeypatch.setattr(torch, "device", lambda *args: DEVICE)
        assert torch.ones(2, device="tpu").to(DEVICE).device == torch.device("tpu")

    def test_median():
        assert torch.median(torch.tensor([3.0, 1.0, 2.0], device="tpu")).item() == 2.0
"""
CUDA = """
    import pytest
    import torch

    @pytest.mark.skipif(not torch.cuda.is_available(), reason="no cuda")
    def test_cuda():
        x = torch.ones(2, device="cuda") + torch.ones(2).cuda()
        assert x.is_cuda and x.device.type != "cuda"
        assert torch.nn.Linear(2, 2).cuda().weight.is_cuda
        torch.cuda.manual_seed_all(0)
        torch.cuda.synchronize()
        torch.manual_seed(0)
"""
NAMES = ["factories", "modules", "generators", "the_devices_own_module", "python_doors", "words_stay_words", "median",
         "another_device_class"]  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hard")
    (folder / "test_hard.py").write_text(textwrap.dedent(HARD), "utf-8")
    (folder / "test_cuda.py").write_text(textwrap.dedent(CUDA), "utf-8")
    return folder


def a_worker(root, name, redirect):
    files = [str(root / file) for file in ("test_hard.py", "test_cuda.py")]
    return Worker(target_or_skip(name), root, files, redirect=redirect)


@pytest.fixture(scope="module")
def cpu(root):
    with a_worker(root, "cpu", "tpu") as worker:
        yield worker


@pytest.fixture(scope="module")
def emulator(root):
    with a_worker(root, "emulator", "cuda") as worker:
        yield worker


def outcomes(worker, tests):
    """{test: "passed", or what it said}"""
    found = [runs.run_of(answer, worker.target) for answer in worker.ask(runs.test_job(t, limit_s=60) for t in tests)]
    return {run.test_id: run.failure.message if run.failure else run.outcome.value for run in found}


def test_a_hard_coded_device_is_found_on_cpu(cpu):
    tests = [f"test_hard.py::test_{name}" for name in NAMES]
    assert outcomes(cpu, tests) == dict.fromkeys(tests, "passed")


def test_a_script_is_not_helped(cpu):
    (answer,) = cpu.ask([runs.script_job("import torch; torch.ones(2, device='tpu')", "cpu", limit_s=30)])
    assert "device string: tpu" in runs.run_of(answer, cpu.target).failure.message


def test_without_it_the_suite_fails_to_be_collected_and_the_setting_is_advised(root):
    with a_worker(root, "cpu", "") as worker:
        (answer,) = worker.ask([runs.test_job("test_hard.py::test_median", limit_s=30)])
    run = runs.run_of(answer, worker.target)
    (note,) = advice([a_verdict(run)], "")
    assert 'redirect = "tpu"' in note
    assert list(advice([a_verdict(run)], "tpu")) == []


def a_verdict(run):
    return Verdict(VerdictKind.UNDECIDED, "", runs=(run,))


@pytest.mark.emulator
def test_hard_coded_cuda_runs_on_the_device(emulator):
    assert outcomes(emulator, ["test_cuda.py::test_cuda"]) == {"test_cuda.py::test_cuda": "passed"}


@pytest.mark.emulator
def test_an_operators_bug_in_a_hard_coded_suite_is_the_devices_alone(emulator, cpu):
    (answer,) = emulator.ask([runs.test_job("test_hard.py::test_median", limit_s=60)])
    failure = runs.run_of(answer, emulator.target).failure
    ((_, verdict),) = compare(group([failure]), emulator, cpu, limit_s=60, settings=False)
    assert verdict.kind is VerdictKind.TPU_ONLY
    assert "aten::median" in failure.message
    assert "passes on cpu" in verdict.reason
