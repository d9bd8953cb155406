from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from ._errors import TimeoutError
from ._retry import RetryPolicy, pause
from ._transport import Transport

T = TypeVar("T")

# Seconds for which a service that cannot be reached is asked again before watching fails.
PATIENCE = 300.0
FIRST_POLL = 1.0
LONGEST_POLL = 5.0
# Every answer signs new URLs of the outputs, and updated_at also moves without a change.
VOLATILE = ("url", "expires_at", "updated_at")


def watch(
    kind: type[T],
    path: str,
    ends_with: tuple[str, ...],
    transport: Transport,
    *,
    timeout: float | None,
    poll_interval: float | None,
) -> Iterator[T]:
    """Yields the first state and every changed one, up to and including the last."""
    deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
    seen: object = None
    backoff = FIRST_POLL
    while True:
        left = deadline - time.monotonic()
        patience = RetryPolicy(max_retries=float("inf"), timeout=min(PATIENCE, left))
        answer = transport.get(kind, path, policy=patience)
        state = _visible(answer.json)
        if state != seen:
            yield answer.body
            backoff = FIRST_POLL
        if answer.json["status"] in ends_with:
            return
        seen = state
        asked = backoff if answer.retry_after is None else answer.retry_after
        backoff = min(LONGEST_POLL, backoff * 1.5)
        pause(min(asked if poll_interval is None else poll_interval, deadline - time.monotonic()))
        if time.monotonic() >= deadline:
            resource, status = answer.json["id"], answer.json["status"]
            raise TimeoutError(f"{resource} was still {status} after {timeout:g} s")


def last_of(states: Iterator[T], on_change: Callable[[T], None] | None) -> T:
    """The last state; `on_change` sees every one."""
    for state in states:
        if on_change is not None:
            on_change(state)
    return state


def _visible(value: object) -> object:
    if isinstance(value, dict):
        return {name: _visible(each) for name, each in value.items() if name not in VOLATILE}
    return [_visible(each) for each in value] if isinstance(value, list) else value
