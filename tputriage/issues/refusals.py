"""What GitHub's refusals mean: how long to wait for a limit, and what to tell the user of everything else. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

SECONDARY_WAIT_S = 60.0  # what GitHub asks for where a secondary limit names no time

_ADVICE = {
    401: "GitHub refused the token: it is wrong, expired or revoked; set GITHUB_TOKEN anew",
    404: "GitHub knows no such repository or issue, or the token may not see it",
    410: "issues are switched off in that repository, or this one was deleted",
}


def limit_wait_s(status: int, headers: Mapping[str, Any], message: str, now_s: float) -> float | None:
    """Seconds until the limit allows the next try; None where the refusal is not about limits.

    https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: 403 or 429, with Retry-After, or with
    x-ratelimit-remaining at 0 and the time of its reset, or with neither for a secondary limit.
    """
    if status not in (403, 429):
        return None
    told = _number(headers.get("retry-after"))
    if told is not None:
        return max(told, 0.0)
    reset = _number(headers.get("x-ratelimit-reset"))
    if _number(headers.get("x-ratelimit-remaining")) == 0 and reset is not None:
        return max(reset - now_s, 0.0) + 1.0
    limited = status == 429 or re.search(r"rate limit|secondary|abuse|too quickly", message, re.IGNORECASE)
    return SECONDARY_WAIT_S if limited else None


def refusal(status: int, headers: Mapping[str, Any], message: str) -> str:
    """One sentence with advice; a missing scope or permission is named."""
    return "; ".join(
        part for part in (_ADVICE.get(status, f"GitHub refused ({status}): {message}"), _lack(headers)) if part
    )


def _lack(headers: Mapping[str, Any]) -> str:
    """Classic tokens have scopes, fine-grained ones permissions; GitHub says in headers what would have done."""
    permissions = str(headers.get("x-accepted-github-permissions") or "")
    if permissions:
        return f"the token needs the permission {permissions}"
    wanted = _names(headers.get("x-accepted-oauth-scopes"))
    has = _names(headers.get("x-oauth-scopes"))
    if "x-oauth-scopes" not in headers or not wanted or wanted & has:
        return ""
    return f"the token needs the scope {' or '.join(sorted(wanted))}, and has {', '.join(sorted(has)) or 'none'}"


def _names(text: object) -> set[str]:
    return {name for part in str(text or "").split(",") if (name := part.strip())}


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None
