# Generated from openapi/openapi.yaml of the contract by its scripts/generate.mjs. Do not edit.
# ruff: noqa: E501
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Engine = Literal["musetalk", "latentsync", "highsync"]

SyncMode = Literal["cut_off", "bounce", "loop", "remap", "silence"]
"""How video and audio of different lengths are brought together; see the rules for all operations."""

MediaType = Literal["video", "audio"]

RecordStatus = Literal["accepted", "processing", "completed", "failed", "cancelled"]
"""accepted → processing → completed, failed or cancelled. The last three never change again."""

AssetStatus = Literal["awaiting_upload", "pending", "ready", "failed"]
"""Uploads start at awaiting_upload, URLs at pending."""

DeliveryStatus = Literal["pending", "delivered", "failed"]

WebhookEventType = Literal["render.completed", "render.failed", "render.cancelled", "preparation.completed", "preparation.failed"]

ErrorCode = Literal["invalid_json", "invalid_content_type", "invalid_request", "invalid_media_url", "invalid_webhook_url", "invalid_idempotency_key", "idempotency_key_mismatch", "unsupported_content_type", "asset_type_mismatch", "preparation_mismatch", "invalid_api_key", "not_found", "render_not_found", "preparation_not_found", "asset_not_found", "upload_not_found", "webhook_event_not_found", "method_not_allowed", "idempotency_key_reused", "idempotency_in_progress", "render_not_cancellable", "asset_not_ready", "asset_failed", "preparation_not_ready", "preparation_failed", "upload_incomplete", "upload_size_mismatch", "render_expired", "preparation_expired", "asset_expired", "upload_expired", "webhook_event_expired", "body_too_large", "rate_limit_exceeded", "concurrency_limit_exceeded", "service_unavailable", "engine_unavailable", "internal_error", "media_download_failed", "media_not_accessible", "media_url_not_allowed", "media_too_large", "media_too_long", "media_type_mismatch", "media_unsupported", "media_corrupt", "upload_changed", "no_face_detected", "engine_timeout", "engine_out_of_memory", "worker_lost", "engine_failed", "encode_failed", "storage_failed", "all_engines_failed", "deadline_exceeded"]
"""Every error code of this version. Later ones may have more."""

ApiErrorCode = Literal["invalid_json", "invalid_content_type", "invalid_request", "invalid_media_url", "invalid_webhook_url", "invalid_idempotency_key", "idempotency_key_mismatch", "unsupported_content_type", "asset_type_mismatch", "preparation_mismatch", "invalid_api_key", "not_found", "render_not_found", "preparation_not_found", "asset_not_found", "upload_not_found", "webhook_event_not_found", "method_not_allowed", "idempotency_key_reused", "idempotency_in_progress", "render_not_cancellable", "asset_not_ready", "asset_failed", "preparation_not_ready", "preparation_failed", "upload_incomplete", "upload_size_mismatch", "render_expired", "preparation_expired", "asset_expired", "upload_expired", "webhook_event_expired", "body_too_large", "rate_limit_exceeded", "concurrency_limit_exceeded", "service_unavailable", "engine_unavailable", "internal_error"]
"""The codes with which a request can be refused."""

RecordErrorCode = Literal["preparation_mismatch", "preparation_expired", "upload_expired", "engine_unavailable", "internal_error", "media_download_failed", "media_not_accessible", "media_url_not_allowed", "media_too_large", "media_too_long", "media_type_mismatch", "media_unsupported", "media_corrupt", "upload_changed", "no_face_detected", "engine_timeout", "engine_out_of_memory", "worker_lost", "engine_failed", "encode_failed", "storage_failed", "all_engines_failed", "deadline_exceeded"]
"""The codes that a failed render or preparation can carry."""

AssetErrorCode = Literal["upload_expired", "internal_error", "media_download_failed", "media_not_accessible", "media_url_not_allowed", "media_too_large", "media_too_long", "media_type_mismatch", "media_unsupported", "media_corrupt", "upload_changed", "worker_lost", "storage_failed", "deadline_exceeded"]
"""The codes that a failed asset can carry."""


class AssetInput(TypedDict):
    asset_id: str
    """The id of an asset that is pending or ready."""


class UrlInput(TypedDict):
    url: str
    """A public https URL on port 443 without a user name or password, at most 8192 characters."""


Input = AssetInput | UrlInput


class RenderRequest(TypedDict):
    video: Input
    audio: Input
    engines: list[Engine]
    sync_mode: SyncMode
    preparation_id: NotRequired[str]
    """A completed preparation of the same video."""
    webhook_url: NotRequired[str]
    """A public https URL, any port; called once when the render is terminal."""
    idempotency_key: NotRequired[str]


class PreparationRequest(TypedDict):
    video: Input
    webhook_url: NotRequired[str]
    """A public https URL, any port; called once when the preparation is terminal."""
    idempotency_key: NotRequired[str]


class UploadRequest(TypedDict):
    media_type: MediaType
    content_type: str
    """video/mp4, video/quicktime, video/webm, video/x-matroska; audio/mpeg, audio/wav, audio/x-wav, audio/wave, audio/mp4, audio/x-m4a, audio/aac, audio/ogg, audio/flac, audio/webm. Parameters are ignored. The bytes decide what the file is: one of another accepted kind declares any of these."""
    size_bytes: int
    """The exact number of bytes that will be sent."""


class AssetRequest(TypedDict):
    url: str
    """A public https URL on port 443 without a user name or password, at most 8192 characters."""
    media_type: MediaType


@dataclass(frozen=True, kw_only=True)
class ErrorBody:
    code: str
    """One of the codes of x-error-catalogue. New codes may appear."""
    message: str
    """For people: the message of x-error-catalogue, or a more specific one (which limit was exceeded, and by what). If it concerns a part of the request, that comes first: `/audio: …`."""
    retryable: bool
    """The same request sent again later can succeed unchanged."""


@dataclass(frozen=True, kw_only=True)
class Output:
    url: str = field(repr=False)
    """Signed download URL, for GET alone (with or without Range); valid for 15 minutes."""
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one engine used. The measurements are present once it is completed."""
    input_video_seconds: float | None = None
    """Length of the video input."""
    input_audio_seconds: float | None = None
    """Length of the audio input."""
    output_seconds: float | None = None
    """Length of the output."""
    analyzed_frames: int | None = None
    """Frames that this engine searched for a face; 0 if the video had been analyzed before."""
    rendered_frames: int | None = None
    """Frames of the output."""
    processing_ms: int | None = None
    """Time that a worker spent on this engine, loading and storing included, waiting in the queue excluded."""
    gpu_inference_seconds: float | None = None
    """Time in networks on a GPU. Null when none was used."""
    billed_pod_seconds: float | None = None
    """Machine time that is charged, as this engine's share of the machine. Null when not measured."""
    estimated_compute_usd: float | None = None
    """What the billed machine time costs, in US dollars; where that is not measured, an estimate by the length of the output, if the operator has prices. Null without either."""
    observed_pod_seconds: float | None = None
    """The part of the machine time that the provider has measured already. Null when not measured."""
    engine: Engine | None = None
    status: str | None = None
    """As the status of the engine's result."""
    gpu_models: list[str] | None = None
    """Names of the GPUs that were used. Empty if none was, or if the machine has several models."""
    estimate_coverage: Literal["unavailable", "partial", "observed"] | None = None
    """How much of the work was measured: nothing, part of it, or all of it."""


@dataclass(frozen=True, kw_only=True)
class EngineResult:
    engine: Engine
    status: str
    """accepted, processing, completed, failed or cancelled."""
    stage: str
    """accepted: queued. processing: loading_model, inferencing, encoding, uploading; queued again after an interruption. Afterwards the status. New stages may appear."""
    progress_percent: float
    usage: Usage
    output: Output | None = None
    error: ErrorBody | None = None


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What the analysis of the video found. `frames` is the number of frames in a render of the whole video; `fps` is their usual rate, rounded."""
    version: str | None = None
    analyzer_version: str | None = None
    frames: int | None = None
    fps: int | None = None
    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Media:
    """Until the asset is ready: the declared size (0 for a URL), duration 0, codec "unknown". Then width and height as shown after rotation, and the mean rate."""
    size_bytes: int
    duration_seconds: float
    codec: str
    width: int | None = None
    height: int | None = None
    frames: int | None = None
    fps: float | None = None


@dataclass(frozen=True, kw_only=True)
class Asset:
    id: str
    media_type: MediaType
    status: AssetStatus
    stage: str
    """awaiting_upload; pending: queued, downloading or verifying, probing; ready; failed. New stages may appear."""
    content_type: str | None = None
    """For an upload, the declared type. For a URL, the type that its server sent, if an upload could declare it; otherwise application/octet-stream. media.codec says what was found."""
    media: Media
    error: ErrorBody | None = None
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Upload:
    id: str
    asset_id: str
    """The asset that the upload fills."""
    status: str
    """awaiting_upload, completed or expired."""
    upload_url: str = field(repr=False)
    """Signed URL for the bytes."""
    expires_at: datetime
    method: Literal["PUT"]
    required_headers: dict[str, str]
    """Send exactly these with the PUT. Browsers set Content-Length themselves."""
    complete_url: str
    """POST here when the bytes are sent."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    id: str | None = None
    """The id of the event."""
    event_type: str | None = None
    """As the type of the event."""
    delivery_id: str | None = None
    """The value of the header Svc-Delivery-ID."""
    status: DeliveryStatus | None = None
    attempts: int | None = None
    """Attempts made so far, one that is under way included; at most 11."""
    last_http_status: int | None = None
    last_error: str | None = None
    """The class of the last failure: timeout, dns_error, connection_failed, tls_error, address_not_allowed, redirect, http_error."""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    next_attempt_at: datetime | None = None
    """Present while pending: when the next attempt is due. During an attempt: when the next one follows if the outcome of this one is lost."""
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class RenderRecord:
    """A render: its state, progress, and a result for every engine."""
    id: str
    status: RecordStatus
    stage: str
    """accepted: queued. processing: fetching_inputs, validating_inputs, then for a render preparing (skipped with a preparation), rendering, finalizing and for a preparation analyzing, finalizing; once the media are ready, queued again while its next work waits for a free worker. Afterwards the status. New stages may appear."""
    progress_percent: float
    """Never falls. 100 exactly when completed; keeps its last value when failed or cancelled."""
    video_asset_id: str
    """The asset that was named or that was made for the URL."""
    audio_asset_id: str
    """Present on renders."""
    sync_mode: str
    """Present on renders."""
    preparation_id: str | None = None
    """The preparation that the render names."""
    engines: list[EngineResult]
    """Present on renders, in the order of the request; kept after the render finished."""
    webhook_event_id: str | None = None
    """Present once the event of this record exists."""
    error: ErrorBody | None = None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    """When the record became terminal."""
    expires_at: datetime
    status_url: str
    """The URL to fetch this record from."""


@dataclass(frozen=True, kw_only=True)
class PreparationRecord:
    """A preparation: its state, progress, and once completed what the analysis found."""
    id: str
    status: RecordStatus
    stage: str
    """accepted: queued. processing: fetching_inputs, validating_inputs, then for a render preparing (skipped with a preparation), rendering, finalizing and for a preparation analyzing, finalizing; once the media are ready, queued again while its next work waits for a free worker. Afterwards the status. New stages may appear."""
    progress_percent: float
    """Never falls. 100 exactly when completed; keeps its last value when failed or cancelled."""
    video_asset_id: str
    """The asset that was named or that was made for the URL."""
    preparation: Preparation | None = None
    webhook_event_id: str | None = None
    """Present once the event of this record exists."""
    error: ErrorBody | None = None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    """When the record became terminal."""
    expires_at: datetime
    status_url: str
    """The URL to fetch this record from."""


@dataclass(frozen=True, kw_only=True)
class RenderEvent:
    """What a webhook delivers of a render. Deduplicate by `id`."""
    id: str
    """Use it for deduplication."""
    type: Literal["render.completed", "render.failed", "render.cancelled"]
    created_at: datetime
    data: RenderRecord
    """The record at the time of the event; data.id identifies the render or preparation. Engine results have no output, because signed URLs would expire between retries: fetch the render for fresh ones."""


@dataclass(frozen=True, kw_only=True)
class PreparationEvent:
    """What a webhook delivers of a preparation. Deduplicate by `id`."""
    id: str
    """Use it for deduplication."""
    type: Literal["preparation.completed", "preparation.failed"]
    created_at: datetime
    data: PreparationRecord
    """The record at the time of the event; data.id identifies the render or preparation. Engine results have no output, because signed URLs would expire between retries: fetch the render for fresh ones."""


WebhookEvent = RenderEvent | PreparationEvent
