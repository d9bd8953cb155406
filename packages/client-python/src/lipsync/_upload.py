from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timezone

from ._contract import Asset, MediaType, Upload, UploadRequest
from ._errors import LipSyncError, UnexpectedResponse, is_transient
from ._media import Readable, Source
from ._retry import RetryPolicy, repeatedly
from ._transport import CHUNK_BYTES, Transport, connected, web_address, where_to

Progress = Callable[[int, int], None]

# Seconds without a byte moving, or without an answer after the last, that count as a broken connection.
STALL = 60.0


def upload(
    source: Source, media_type: MediaType, on_progress: Progress | None, transport: Transport
) -> Asset:
    """Uploads media in the three steps of the contract; returns the asset, whose checks continue in the background.
    Bytes that can be read again are sent again after a broken connection, to a new URL if the first has expired. An
    upload that was given up expires."""
    request: UploadRequest = {
        "media_type": media_type,
        "content_type": source.content_type,
        "size_bytes": source.size,
    }

    def begin() -> Upload:
        return transport.post(Upload, "/v1/uploads", request).body

    current = begin()
    refused_addresses = 0

    def attempt(_left: float, _progressed: object) -> None:
        nonlocal current, refused_addresses
        if current.expires_at <= datetime.now(timezone.utc) or refused_addresses > 0:
            current = begin()
        status, detail = _put(source, current, on_progress, transport)
        if 200 <= status < 300:
            return
        if status == 403:
            # Expired by the store's clock, if not by this one.
            refused_addresses += 1
        raise UnexpectedResponse("upload", status, detail)

    def may_repeat(error: BaseException) -> bool:
        is_first_refusal = refused_addresses == 1 and isinstance(error, UnexpectedResponse)
        return source.is_repeatable and (is_transient(error) or _is_slowness(error) or is_first_refusal)

    repeatedly(
        RetryPolicy(max_retries=transport.policy.max_retries, timeout=float("inf")), attempt, may_repeat
    )
    return transport.post(Asset, f"/v1/uploads/{current.id}/complete").body


def _put(
    source: Source, current: Upload, on_progress: Progress | None, transport: Transport
) -> tuple[int, str]:
    """The status of the store's answer, and the reason that it gives."""
    url = web_address(current.upload_url)
    with source.open() as stream:
        body = _counted(stream, source.size, on_progress)
        try:
            with (
                connected("upload"),
                transport.open(
                    "PUT", url, headers=current.required_headers, body=body, timeout=STALL
                ) as response,
            ):
                code = re.search(rb"<Code>(\w+)<", response.read(CHUNK_BYTES))
                return response.status, where_to(response) or (code[1].decode() if code else "")
        except _OwnError as error:
            raise (error.__cause__ or error) from None


class _OwnError(Exception):
    """Carries an OSError of the caller's file or callback past urllib, which would take it for the network's."""


def _counted(stream: Readable, size: int, on_progress: Progress | None) -> Iterator[bytes]:
    sent = 0
    while True:
        try:
            if on_progress is not None:
                on_progress(sent, size)
            chunk = stream.read(min(CHUNK_BYTES, size - sent)) if sent < size else b""
        except OSError as error:
            raise _OwnError from error
        if sent == size:
            return
        if not chunk:
            raise LipSyncError(f"The source ended after {sent} of {size} bytes")
        yield chunk
        # A request for the next chunk means that this one was sent.
        sent += len(chunk)


def _is_slowness(error: BaseException) -> bool:
    """S3 says with 400 that bytes came too slowly."""
    return isinstance(error, UnexpectedResponse) and error.detail == "RequestTimeout"
