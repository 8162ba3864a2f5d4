"""Normalisation: what of a message is chance, and what it becomes. One row a rule, applied in order.

Each row carries a pair that it must make equal and a pair that must stay apart after all rules; the tests
walk the table. What stays: the structure of shapes, dtypes, operator and API names, error codes.
`needles` are literals of which a message must hold one for the rule to matter: most rules cost one search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

LONGEST_INPUT = 4_000
LONGEST_TEMPLATE = 500


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """`pattern` is replaced by `into` where a text holds one of `needles`; none means anywhere."""

    name: str
    pattern: re.Pattern[str]
    into: str
    needles: tuple[str, ...]
    merges: tuple[str, str]
    keeps: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """What one rule did to one message."""

    rule: str
    before: str
    after: str


def _rule(
    name: str,
    pattern: str,
    into: str,
    needle: str | tuple[str, ...],
    merges: tuple[str, str],
    keeps: tuple[str, str],
    flags: int = 0,
) -> Rule:
    needles = needle if isinstance(needle, tuple) else (needle,) if needle else ()
    return Rule(name, re.compile(pattern, flags), into, needles, merges, keeps)


NUMBER = _rule(
    "number",
    # Not the digits of float32, aten::conv2d, E1001, %reshape.5, [Errno 28] or a server's refusal. The first
    # character stands before its look-behinds, so that the search can skip to it.
    r"0x[0-9a-fA-F]+\b|[-+.\d](?<![\w.%].)(?<!Errno .)(?<!HTTP .)(?<!HTTP Error .)(?<!status .)(?<!code .)(?<!signal .)"
    r"(?:(?<=\d)|(?<=[-+])\.?\d|(?<=\.)\d)[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?(?:x\d+)*"
    r"(?: ?%|(?:[KMGT]i?B?|ms|us|s|B)\b)?(?!\w)(?! Client Error| Server Error)",
    "N",
    "",
    ("got 4 and -8 of 49.34G, 64x64 at 1e-05 on tpu:0", "got +5 and .16 of 8.00M, 8x9 at 0x7f on tpu:3"),
    ("float32, E1001, [Errno 28]", "float32, E1001, [Errno 12]"),
)

CUTS = (
    _rule(
        "ansi",
        r"\x1b(?:\[[0-9N;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))",
        "",
        "\x1b",
        ("\x1b[31mbad value\x1b[0m", "bad value"),
        ("\x1b[31mbad value\x1b[0m", "\x1b[31mbad dtype\x1b[0m"),
    ),
    _rule(
        "cpp-trace",
        r"\s*(?:C\+\+ error trace \(starting from the origin\):|C\+\+ CapturedTraceback:"
        r"|Exception raised from \S+ at .*\(most recent call first\):).*\Z",
        "",
        "C++",
        ("boom\n\nC++ error trace (starting from the origin):\na.cc:12: F()", "boom"),
        ("boom\n\nC++ error trace (starting from the origin):\na.cc:1: F()", "bang"),
        re.S,
    ),
    _rule(
        "c10-trace",
        r"\s*Exception raised from \S+ at .*\Z",
        "",
        "Exception raised from",
        ("boom\nException raised from f at a.cpp:12 (most recent call first):\nframe #0", "boom"),
        ("boom\nException raised from f at a.cpp:12", "bang\nException raised from f at a.cpp:12"),
        re.S,
    ),
    _rule(
        "while-executing",
        r"\n\s*While executing %?\w.*\Z",
        "",
        "While executing",
        ("boom\n\nWhile executing %view : [num_users=1]", "boom\n\nWhile executing %mm : [num_users=2]"),
        ("boom\n\nWhile executing %view", "bang\n\nWhile executing %view"),
        re.S,
    ),
    _rule(
        "compile-advice",
        r"\n\s*(?:Set TORCHDYNAMO_VERBOSE=|Set TORCH_LOGS=|You can suppress this exception|from user code:"
        r"|Developer debug context:|For more details about this graph break|Found from :|Original traceback:"
        r"|The above exception was|Hint: ).*\Z",
        "",
        "\n",
        ("boom\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace", "boom"),
        ("boom\n\nfrom user code:\n  a.py", "bang\n\nfrom user code:\n  a.py"),
        re.S,
    ),
    _rule(
        "suite-advice",
        r"\n\s*(?:Caused by (?:sample|reference|error)[\w ]* at index|To execute this test, run the following).*\Z",
        "",
        ("Caused by ", "To execute this test"),
        (
            "boom\n\nCaused by sample input at index 3: SampleInput(x)",
            "boom\n\nTo execute this test, run the following",
        ),
        ("boom\n\nCaused by sample input at index 3", "bang\n\nCaused by sample input at index 3"),
        re.S,
    ),
    _rule(
        "lowering-arguments",
        r"\n\s*args\[[\dN]+\]: .*\Z",
        "",
        "args[",
        ("boom\n  target: aten.mm.default\n  args[0]: TensorBox(", "boom\n  target: aten.mm.default\n  args[0]: 3"),
        ("boom\n  target: aten.mm.default\n  args[0]: 3", "boom\n  target: aten.bmm.default\n  args[0]: 3"),
        re.S,
    ),
    _rule(
        "assertion-details",
        r"\n\s*(?:\+  ?where |\+    ? ?where |\+  and  |Use -v to get|Full diff:|\(pytest_assertion).*\Z",
        "",
        "\n",
        ("assert 1 < 0\n +  where 1 = abs(1)", "assert 2 < 0\n +  where 2 = abs((3 - 1))"),
        ("assert a\n +  where a = f()", "assert b is None\n +  where b = f()"),
        re.S,
    ),
)

MASKS = (
    _rule(
        "object-address",
        r"<([\w.]+)(?: [^<>\n]{0,200})? at (?:0x[0-9a-fA-F]+|N)>",
        r"<\1>",
        " at ",
        ("<a.B object at 0x7f12ab>", "<a.B object at 0x7f99cd>"),
        ("<a.B object at 0x7f12ab>", "<a.C object at 0x7f12ab>"),
    ),
    _rule(
        "tensor-value",
        r"\btensor\((?:[^()]|\([^()]*\))*\)",
        "<tensor>",
        "tensor(",
        ("got tensor([1., 2.], device='tpu:0')", "got tensor(3)"),
        ("got tensor([1.])", "got ndarray([1.])"),
    ),
    _rule(
        "timestamp",
        r"\b(?:\d{4}|N)-(?:\d\d|N)-(?:\d\d|N)"
        r"(?:[T ](?:\d\d|N):(?:\d\d|N)(?::(?:\d\d|N)(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
        r"|\bN:N:N\b",
        "<time>",
        ("N:", "N-"),
        ("lost at 2026-11-30 05:32:01", "lost at 2026-12-01 07:00:59"),
        ("lost at 2026-11-30 05:32:01", "lost it"),
    ),
    _rule(
        "web-address",
        r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)]+",
        "<url>",
        "://",
        ("cannot reach https://a.example/x?y=1", "cannot reach https://b.example/"),
        ("cannot reach https://a.example/x", "cannot resolve https://a.example/x"),
    ),
    _rule(
        "temporary-name",
        r"(?:/[\w.+-]+)*/(?:tmp|pytest-of-\w+)/[^\s'\":;,)\]]*|\btmp[a-z0-9_]{8}\b",
        "<tmp>",
        "tmp",
        ("cannot open /tmp/pytest-of-ci/pytest-0/x.pt", "cannot open /tmp/tmpab12cd34/y.pt"),
        ("cannot open /tmp/x", "cannot close /tmp/x"),
    ),
    _rule(
        "path",
        r"(?<![\w/])(?:[A-Za-z]:)?(?:/[\w.@+~-]+){2,}/?(?::[\dN]+)?",
        "<path>",
        "/",
        ("no such file: /home/a/x.pt", "no such file: /home/b/work/y.pt"),
        ("no such file: /home/a/x.pt", "no such device: /home/a/x.pt"),
    ),
    _rule(
        "identifier",
        r"[0-9a-f](?<!\w.)(?:[0-9a-f]{7}(?:-(?:N|[0-9a-f]{4})){3}-(?:N|[0-9a-f]{12})"
        r"|(?<=\d)(?=\d*[a-f])[0-9a-f]{11,63}|(?<=[a-f])(?=[a-f]*\d)[0-9a-f]{11,63})(?!\w)",
        "<id>",
        "",
        ("run 0f8fad5b-d9cb-469f-a165-70867728950e", "run 7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        ("feedface is a word", "deadbeef is a word"),
    ),
    _rule(
        "special-number",
        r"(?<![\w.])[-+]?(?:nan|inf)(?![\w.])",
        "N",
        ("nan", "inf"),
        ("got nan of 3", "got inf of 5"),
        ("got nan", "got none"),
    ),
    _rule(
        "long-list",
        r"\[N(?:, (?:N|\.\.\.)){8,}\]",
        "[N, …]",
        "N, N, N, N, N",
        ("sizes [1, 2, 3, 4, 5, 6, 7, 8, 9]", "sizes [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"),
        ("shape [4, 2, 1024]", "shape [4, 2]"),
    ),
    _rule("space", r"\s{2,}|[^\S ]", " ", ("  ", "\n", "\t", "\r", "\xa0"), ("a  b\n c 1", "a b c 2"), ("ab", "a b")),
)

# The number rule goes first: with it done, messages of one kind are equal, and the rest is remembered.
RULES = (NUMBER, *CUTS, *MASKS)

# What wraps another error: the wrapper's own words say nothing of the cause. Group 1 is the wrapped type.
# A literal that stands in every match comes first.
WRAPPERS = (
    ("raised:", re.compile(r"backend='[^'\n]*' raised:\s*(?:(?!LoweringException)([\w.]+): )?")),
    ("LoweringException: ", re.compile(r"LoweringException: (?:([\w.]+): )")),
    ("InternalTorchDynamoError: ", re.compile(r"\AInternalTorchDynamoError: (?:([\w.]+): )")),
    ("he original exception", re.compile(r"[Tt]he original exception(?: was)?:?\s*(?:([\w.]+): )")),
    (
        "terminated with the following error:",
        re.compile(r"-- Process \d+ terminated with the following error:\n(?s:.*)\n(?:([\w.]*(?:Error|Exception)): )"),
    ),
    (
        "Caught ",
        re.compile(
            r"\ACaught [\w.]+ in (?:replica|DataLoader worker)[^\n]*\n(?s:.*)\n(?:([\w.]*(?:Error|Exception)): )"
        ),
    ),
)


def unwrap(exception: str, message: str) -> tuple[str, str, str]:
    """(exception, message, wrapper) with what wraps taken off; wrapper is the outer type, or ""."""
    wrapper = ""
    for _ in range(4):  # a lowering error inside a backend error, and no endless nesting
        for needle, pattern in WRAPPERS:
            found = pattern.search(message[:LONGEST_INPUT]) if needle in message else None
            if found:
                wrapper = wrapper or exception or "?"
                exception, message = found[1] or exception, message[found.end() :]
                break
        else:
            break
    return exception, message, wrapper


def normalise(message: str, rules: tuple[Rule, ...] = RULES) -> str:
    """The message's template."""
    return _after_first(_applied(rules[0], message[:LONGEST_INPUT]), rules)


def masked_numbers(text: str) -> str:
    """The text with its numbers masked: what families are looked up by."""
    return NUMBER.pattern.sub(NUMBER.into, text[:LONGEST_INPUT])


@lru_cache(maxsize=20_000)
def _after_first(text: str, rules: tuple[Rule, ...]) -> str:
    for rule in rules[1:]:
        text = _applied(rule, text)
    return text.strip()[:LONGEST_TEMPLATE]


def changes(message: str, rules: tuple[Rule, ...] = RULES) -> tuple[Change, ...]:
    """The rules that changed something, in order, with the text before and after each."""
    done, text = [], message[:LONGEST_INPUT]
    for rule in rules:
        after = _applied(rule, text)
        if after != text:
            done.append(Change(rule.name, text, after))
        text = after
    return tuple(done)


def _applied(rule: Rule, text: str) -> str:
    for needle in rule.needles:  # a plain loop: this runs some twenty times a failure
        if needle in text:
            break
    else:
        if rule.needles:
            return text
    return rule.pattern.sub(rule.into, text)
