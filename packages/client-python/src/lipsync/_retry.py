from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TypeVar

from ._errors import is_transient

T = TypeVar("T")

FIRST_BACKOFF = 0.5
LONGEST_BACKOFF = 8.0
# A service may ask for any pause, and a system sleeps only so long at once.
LONGEST_PAUSE = 24 * 3600.0


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    max_retries: float
    """How often a failed attempt is repeated without progress in between."""
    timeout: float
    """Seconds after which no further attempt begins; what the last one failed with is raised."""


def repeatedly(
    policy: RetryPolicy,
    attempt: Callable[[float, Callable[[], None]], T],
    may_repeat: Callable[[BaseException], bool] = is_transient,
) -> T:
    """Repeats an attempt while its failures are transient: after the time that the service names, else with
    exponential backoff. Full jitter keeps callers that failed together from returning together (AWS Architecture Blog,
    "Exponential Backoff And Jitter"). The attempt gets the seconds that are left, and says when it got further."""
    started_at = time.monotonic()
    retries = 0

    def progressed() -> None:
        nonlocal retries
        retries = 0

    while True:
        try:
            return attempt(policy.timeout - (time.monotonic() - started_at), progressed)
        except Exception as error:
            if retries >= policy.max_retries or not may_repeat(error):
                raise
            # Chance spreads callers here, and protects nothing.
            backoff = random.random() * min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** min(retries, 10))  # noqa: S311
            wait = (getattr(error, "retry_after", None) or 0) + backoff
            if time.monotonic() - started_at + wait > policy.timeout:
                raise
        retries += 1
        pause(wait)


def pause(seconds: float) -> None:
    time.sleep(min(max(seconds, 0), LONGEST_PAUSE))


def retry_after(value: str | None) -> float | None:
    """The seconds of a Retry-After header, which holds a number of them or a date (RFC 9110, 10.2.3)."""
    if value is None:
        return None
    if re.fullmatch(r"[0-9]+", value):
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return None
