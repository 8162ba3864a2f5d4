"""The shapes of secrets and of what names a person or a machine: data only; one row to add a kind."""

from __future__ import annotations

import re

_PEM = r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
_QUERY = (
    r"x-(?:amz|goog)-(?:signature|credential|security-token)|sig|signature|token|access_token|api_?key|key|password"
)
# The words that make the value beside them a secret, in any case, alone or as the end of a longer name.
_WORDS = r"(?:secret|passwd|password|passphrase|credentials?)"
# These also name what is none (`pad_token="<pad>"`), so there the value must look random.
_KEYS = r"(?:token|(?:api|access|private|secret|auth|account)_?key(?:_id)?|(?<![a-z])pat)"
_IS = r"[\"']?\s*(?:=(?!=)|:(?!:)|=>)\s*"
_RANDOM = r"(?=[^\s\"']*\d|[^\s\"']{20})"

# What stands in its place, the shape, and its signs: each match holds one of them, in any case, so that a text
# without them need not be searched. A group named `keep` stays as it is.
_EXACT = (
    ("private key", _PEM, ("private key",)),
    (
        "GitHub token",
        r"\b(?:gh[pousr]_[A-Za-z0-9_]{16,}|github_pat_\w{20,})",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    ("Hugging Face token", r"\b(?:hf|api_org)_[A-Za-z0-9]{16,}", ("hf_", "api_org_")),
    ("AWS key", r"\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}\b", ("akia", "asia", "aroa", "aida")),
    (
        "Google key",
        r"\b(?:AIza[\w-]{30,}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{10,}|1//0[\w-]{20,})",
        ("aiza", "gocspx-", "ya29.", "1//0"),
    ),
    (
        "Slack token",
        r"\bxox[abeoprs]-[\w-]{10,}|https://hooks\.slack\.com/services/[\w/]+",
        ("xox", "hooks.slack.com"),
    ),
    (
        "API key",
        r"\bsk-[\w-]{20,}|\b[rs]k_(?:live|test)_\w{10,}|\bSG\.[\w-]{16,}\.[\w-]{16,}",
        ("sk-", "k_live_", "k_test_", "sg."),
    ),
    ("GitLab token", r"\bgl(?:pat|ptt|dt|rt|cbt)-[\w-]{16,}", ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-")),
    (
        "package token",
        r"\b(?:pypi-[\w-]{30,}|npm_[A-Za-z0-9]{30,}|dckr_pat_[\w-]{16,}|dop_v1_[0-9a-f]{40,})",
        ("pypi-", "npm_", "dckr_pat_", "dop_v1_"),
    ),
    ("web token", r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*", ("eyj",)),
    ("bot token", r"\b\d{8,10}:AA[\w-]{30,}", (":aa",)),
)
_WORD_SIGNS = ("secret", "passwd", "password", "passphrase", "credential")
_KEY_SIGNS = ("token", "key", "pat")
_BESIDE = (
    (
        "credentials",
        r"(?P<keep>\bauthorization[\"']?\s*[:=]\s*[\"']?\s*)(?:[a-z]+\s+)?[^\s\"',;}]{6,}",
        ("authorization",),
    ),
    ("token", r"(?P<keep>\bbearer\s+)[\w.~+/=-]{8,}", ("bearer",)),
    ("credentials", r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://)[^\s/@:'\"]*:[^\s/@'\"]+(?=@)", ("://",)),
    ("credentials", r"(?P<keep>\b(?:https?|git|ssh)://)[^\s/@:'\"]{8,}(?=@)", ("://",)),
    (
        "secret",
        rf"(?P<keep>[?&](?:{_QUERY})=)[^\s&\"'<>]+",
        ("signature", "credential", "token", "sig=", "key=", "password"),
    ),
    ("cookie", r"(?P<keep>\b(?:set-)?cookie[\"']?\s*:\s*[\"']?)[^\r\n\"']{6,}", ("cookie",)),
    ("secret", rf"(?P<keep>{_WORDS}{_IS}[bru]?[\"'])[^\"'\r\n]{{6,}}(?=[\"'])", _WORD_SIGNS),
    ("secret", rf"(?P<keep>{_KEYS}{_IS}[bru]?[\"']){_RANDOM}[^\"'\r\n]{{8,}}(?=[\"'])", _KEY_SIGNS),
    (
        "secret",
        rf"(?P<keep>(?:{_WORDS}|{_KEYS}){_IS}){_RANDOM}(?![a-z_.]+\()[\w+/.=~!@#$%^&*-]{{8,}}",
        (*_WORD_SIGNS, *_KEY_SIGNS),
    ),
    ("secret", rf"(?P<keep>--?(?:{_WORDS}|{_KEYS})[= ])[^\s\"']{{6,}}", (*_WORD_SIGNS, *_KEY_SIGNS)),
)  # fmt: skip
SECRETS = tuple((name, re.compile(shape), signs) for name, shape, signs in _EXACT) + tuple(
    (name, re.compile(shape, re.IGNORECASE), signs) for name, shape, signs in _BESIDE
)

# A matrix product (`q@k.mT`, `x@w.t()`) must not read as an address, so only known endings count.
_DOMAINS = "com|org|net|edu|gov|mil|int|info|biz|dev|app|io|ai|cloud|tech|email|corp|internal|example|test|invalid"
MAIL = re.compile(rf"(?<![\w.+-])[\w.+-]{{1,64}}@(?:[A-Za-z0-9-]{{1,63}}\.)+(?:{_DOMAINS}|[a-z]{{2}})\b(?![\w(.])")
PROMPT = re.compile(r"(?<![\w.-])[a-z_][\w.-]{0,40}@[A-Za-z0-9][\w.-]{0,80}(?=:[~/])")
HOME = re.compile(
    r"(?:(?:/usr/local/google|/export|/data)?/(?:home|Users)/|\b[A-Za-z]:[\\/]{1,2}Users[\\/]{1,2})"
    r"(?P<user>[^\s/\\:\"'<>|]+)|(?<![\w.~-])/root(?![\w.-])"
)
HOST = re.compile(
    r"(?<![\w.-])(?:t1v-n-[0-9a-f]+-w-\d+|gke-[a-z0-9-]{6,}|ip(?:-\d{1,3}){4}"
    r"|[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.c\.[\w-]+(?:\.google\.com)?\.internal"
    r"|(?=[\w.]{0,99}[\d-])[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,4}\.(?:internal|intranet|localdomain|local|lan|corp))"
    r"(?:\.[\w-]+){0,4}\b"
)
NAME_FIELD = re.compile(
    r"(?P<keep>\b(?:host_?name|node_?name|user_?name)[\"']?\s*[:=]\s*[\"']?)[\w.-]{2,}", re.IGNORECASE
)
# What may stand before is asked after the first character: so the search goes from digit to digit.
IP4 = re.compile(r"\d(?<![\w.-]\d)\d{0,2}(?:\.\d{1,3}){3}(?![\w-]|\.\d)")
IP6 = re.compile(r"[0-9A-Fa-f:](?<![\w:.].)[0-9A-Fa-f:]{2,44}(?![\w:])")
# Names of environment variables whose values are secret whatever their shape.
SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE|AUTH(?!OR)|COOKIE", re.IGNORECASE
)
# Names that say nothing about a person or a machine.
COMMON = frozenset(
    ("root", "user", "users", "runner", "ubuntu", "github", "home", "test", "tests", "python", "shared", "torch")
)
