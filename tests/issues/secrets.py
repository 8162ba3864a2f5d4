"""Two hundred secrets of twenty kinds, made up from a seed; none was ever valid."""

import base64
import json
import random
import string

LETTERS = string.ascii_letters + string.digits


def _text(random_, length, alphabet=LETTERS):
    return "".join(random_.choices(alphabet, k=length))


def _web_token(random_):
    parts = (json.dumps({"alg": "HS256", "kid": _text(random_, 8)}), json.dumps({"sub": _text(random_, 12)}))
    return ".".join(
        [*(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts), _text(random_, 43)]
    )


# kind -> how a text with one looks; {} is the secret, which is what must not be seen again
KINDS = {
    "github classic": ("token {}", lambda r: f"ghp_{_text(r, 36)}"),
    "github server": ("using {} now", lambda r: f"ghs_{_text(r, 36)}"),
    "github fine-grained": ("{}", lambda r: f"github_pat_{_text(r, 22)}_{_text(r, 59)}"),
    "hugging face": ("login with {}", lambda r: f"hf_{_text(r, 34)}"),
    "aws key id": ("key {}", lambda r: f"AKIA{_text(r, 16, string.ascii_uppercase + string.digits)}"),
    "aws secret": ("AWS_SECRET_ACCESS_KEY={}", lambda r: f"{_text(r, 39)}7"),
    "google key": ("?key={}&x=1", lambda r: f"AIza{_text(r, 35)}"),
    "slack": ("slack {}", lambda r: f"xoxb-{_text(r, 11, string.digits)}-{_text(r, 24)}"),
    "model provider": ("{} is invalid", lambda r: f"sk-proj-{_text(r, 40)}"),
    "gitlab": ("glab {}", lambda r: f"glpat-{_text(r, 20)}"),
    "pypi": ("upload {}", lambda r: f"pypi-AgEIcHlwaS5vcmc{_text(r, 60)}"),
    "web token": ("jwt {}", _web_token),
    "bearer": ("Authorization: Bearer {}", lambda r: _text(r, 40)),
    "basic": ("'authorization': 'Basic {}'", lambda r: base64.b64encode(_text(r, 24).encode()).decode()),
    "url": ("https://someone:{}@files.example.org/x", lambda r: _text(r, 16)),
    "password": ("password='{}'", lambda r: _text(r, 14)),
    "private key": (
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
        lambda r: f"{_text(r, 64)}\n{_text(r, 64)}",
    ),
    "e-mail": (
        "ask {}",
        lambda r: f"{_text(r, 8, string.ascii_lowercase)}.x@{_text(r, 6, string.ascii_lowercase)}.org",
    ),
    "address": ("from {} port 22", lambda r: f"10.{r.randint(0, 255)}.{r.randint(10, 255)}.{r.randint(10, 255)}"),
    "home": ("File /home/{}/x.py", lambda r: _text(r, 9, string.ascii_lowercase)),
    "host": ("on {} now", lambda r: f"t1v-n-{_text(r, 8, 'abcdef0123456789')}-w-0"),
    "environment": ("it says {} here", lambda r: _text(r, 18)),  # no shape at all: known from the environment
}


def planted(per_kind=10, seed=0):
    """[(kind, text with the secret in it, the secret)]."""
    random_ = random.Random(seed)
    found = []
    for kind, (text, make) in KINDS.items():
        for _ in range(per_kind):
            secret = make(random_)
            found.append((kind, text.replace("{}", secret), secret))
    return found
