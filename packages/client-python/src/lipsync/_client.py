from __future__ import annotations

import os
import secrets
import ssl
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import overload
from urllib.parse import quote

from ._contract import (
    Asset,
    AssetRequest,
    Delivery,
    Engine,
    Input,
    MediaType,
    PreparationRecord,
    PreparationRequest,
    RenderRecord,
    RenderRequest,
    SyncMode,
    Upload,
    UploadRequest,
)
from ._download import Download, Writable, complete_file, render_path
from ._errors import AssetFailed, PreparationFailed, RenderCancelled, RenderFailed
from ._media import MediaInput, Source, UploadSource, input_or_source, open_source
from ._transport import Transport
from ._upload import Progress, upload
from ._watch import last_of, watch
from ._webhooks import verify_webhook

UploadsProgress = Callable[[MediaType, int, int], None]
"""The kind of media, the bytes that are sent, and those that there are."""

ENDED = ("completed", "failed", "cancelled")
VERIFIED = ("ready", "failed")


class LipSync:
    """The service, as one customer sees it. Threads can share one: it holds neither connections nor state."""

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 120,
        max_retries: int = 5,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`api_key` and `base_url` (for example https://lipsync.example.com) default to LIPSYNC_API_KEY and
        LIPSYNC_BASE_URL of the environment; `timeout` are the seconds that one call may take with all its repetitions,
        bytes of media not counted. Raises ValueError for a key or a URL that cannot be one."""
        transport = Transport(
            api_key, base_url, timeout=timeout, max_retries=max_retries, ssl_context=ssl_context
        )
        self._base_url = transport.base_url
        self.renders = Renders(transport)
        self.preparations = Preparations(transport)
        self.uploads = Uploads(transport)
        self.assets = Assets(transport)
        self.outputs = Outputs(transport)
        self.webhooks = Webhooks(transport)

    def __repr__(self) -> str:
        return f"LipSync(base_url={self._base_url!r})"


class Renders:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        *,
        video: MediaInput,
        audio: MediaInput,
        engines: Sequence[Engine],
        sync_mode: SyncMode,
        preparation_id: str | None = None,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
        on_upload: UploadsProgress | None = None,
    ) -> RenderRecord:
        """Uploads media that is not there yet, and creates the render. Repeated requests create one render."""
        if isinstance(engines, str):
            raise TypeError(f"engines is a list: [{engines!r}]")
        inputs = _uploaded({"video": video, "audio": audio}, on_upload, self._transport)
        request: RenderRequest = {
            "video": inputs["video"],
            "audio": inputs["audio"],
            "engines": list(engines),
            "sync_mode": sync_mode,
            "idempotency_key": idempotency_key or secrets.token_hex(16),
        }
        if preparation_id is not None:
            request["preparation_id"] = preparation_id
        if webhook_url is not None:
            request["webhook_url"] = webhook_url
        return self._transport.post(RenderRecord, "/v1/renders", request).body

    def get(self, render_id: str) -> RenderRecord:
        return self._transport.get(RenderRecord, render_path(render_id)).body

    def cancel(self, render_id: str) -> RenderRecord:
        """Cancels an unfinished render; cancelling it again changes nothing."""
        return self._transport.post(RenderRecord, f"{render_path(render_id)}/cancel").body

    def watch(
        self, render: str | RenderRecord, *, timeout: float | None = None, poll_interval: float | None = None
    ) -> Iterator[RenderRecord]:
        """The first state, every changed one, and the last. Raises TimeoutError after `timeout` seconds."""
        path = render_path(render if isinstance(render, str) else render.id)
        return watch(RenderRecord, path, ENDED, self._transport, timeout=timeout, poll_interval=poll_interval)

    def wait(
        self,
        render: str | RenderRecord,
        *,
        timeout: float | None = None,
        poll_interval: float | None = None,
        on_change: Callable[[RenderRecord], None] | None = None,
    ) -> RenderRecord:
        """The completed render, of which some engines may have failed. Raises RenderFailed, RenderCancelled."""
        record = last_of(self.watch(render, timeout=timeout, poll_interval=poll_interval), on_change)
        if record.status == "failed":
            raise RenderFailed(record)
        if record.status == "cancelled":
            raise RenderCancelled(record)
        return record


class Preparations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        *,
        video: MediaInput,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
        on_upload: UploadsProgress | None = None,
    ) -> PreparationRecord:
        """Uploads the video if it is not there yet, and creates its analysis. Repeated requests create one."""
        request: PreparationRequest = {
            "video": _uploaded({"video": video}, on_upload, self._transport)["video"],
            "idempotency_key": idempotency_key or secrets.token_hex(16),
        }
        if webhook_url is not None:
            request["webhook_url"] = webhook_url
        return self._transport.post(PreparationRecord, "/v1/preparations", request).body

    def get(self, preparation_id: str) -> PreparationRecord:
        return self._transport.get(PreparationRecord, _path("preparations", preparation_id)).body

    def watch(
        self,
        preparation: str | PreparationRecord,
        *,
        timeout: float | None = None,
        poll_interval: float | None = None,
    ) -> Iterator[PreparationRecord]:
        """The first state, every changed one, and the last. Raises TimeoutError after `timeout` seconds."""
        path = _path("preparations", preparation if isinstance(preparation, str) else preparation.id)
        return watch(
            PreparationRecord, path, ENDED, self._transport, timeout=timeout, poll_interval=poll_interval
        )

    def wait(
        self,
        preparation: str | PreparationRecord,
        *,
        timeout: float | None = None,
        poll_interval: float | None = None,
        on_change: Callable[[PreparationRecord], None] | None = None,
    ) -> PreparationRecord:
        """The completed preparation. Raises PreparationFailed."""
        record = last_of(self.watch(preparation, timeout=timeout, poll_interval=poll_interval), on_change)
        if record.status != "completed":
            raise PreparationFailed(record)
        return record


class Uploads:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        source: UploadSource,
        *,
        media_type: MediaType,
        content_type: str | None = None,
        on_progress: Progress | None = None,
    ) -> Asset:
        """Uploads media; the asset can be used at once, its checks continue in the background. `content_type` is what
        to declare, if neither the name nor the first bytes of the source say it. `on_progress` gets the bytes that are
        sent and those that there are; it starts again at 0 when they have to be sent again."""
        opened = open_source(source, media_type, content_type)
        return upload(opened, media_type, on_progress, self._transport)

    def begin(self, *, media_type: MediaType, content_type: str, size_bytes: int) -> Upload:
        """The first step alone, for a backend that lets somebody else send the bytes to the signed URL."""
        request: UploadRequest = {
            "media_type": media_type,
            "content_type": content_type,
            "size_bytes": size_bytes,
        }
        return self._transport.post(Upload, "/v1/uploads", request).body

    def complete(self, upload_id: str) -> Asset:
        """The last step alone: the bytes are there."""
        return self._transport.post(Asset, f"{_path('uploads', upload_id)}/complete").body


class Assets:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, *, url: str, media_type: MediaType) -> Asset:
        """Lets the service download media. Not repeated when the answer is lost: every call makes another asset."""
        request: AssetRequest = {"url": url, "media_type": media_type}
        return self._transport.post(Asset, "/v1/assets", request, repeat="refused").body

    def get(self, asset_id: str) -> Asset:
        return self._transport.get(Asset, _path("assets", asset_id)).body

    def watch(
        self, asset: str | Asset, *, timeout: float | None = None, poll_interval: float | None = None
    ) -> Iterator[Asset]:
        """The first state, every changed one, and the last. Raises TimeoutError after `timeout` seconds."""
        path = _path("assets", asset if isinstance(asset, str) else asset.id)
        return watch(Asset, path, VERIFIED, self._transport, timeout=timeout, poll_interval=poll_interval)

    def wait(
        self,
        asset: str | Asset,
        *,
        timeout: float | None = None,
        poll_interval: float | None = None,
        on_change: Callable[[Asset], None] | None = None,
    ) -> Asset:
        """The asset when its media is ready. Raises AssetFailed."""
        last = last_of(self.watch(asset, timeout=timeout, poll_interval=poll_interval), on_change)
        if last.status == "failed":
            raise AssetFailed(last)
        return last


class Outputs:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @overload
    def download(
        self,
        render: str | RenderRecord,
        engine: Engine,
        destination: str | os.PathLike[str] | Writable,
        *,
        on_progress: Progress | None = None,
    ) -> None: ...

    @overload
    def download(
        self,
        render: str | RenderRecord,
        engine: Engine,
        destination: None = None,
        *,
        on_progress: Progress | None = None,
    ) -> bytes: ...

    def download(
        self,
        render: str | RenderRecord,
        engine: Engine,
        destination: str | os.PathLike[str] | Writable | None = None,
        *,
        on_progress: Progress | None = None,
    ) -> bytes | None:
        """Downloads what an engine made: to a path (it appears when it is complete), to a binary file that is open for
        writing, or without a destination as bytes. An expired URL is replaced, a broken connection resumed.
        `on_progress` gets the bytes that are received and those that there are."""
        transfer = Download(render, engine, self._transport, on_progress)
        if destination is None:
            memory = BytesIO()
            transfer.write_to(memory)
            return memory.getvalue()
        if isinstance(destination, (str, os.PathLike)):
            with complete_file(destination) as file:
                transfer.write_to(file)
        else:
            transfer.write_to(destination)
        return None


class Webhooks:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, event_id: str) -> Delivery:
        """The state of an event's delivery."""
        return self._transport.get(Delivery, _path("webhooks", event_id)).body

    verify = staticmethod(verify_webhook)


def _path(collection: str, resource_id: str) -> str:
    return f"/v1/{collection}/{quote(resource_id, safe='')}"


def _uploaded(
    media: dict[MediaType, MediaInput], on_upload: UploadsProgress | None, transport: Transport
) -> dict[MediaType, Input]:
    """The inputs of a request. Before anything is uploaded, all sources have been opened: a name that is wrong shows at
    once."""
    found = {media_type: input_or_source(given, media_type) for media_type, given in media.items()}
    inputs: dict[MediaType, Input] = {}
    for media_type, given in found.items():
        if isinstance(given, Source):
            on_progress = on_upload and partial(on_upload, media_type)
            inputs[media_type] = {"asset_id": upload(given, media_type, on_progress, transport).id}
        else:
            inputs[media_type] = given
    return inputs
