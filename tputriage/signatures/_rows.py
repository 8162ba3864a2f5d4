"""The rows of families.py: name, kind, identity, needles, pattern, words, example, counterexample, source.

Order matters: infrastructure first, since an offline hub can end in any exception; what says little comes last.
"""

from __future__ import annotations

from tputriage.signatures._rows_vague import SAYS_LITTLE, Row

_INFRA: tuple[Row, ...] = (
    (
        "offline",
        "infra",
        "family",
        (
            "hub",
            "huggingface",
            "offline",
            "connection",
            "urlopen",
            "resolution",
            "name or service",
            "retries",
            "does not appear to have",
            "not a valid model identifier",
            "can't load",
            "couldn't connect",
            "network is unreachable",
            "cached snapshot",
        ),
        r"LocalEntryNotFoundError|OfflineModeIsEnabled|offline mode is enabled|outgoing traffic has been disabled"
        r"|does not appear to have (?:a file|files) named|is not a valid model identifier"
        r"|couldn't connect to 'https?://|cannot find an appropriate cached snapshot"
        r"|can't load (?:the )?(?:config\w*|tokenizer|image processor|feature extractor|processor|model|weights)\b"
        r".* for '"
        r"|max retries exceeded with url|temporary failure in name resolution|name or service not known"
        r"|network is unreachable|failed to establish a new connection|urlopen error|couldn't reach '?\S+ on the hub"
        r"|(?:requests|httpx|urllib3|aiohttp|httpcore)\.\S*(?:Connect\w*Error|ConnectionError|ReadTimeout\w*|ProxyError)"
        r"|an error happened while trying to locate the files? on the hub",
        "a file could not be downloaded: the network or the hub is out of reach",
        "OSError: acme/tiny-model does not appear to have a file named config.json.",
        "KeyError: 'config.json'",
        "RUN; huggingface_hub.errors, transformers.utils.hub, diffusers.configuration_utils",
    ),
    (
        "gated",
        "infra",
        "family",
        ("gated", "client error", "too many requests", "rate limit", "http error", "repositorynotfound"),
        r"GatedRepoError|gated repo|(?:401|403|404|407|429|5\d\d) (?:Client|Server) Error|too many requests"
        r"|HTTP Error (?:401|403|404|407|429|5\d\d)|RepositoryNotFoundError|hub rate limit",
        "a server refused a download",
        "huggingface_hub.errors.GatedRepoError: 401 Client Error. Cannot access gated repo",
        "RuntimeError: expected 401 values, got 3",
        "huggingface_hub.errors",
    ),
    (
        "chip-held",
        "infra",
        "family",
        ("already in use", "lockfile", "device or resource busy"),
        r"TPU is already in use by|libtpu_lockfile|/dev/(?:accel|vfio)\S* .*(?:busy|in use)"
        r"|(?:accel|vfio)\S*: device or resource busy",
        "another process holds the TPU chip",
        "RuntimeError: ABORTED: The TPU is already in use by process with pid 4711. Not attempting to load libtpu.so",
        "RuntimeError: the name is already in use by another module",
        "libtpu, public logs",
    ),
    (
        "client-start",
        "infra",
        "family",
        ("pjrt", "tpu initialization", "initialize backend", "world_size configuration", "initializedistributed"),
        r"InitializePjrtPlugin failed|GetPjrtClient failed|InitializeDistributedEnvironment failed"
        r"|PjRtClient (?:is null|must be initialized)|no (?:addressable )?PjRt devices found"
        r"|PjRt (?:client |device )?is not initialized|TPU initialization failed|unable to initialize backend 'tpu'"
        r"|invalid world_size configuration",
        "the device's client did not come up",
        "RuntimeError: GetPjrtClient failed: UNKNOWN: TPU initialization failed",
        "RuntimeError: PjRtBuffer was deleted",
        "TT pjrt_state.cc, compilation.cc",
    ),
    (
        "disk-full",
        "infra",
        "family",
        ("no space left", "quota exceeded", "read-only file system", "too many open files"),
        r"no space left on device|disk quota exceeded|read-only file system|too many open files",
        "the disk is full, or its limits are reached",
        "OSError: [Errno 28] No space left on device: '/tmp/x'",
        "RuntimeError: no space left in the buffer",
        "errno.h",
    ),
    (
        "host-memory",
        "infra",
        "family",
        ("allocate memory", "memoryerror", "std::bad_alloc", "unable to allocate"),
        r"DefaultCPUAllocator: can't allocate memory|cannot allocate memory|\AMemoryError|std::bad_alloc"
        r"|unable to allocate \S+ ?[KMGT]iB",
        "the host ran out of memory",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:124] . DefaultCPUAllocator: can't allocate memory: you tried",
        "RuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm",
        "c10/core/impl/alloc_cpu.cpp",
    ),
    (
        "installation",
        "infra",
        "message",
        ("undefined symbol", "compiled against", "torch_tpu", "libtpu", "glibc", "cannot open shared object"),
        r"undefined symbol: \S|compiled against (?:API|ABI)|(?:Import|ModuleNotFound)Error: .*(?:torch_tpu|libtpu)"
        r"|version `(?:GLIBC|CXXABI)|(?:libtpu|torch_tpu)\S*: cannot open shared object",
        "torch, torch_tpu and libtpu do not fit together",
        "ImportError: torch_tpu/_C.so: undefined symbol: _ZN3c105ErrorC2E",
        "AttributeError: module 'torch_tpu' has no attribute 'foo'",
        "field notes of torch_tpu users",
    ),
)

_EMULATOR: tuple[Row, ...] = (
    (
        "emulator-stablehlo",
        "emulator",
        "message",
        ("serialize stablehlo",),
        r"failed to serialize StableHLO to plugin version",
        "the emulator's plugin is older than torch_tpu's StableHLO",
        "RuntimeError: cumsum(): failed to serialize StableHLO to plugin version 1.9.3",
        "RuntimeError: failed to serialize the state dict",
        "RUN, xla-cpu-pjrt 0.0.1",
    ),
    (
        "emulator-partitioner",
        "emulator",
        "message",
        ("computation_partitioner.cc",),
        r"computation_partitioner\.cc:[\dN]+\] Check failed",
        "the emulator's plugin cannot compile a scan",
        "F0000 00:00:1796025765.914920 24315 computation_partitioner.cc:269] Check failed: operand_maps.size() == 1",
        "F0000 00:00:1796025765.914920 24315 inversion.cc:112] Check failed: operand_maps.size() == 1",
        "RUN, lammps-jax-pjrt-cpu 0.11.2: cumsum, cumprod",
    ),
    (
        "emulator-ffi",
        "emulator",
        "message",
        ("ffi handler",),
        r"no FFI handler registered for \S+ on (?:a )?platform Host",
        "the emulator's plugin lacks a custom call",
        "RuntimeError: no FFI handler registered for lapack_sgetrf_ffi on a platform Host",
        "RuntimeError: no handler registered for signal on a platform",
        "RUN, both CPU plugins",
    ),
    (
        "emulator-custom-call",
        "emulator",
        "message",
        ("custom call",),
        r"no registered implementation for (?:untyped |typed )?custom call to \S+ for Host"
        r"|unknown custom call (?:API version|target)\b.*\bHost",
        "the emulator's plugin has no TPU kernels",
        "XLA compiler failed with: no registered implementation for untyped custom call to tpu_custom_call for Host",
        "RuntimeError: custom call to foo returned an error",
        "RUN, both CPU plugins",
    ),
    (
        "emulator-api",
        "emulator",
        "message",
        (
            "getoutputmemorykinds",
            "unrecognized tpu",
            "xla_cpu_pjrt",
            "pjrt_c_api_cpu",
            "for this client",
            "host allocator",
        ),
        r"GetOutputMemoryKinds is not supported|unrecognized TPU '[^']*'; cannot determine"
        r"|(?:memory allocator|layouts?) (?:is|are) not implemented for this client|failed to get PJRT host allocator"
        r"|(?:PJRT_\w+|\w+) (?:is )?not (?:supported|implemented).*(?:xla_cpu_pjrt|pjrt_c_api_cpu)",
        "the emulator's plugin does not answer a call that a TPU answers",
        "RuntimeError: unrecognized TPU 'TPU'; cannot determine device memory",
        "RuntimeError: unrecognized argument 'TPU'",
        "RUN, both CPU plugins",
    ),
)

_DEVICE: tuple[Row, ...] = (
    (
        "secondary",
        "secondary",
        "family",
        ("in a failed state", "error state"),
        r"a required argument is in a failed state|(?:tensor|buffer|node) is in (?:a failed|an error) state",
        "a result is read whose operator failed earlier; names no cause",
        "RuntimeError: a required argument is in a failed state",
        "RuntimeError: a required argument is missing",
        "RUN, torch_tpu 0.2.0",
    ),
    (
        "missing-op",
        "missing-op",
        "operator",
        ("is not implemented for tpu", "could not run 'aten", "could not run '"),
        r"operator '[\w:.]+' is not implemented for TPU"
        r"|could not run '[\w:.]+' (?:with arguments )?from the '\w*(?:TPU|PrivateUse1)\w*' backend"
        r"|the operator '[\w:.]+' is not currently (?:implemented|supported) (?:for|on) the (?:TPU|PrivateUse1)",
        "{operator} is not implemented for TPU",
        "RuntimeError: operator 'aten::mish.out' is not implemented for TPU. Please file a feature request",
        "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'",
        "TT tpu_aten_kernels.cc TpuMissingOpFallback; c10 dispatcher",
    ),
    (
        "out-of-memory",
        "out-of-memory",
        "place",
        ("memory", "hbm", "resource_exhausted", "allocat", "outofmemory"),
        r"RESOURCE_EXHAUSTED|ran out of memory in memory space|Error allocating device buffer"
        r"|exceed(?:s|ed|ing)? (?:hbm capacity|available bytes|memory \(size=)|allocation_size|OutOfMemoryError"
        r"|\bHbm usage: |\b(?:TPU|device|HBM) (?:is )?out of memory",
        "the device ran out of memory",
        "RuntimeError: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 49.34G of 32.00G",
        "RuntimeError: the memory format channels_last needs rank 4",
        "XLA E0100, E1000, E1001; TT IsXlaOomError",
    ),
    (
        "timeout",
        "timeout",
        "test",
        ("timeout", "deadline_exceeded", "timed out"),
        r"\bTimeout \(?>|DEADLINE_EXCEEDED|\bthe (?:test|run) took longer than",
        "the test did not end in time",
        "Failed: Timeout (>2.0s) from pytest-timeout.",
        "ValueError: timeout must be positive",
        "RUN, pytest-timeout 2.4",
    ),
    (
        "crash-check",
        "crash",
        "message",
        ("check failed:", ".cc:n]", ".cpp:n]", ".h:n]", ".cu:n]"),
        r"(?P<fatal>^F[\dN]{1,8} [\d:.N]+ +[\dN]+ )?(?P<file>[\w./+-]+\.(?:cc|cpp|h|cu)):[\dN]+\] "
        r"(?P<check>(?(fatal)|Check failed: )[^\n]{1,300})",
        "the process aborted on a failed CHECK",
        "F1130 05:32:01.123456 4711 inversion.cc:112] Check failed: a.rank() == b.rank() (3 vs. 4)",
        "RuntimeError: check failed for value 3",
        "absl logging; RUN",
    ),
    (
        "crash",
        "crash",
        "test",
        ("crashed while running", "fatal python error", "segmentation fault", "process died", "*** sig"),
        r"worker '[^']*' crashed while running|fatal python error|^\*\*\* SIG[A-Z]+|segmentation fault"
        r"|the process died (?:while|under)",
        "the process died",
        "worker 'gw0' crashed while running 'tests/test_a.py::test_b'",
        "RuntimeError: the car crashed",
        "RUN, xdist 3.8",
    ),
    (
        "compile",
        "compile",
        "place",
        ("failed to compile", "compile permanent error", "xla compiler", "mosaic failed"),
        r"failed to compile|compile permanent error|the XLA compiler failed|Mosaic failed to compile",
        "the compiler failed",
        "RuntimeError: failed to compile MLIR module -- the XLA compiler failed with: INTERNAL: bad layout",
        "RuntimeError: could not compile the regular expression",
        "TT compilation.cc, kXlaCompilerFailedWith",
    ),
)

_SUITE: tuple[Row, ...] = (
    (
        "suite-device-check",
        "suite",
        "names",
        ("cuda", "gpu", "xpu", "accelerator", "nvidia", "tpu", "bitsandbytes", "triton"),
        r"requires? (?:a |an |the |at least one )*(?:`?accelerator|CUDA|NVIDIA|GPU|XPU|Intel XPU)\b"
        r"|\b(?:CUDA|GPU|XPU|accelerator)s? (?:device )?(?:is|are) (?:required|needed)"
        r"|\bno (?:CUDA )?GPUs? (?:found|detected)"
        r"|torch not compiled with CUDA|found no NVIDIA driver|no CUDA GPUs are available"
        r"|(?:CUDA|GPU|XPU|accelerator) (?:is |are |was |device )?(?:not (?:available|found|enabled)|unavailable)"
        r"|(?:only|currently only) (?:be )?(?:supported|available|implemented|works?|runs?|supports) "
        r"(?:on |for |with |in )?(?:an? )?(?:CUDA|GPU|XPU|NVIDIA|cuda)"
        r"|(?:unsupported|unknown|invalid|unrecognized|unexpected) (?:device|accelerator|backend)(?: type)?\b.*\btpu\b"
        r"|\btpu'? (?:device |backend )?is not (?:a )?(?:supported|valid|recognized) "
        r"(?:by this|device|backend|accelerator)"
        r"|expected (?:one of )?(?:cuda|cpu, cuda)[^\n]*(?:got|but found) .*\btpu"
        r"|\AKeyError: (?:'tpu(?::N)?'|device\(type='tpu')"
        r"|\bshould be (?:on )?(?:a )?(?:cuda|CUDA) (?:tensor|device)",
        "the suite's own check knows other devices only",
        "ValueError: Using streams for data transfer requires a CUDA device, or an Intel XPU device.",
        "RuntimeError: linear(): expected the input on tpu:0, got cpu",
        "RUN; diffusers, accelerate, torch.cuda",
    ),
)

ROWS = (*_INFRA, *_EMULATOR, *_DEVICE, *_SUITE, *SAYS_LITTLE)
