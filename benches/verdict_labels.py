"""What the causes that a person wrote beside real failures ask of our verdicts: the tables of bench_verdicts.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """What a label's cause asks of the verdict: its kind, and words of the bucket or the reason that name the cause."""

    cause: str
    verdicts: tuple[str, ...]
    words: str  # pattern over "family operator title reason"
    why: str


EXPECTED = (
    Expected("hub-offline", ("infra",), r"^offline ", "fails on CPU alike, for want of a network: no bug of anybody's"),
    Expected(
        "emulator:tpu_custom_call(sdpa)",
        ("infra",),
        r"tpu_custom_call",
        "the attention kernel is TPU code, which a CPU plugin cannot have: it says nothing about a TPU",
    ),
    Expected(
        "emulator:unknown-device-kind(inductor memory)",
        ("infra",),
        r"^emulator-api ",
        "inductor asks the plugin how much memory the device has, which a real TPU answers",
    ),
    Expected("groupnorm-channels_last-view", ("tpu-only",), r" view\b", "one bug of group_norm, at several shapes"),
    Expected(
        "aten::mish.out-unimplemented",
        ("tpu-only",),
        r"aten::mish\b",
        "a missing operator is torch_tpu's, also where CPU skips the test",
    ),
    Expected(
        "error-message-wording(linear shape mismatch)",
        ("tpu-only",),
        r"^message-wording .*linear\(\)",
        "torch_tpu words an error otherwise than torch: a difference of behaviour, and TorchTPU's",
    ),
    Expected(
        "rms_norm-symbolic-numel(dynamo)",
        ("tpu-only",),
        r"rms_norm",
        "torch_tpu's rms_norm asks a symbolic shape for its size, so no torch.compile(dynamic=True) works",
    ),
    Expected(
        "tpu-tensorimpl-shallow-copy-incompatible",
        ("tpu-only",),
        r"set_data.*incompatible tensor type",
        "torch's own call refuses the device's tensors",
    ),
    Expected(
        "crash:inplace-overlapping-view-CHECK",
        ("tpu-only",),
        r"^crash-check .*in-place operations on overlapping views",
        "the process dies on tpu alone; a report of pytest-xdist has no words of it, its rerun names the failed check",
    ),
    Expected(
        "library:diffusers-group-offload-streams-cuda-xpu-only",
        ("suite",),
        r"group_offloading\.py:\d+: raise ValueError",
        "the library's own check knows two devices, and raises before any operator of torch_tpu runs",
    ),
    Expected(
        "library:diffusers-get_device-ignores-tpu",
        ("suite",),
        r"pipeline_utils\.py:\d+: raise RuntimeError",
        "the library's default device ignores tpu, and its own check then finds no accelerator",
    ),
    Expected(
        "expected-values-device-rng",
        ("suite",),
        r"it is randomness",
        "the numbers written down in the test are those of another random stream: no wrong result",
    ),
)
BY_CAUSE = {row.cause: row for row in EXPECTED}


@dataclass(frozen=True, slots=True)
class Explained:
    """A difference that is ours to stand by, with the reason."""

    cause: str
    verdict: str
    words: str
    why: str


EXPLAINED = (
    Explained(
        "emulator:tpu_custom_call(sdpa)",
        "not-reproduced",
        r"^secondary .*\bpasses on emulator\b",
        "our emulator runs attention without the TPU's kernels; it is given them only where the report itself says that"
        " its run had them, since what it then fails with says nothing of a run on a TPU",
    ),
)
# What an outcome in the CPU report rules out: a test that passed there does not fail everywhere.
RULED_OUT = {"passed": ("everywhere",), "xpassed": ("everywhere",), "failed": ("tpu-only", "suite")}
