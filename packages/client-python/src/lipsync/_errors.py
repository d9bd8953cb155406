from __future__ import annotations

import builtins
import ssl
from typing import Generic, Literal, TypeVar, cast

from ._contract import (
    ApiErrorCode,
    Asset,
    AssetErrorCode,
    ErrorBody,
    PreparationRecord,
    RecordErrorCode,
    RenderRecord,
)

# Every error can be made again from its `args`, so that it can be pickled: errors of a worker process have to reach its
# parent.

Code = TypeVar("Code", bound=str)


class LipSyncError(Exception):
    """All errors of this client, other than wrong arguments and what your files and callbacks raise."""


class ConnectionError(LipSyncError, builtins.ConnectionError):
    """No answer came: no connection, a broken one, or silence. Repeated as far as `max_retries` and deadlines allow."""

    def __init__(self, message: str, exchange: str = "") -> None:
        # A second argument would be the `strerror` of Python's own.
        super().__init__(message)
        self.exchange = exchange
        """What was under way: "upload", "download", or a request to the service, as "GET /v1/renders/ren_…"."""


class TimeoutError(LipSyncError, builtins.TimeoutError):
    """The time of a call, yours or the default, is over."""


class UnexpectedResponse(LipSyncError):
    """An answer that is not in the contract, such as a load balancer's or the object store's."""

    def __init__(
        self, exchange: str, status: int, detail: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(exchange, status, detail, retry_after)
        self.exchange = exchange
        """What was under way: "upload", "download", or a request to the service, as "GET /v1/renders/ren_…"."""
        self.status = status
        self.detail = detail
        """The reason that the answer gives, such as the store's code of an error."""
        self.retry_after = retry_after
        """Seconds."""

    def __str__(self) -> str:
        detail = self.detail and f" ({self.detail})"
        return f"{subject_of(self.exchange)} was answered with {self.status}{detail}"


def subject_of(exchange: str) -> str:
    return f"The {exchange}" if exchange in ("upload", "download") else exchange


class ApiError(LipSyncError):
    """The service refused a request. `code` tells the reasons apart."""

    def __init__(
        self, status: int, error: ErrorBody, request_id: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(status, error, request_id, retry_after)
        self.status = status
        self.code = cast(ApiErrorCode, error.code)
        self.message = error.message
        self.retryable = error.retryable
        """The same request sent again later can succeed unchanged."""
        self.request_id = request_id
        """Names the request in the logs of the service."""
        self.retry_after = retry_after
        """Seconds."""

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class _Failed(LipSyncError, Generic[Code]):
    """By contract whatever failed carries its error."""

    code: Code
    message: str
    retryable: bool

    def _explain(self, error: ErrorBody | None) -> None:
        reason = error or ErrorBody(
            code="internal_error", message="the service gave no reason", retryable=False
        )
        self.code = cast(Code, reason.code)
        self.message = reason.message
        self.retryable = reason.retryable


class RenderFailed(_Failed[RecordErrorCode]):
    """`wait` was called for a render that failed. If it is `retryable`, a new one of the same inputs, with a new
    idempotency key, can succeed."""

    def __init__(self, record: RenderRecord) -> None:
        super().__init__(record)
        self.record = record
        self._explain(record.error)

    def __str__(self) -> str:
        return f"Render {self.record.id} failed: {self.message} ({self.code})"


class RenderCancelled(LipSyncError):
    """`wait` was called for a render that somebody cancelled."""

    def __init__(self, record: RenderRecord) -> None:
        super().__init__(record)
        self.record = record

    def __str__(self) -> str:
        return f"Render {self.record.id} was cancelled"


class PreparationFailed(_Failed[RecordErrorCode]):
    """`wait` was called for a preparation that failed. If it is `retryable`, a new one of the same video, with a new
    idempotency key, can succeed."""

    def __init__(self, record: PreparationRecord) -> None:
        super().__init__(record)
        self.record = record
        self._explain(record.error)

    def __str__(self) -> str:
        return f"Preparation {self.record.id} failed: {self.message} ({self.code})"


class AssetFailed(_Failed[AssetErrorCode]):
    """`wait` was called for an asset whose media could not be used. If it is `retryable`, the same media, sent again,
    can become ready."""

    def __init__(self, asset: Asset) -> None:
        super().__init__(asset)
        self.asset = asset
        self._explain(asset.error)

    def __str__(self) -> str:
        return f"Asset {self.asset.id} failed: {self.message} ({self.code})"


WebhookVerificationReason = Literal[
    "missing_header",
    "malformed_signature",
    "wrong_signature",
    "timestamp_out_of_tolerance",
    "body_too_large",
    "malformed_event",
]


class WebhookVerificationError(LipSyncError):
    """A delivery that is not to be trusted. Answer it with 400."""

    def __init__(self, reason: WebhookVerificationReason, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message

    def __str__(self) -> str:
        return self.message


def is_transient(error: BaseException) -> bool:
    """Whether sending the same thing again may succeed."""
    if isinstance(error, ConnectionError):
        # The certificate will be the same.
        return not isinstance(error.__cause__, ssl.SSLCertVerificationError)
    if isinstance(error, UnexpectedResponse):
        return _is_transient_status(error.status)
    # Other conflicts are called retryable too, but wait for something that the caller does, such as sending the bytes.
    return isinstance(error, ApiError) and (
        _is_transient_status(error.status) or error.code == "idempotency_in_progress"
    )


def _is_transient_status(status: int) -> bool:
    return status in (408, 429) or status >= 500
