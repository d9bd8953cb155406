from __future__ import annotations

import builtins
import json
import os
import re
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException, HTTPResponse
from typing import Any, Generic, Literal, TypeVar
from urllib.error import URLError
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from ._contract import ErrorBody
from ._errors import (
    ApiError,
    ConnectionError,
    LipSyncError,
    TimeoutError,
    UnexpectedResponse,
    is_transient,
    subject_of,
)
from ._parse import parse
from ._retry import RetryPolicy, repeatedly, retry_after

T = TypeVar("T")

API_KEY = re.compile(r"svc_[0-9a-fA-F]{64}")
# A host, perhaps a port and a path; no user, whose password would be in every repr.
BASE_URL = re.compile(r"https?://(\[[0-9a-f:.]+\]|[^\s/@?#:\[\]]+)(:[0-9]+)?(/[^\s?#]*)?", re.IGNORECASE)
# Seconds in which one attempt must be answered. The service limits its own work to less.
ATTEMPT = 30.0
CHUNK_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[T]):
    body: T
    json: dict[str, Any]
    """The body as it came."""
    retry_after: float | None
    """Seconds after which to look again at an unfinished resource."""


class Transport:
    """Sends requests of the API: authenticated, in time, repeated where that is safe, with typed errors. Nothing in it
    changes, so that threads can share it."""

    def __init__(
        self,
        api_key: str | None,
        base_url: str | None,
        *,
        timeout: float,
        max_retries: int,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        key = os.environ.get("LIPSYNC_API_KEY") if api_key is None else api_key
        url = os.environ.get("LIPSYNC_BASE_URL") if base_url is None else base_url
        if not key:
            raise ValueError("The API key is missing: pass api_key, or set LIPSYNC_API_KEY")
        if not API_KEY.fullmatch(key):
            raise ValueError("The API key is malformed: keys are svc_ and 64 hexadecimal digits")
        if not url:
            raise ValueError("The URL of the service is missing: pass base_url, or set LIPSYNC_BASE_URL")
        if not BASE_URL.fullmatch(url):
            raise ValueError("base_url is not the URL of a service: it looks like https://lipsync.example.com")
        self._api_key = key
        self.base_url = url.rstrip("/")
        self.policy = RetryPolicy(max_retries=max_retries, timeout=timeout)
        self._opener = OpenerDirector()
        self._opener.addheaders = [("User-Agent", "lipsync-client-python")]
        # Without the handlers of redirects: a key belongs to one service, and a signed URL is good for its host
        # alone. Without those of files and FTP as well.
        for handler in (
            ProxyHandler(),
            HTTPHandler(),
            HTTPSHandler(context=ssl_context or _default_context()),
        ):
            self._opener.add_handler(handler)

    def get(self, kind: type[T], path: str, *, policy: RetryPolicy | None = None) -> Answer[T]:
        return self._call(kind, "GET", path, policy=policy)

    def post(
        self,
        kind: type[T],
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        repeat: Literal["any", "refused"] = "any",
    ) -> Answer[T]:
        """`any` repeats every transient failure; `refused` only when the service answered that it did not do it,
        because doing it twice leaves something behind."""
        return self._call(kind, "POST", path, body, repeat=repeat)

    def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | Iterable[bytes] | None = None,
        timeout: float,
    ) -> HTTPResponse:
        """Any answer to one request. `timeout` are the seconds without a byte after which it counts as broken."""
        request = Request(url, data=body, headers=dict(headers), method=method)  # noqa: S310
        response: HTTPResponse = self._opener.open(request, timeout=timeout)
        return response

    def _call(
        self,
        kind: type[T],
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        repeat: str = "any",
        policy: RetryPolicy | None = None,
    ) -> Answer[T]:
        chosen = policy or self.policy

        def may_repeat(error: BaseException) -> bool:
            return is_transient(error) and (
                repeat == "any" or (isinstance(error, ApiError) and error.retryable)
            )

        def attempt(left: float, _: object) -> Answer[T]:
            try:
                return self._attempt(kind, method, path, body, min(left, ATTEMPT))
            except ConnectionError as error:
                if left < ATTEMPT and isinstance(error.__cause__, builtins.TimeoutError):
                    message = f"{method} {path} took longer than {chosen.timeout:g} s"
                    raise TimeoutError(message) from error.__cause__
                raise

        return repeatedly(chosen, attempt, may_repeat)

    def _attempt(
        self, kind: type[T], method: str, path: str, body: Mapping[str, object] | None, seconds: float
    ) -> Answer[T]:
        exchange = f"{method} {path}"
        deadline = time.monotonic() + seconds
        headers = {"Authorization": f"Bearer {self._api_key}"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        with (
            connected(exchange),
            self.open(
                method, self.base_url + path, headers=headers, body=data, timeout=max(seconds, 0.001)
            ) as response,
        ):
            text = b""
            while chunk := response.read1(CHUNK_BYTES):
                text += chunk
                if time.monotonic() > deadline:
                    raise builtins.TimeoutError("the answer did not end in time")
        wait = retry_after(response.headers.get("retry-after"))
        try:
            answer = json.loads(text)
            if 200 <= response.status < 300:
                return Answer(body=parse(kind, answer), json=answer, retry_after=wait)
            error = parse(ErrorBody, answer["error"])
        except (ValueError, KeyError, TypeError):
            detail = where_to(response) or "not in the contract"
            raise UnexpectedResponse(exchange, response.status, detail, wait) from None
        raise ApiError(response.status, error, response.headers.get("x-request-id"), wait)


@cache
def _default_context() -> ssl.SSLContext:
    """Reading the system's authorities takes a tenth of a second, so all clients share them."""
    return ssl.create_default_context()


def web_address(url: str) -> str:
    """The URL of a transfer, as the service named it. Raises LipSyncError if it leads anywhere but to the web."""
    if re.match(r"https?://", url, re.IGNORECASE):
        return url
    raise LipSyncError("The service named a URL that is neither http nor https")


@contextmanager
def connected(exchange: str) -> Iterator[None]:
    """For what uses the network: its failures, other than this client's own, mean that no answer came."""
    try:
        yield
    except LipSyncError:
        raise
    except (OSError, HTTPException) as error:
        # urllib's own says only that it failed; its reason says that nothing listens or that the name is unknown.
        reason = error.reason if isinstance(error, URLError) else error
        cause = reason if isinstance(reason, Exception) else error
        message = f"{subject_of(exchange)} was not answered: {str(reason) or type(reason).__name__}"
        raise ConnectionError(message, exchange) from cause


def where_to(response: HTTPResponse) -> str:
    """Where a redirect leads, without the query, which may hold a signature."""
    location = response.headers.get("location", "").partition("?")[0]
    return location and f"it moved to {location[:200]}"
