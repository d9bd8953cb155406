from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from http.client import HTTPResponse
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from ._contract import Engine, EngineResult, Output, RenderRecord
from ._errors import ConnectionError, LipSyncError, UnexpectedResponse, is_transient
from ._retry import RetryPolicy, repeatedly, retry_after
from ._transport import CHUNK_BYTES, Transport, connected, web_address, where_to
from ._upload import STALL, Progress

# A URL that expires within this time is replaced before it is used.
MARGIN = timedelta(seconds=10)


class Writable(Protocol):
    """A binary file that is open for writing."""

    def write(self, data: bytes, /) -> object: ...


class Download:
    """Writes an output to a sink. A broken connection is resumed where it broke, as long as the bytes are the same by
    their entity tag (RFC 9110, 13.1.5 and 14.2), at a fresh URL if the first has expired; and the length is
    checked."""

    def __init__(
        self, render: str | RenderRecord, engine: Engine, transport: Transport, on_progress: Progress | None
    ) -> None:
        self._render_id = render if isinstance(render, str) else render.id
        # A record may be older than its outputs, and that of an event has none: what it lacks is looked up.
        result = None if isinstance(render, str) else _result_of(render, engine)
        self._output = None if result is None else result.output
        self._engine = engine
        self._transport = transport
        self._on_progress = on_progress
        self._received = 0
        self._total: int | None = None
        self._entity_tag: str | None = None
        self._refused_addresses = 0

    def write_to(self, sink: Writable) -> None:
        repeatedly(
            RetryPolicy(max_retries=self._transport.policy.max_retries, timeout=float("inf")),
            lambda _, progressed: self._transfer(sink, progressed),
            lambda error: (
                is_transient(error)
                or (self._refused_addresses == 1 and isinstance(error, UnexpectedResponse))
            ),
        )

    def _transfer(self, sink: Writable, progressed: Callable[[], None]) -> None:
        headers = {}
        if self._received > 0 and self._entity_tag is not None:
            headers = {"Range": f"bytes={self._received}-", "If-Range": self._entity_tag}
        url = web_address(self._current_output().url)
        with connected("download"):
            response = self._transport.open("GET", url, headers=headers, timeout=STALL)
        with response:
            surplus = self._begin(response)
            while chunk := _next_chunk(response):
                kept = chunk[surplus:]
                surplus = max(0, surplus - len(chunk))
                if not kept:
                    continue
                sink.write(kept)
                self._received += len(kept)
                self._refused_addresses = 0
                progressed()
                if self._on_progress is not None:
                    self._on_progress(self._received, self._total or self._received)
        if self._total is not None and self._received != self._total:
            message = f"The download ended after {self._received} of {self._total} bytes"
            raise ConnectionError(message, "download")

    def _current_output(self) -> Output:
        output = self._output
        if output is None or _expires_soon(output) or self._refused_addresses > 0:
            render = self._transport.get(RenderRecord, render_path(self._render_id)).body
            output = self._output = _output_of(render, self._engine)
        return output

    def _begin(self, response: HTTPResponse) -> int:
        """How many of the bytes that follow are here already: asked for the rest, the store may send everything."""
        if response.status == 403:
            self._refused_addresses += 1
        if response.status not in (200, 206):
            raise UnexpectedResponse(
                "download",
                response.status,
                where_to(response),
                retry_after(response.headers.get("retry-after")),
            )
        entity_tag = response.headers.get("etag")
        if self._entity_tag is not None and entity_tag is not None and entity_tag != self._entity_tag:
            raise LipSyncError("The output changed while it was downloaded")
        self._entity_tag = self._entity_tag or entity_tag
        before = self._received if response.status == 206 else 0
        length = response.headers.get("content-length", "")
        if self._total is None and length.isdecimal():
            self._total = before + int(length)
        return self._received - before


def _next_chunk(response: HTTPResponse) -> bytes:
    with connected("download"):
        return response.read1(CHUNK_BYTES)


def render_path(render_id: str) -> str:
    return f"/v1/renders/{quote(render_id, safe='')}"


def _expires_soon(output: Output) -> bool:
    return output.expires_at - datetime.now(timezone.utc) < MARGIN


def _result_of(render: RenderRecord, engine: Engine) -> EngineResult | None:
    return next((each for each in render.engines if each.engine == engine), None)


def _output_of(render: RenderRecord, engine: Engine) -> Output:
    """Raises LipSyncError if the engine was not asked for, has not completed, or failed."""
    result = _result_of(render, engine)
    if result is None:
        reason = "it was not asked for"
    elif result.output is not None:
        return result.output
    else:
        why = "" if result.error is None else f": {result.error.message} ({result.error.code})"
        reason = f"{engine} is {result.status}{why}"
    raise LipSyncError(f"Render {render.id} has no output of {engine}: {reason}")


@contextmanager
def complete_file(path: str | os.PathLike[str]) -> Iterator[Writable]:
    """A file that appears under its name when it is complete."""
    target = Path(path)
    part = target.with_name(f"{target.name}.{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            yield file
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
