from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
import time
from collections.abc import Iterable, Sequence
from typing import Protocol

from ._contract import PreparationEvent, RenderEvent, WebhookEvent
from ._errors import WebhookVerificationError
from ._media import Readable
from ._parse import parse


class WebhookHeaders(Protocol):
    """The headers of a request, as every framework has them: names in any case, and their values."""

    def items(self) -> Iterable[tuple[str, str]]: ...


# At most four signatures: a sender needs no more than two, while it replaces a secret.
SIGNATURE = re.compile(r"t=([0-9]{1,12})((?:,v1=[0-9a-f]{64}){1,4})")
# At least 32 bytes: what is shorter can be guessed, and with an empty key anybody can sign.
SECRET = re.compile(r"(?:[0-9a-f]{2}){32,}", re.IGNORECASE)
# Events have a few thousand.
MAX_BODY_BYTES = 1024 * 1024
CHUNK_BYTES = 64 * 1024


def verify_webhook(
    body: bytes | str | Readable,
    headers: WebhookHeaders,
    secrets: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """Verifies one delivery of a webhook and returns its event.

    Pass the body as it was received, or the stream of the request: bytes that went through a JSON parser no longer
    match. While a signing secret is being replaced, pass both. `tolerance` is how many seconds the signature's time may
    be from `now` (seconds since 1970), in either direction.

    Anyone who knows the URL can send anything, so the cheap checks come first: the form of the headers, the time, the
    size of the body (1 MiB at most; a stream is read no further). Then one HMAC is computed per secret.

    Raises WebhookVerificationError if the delivery is not to be trusted; ValueError or TypeError if the arguments are
    wrong, such as a parsed body or a secret that is too short.
    """
    keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("Pass at least one signing secret")
    at = time.time() if now is None else now
    if not (math.isfinite(tolerance) and tolerance >= 0 and math.isfinite(at)):
        raise ValueError("tolerance is a number of seconds, 0 or more, and now one since 1970")

    match = SIGNATURE.fullmatch(_header(headers, "svc-signature"))
    if match is None:
        raise WebhookVerificationError("malformed_signature", "Svc-Signature is malformed")
    timestamp, signatures = match[1], match[2].split(",v1=")[1:]
    delivery_id = _header(headers, "svc-delivery-id")
    if abs(at - int(timestamp)) > tolerance:
        raise WebhookVerificationError(
            "timestamp_out_of_tolerance", f"The webhook was signed more than {tolerance:g} s from now"
        )

    raw = _bytes(body)
    signed = _utf8(f"{timestamp}.{delivery_id}.") + raw
    if not any(_is_signed(signed, signatures, key) for key in keys):
        raise WebhookVerificationError("wrong_signature", "The webhook was not signed with this secret")
    try:
        event = json.loads(raw)
        is_render = event["type"].startswith("render.")
        return parse(RenderEvent, event) if is_render else parse(PreparationEvent, event)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise WebhookVerificationError("malformed_event", "The body is no event of the contract") from None


def _key(secret: str) -> bytes:
    if isinstance(secret, str) and SECRET.fullmatch(secret):
        return bytes.fromhex(secret)
    raise ValueError("A signing secret is a hexadecimal string of at least 64 digits")


def _header(headers: WebhookHeaders, name: str) -> str:
    value = next((value for key, value in headers.items() if key.lower() == name), "")
    if value:
        return value
    raise WebhookVerificationError("missing_header", f"The header {name} is missing")


def _bytes(body: bytes | str | Readable) -> bytes:
    if isinstance(body, str):
        # UTF-8 has at least one byte for each character.
        _check_size(len(body))
        body = _utf8(body)
    if isinstance(body, bytes):
        _check_size(len(body))
        return body
    if not callable(getattr(body, "read", None)):
        raise TypeError("Pass the raw body: bytes, text or a stream, before any JSON parser")
    raw = bytearray()
    while chunk := body.read(CHUNK_BYTES):
        _check_size(len(raw) + len(chunk))
        raw += chunk
    return bytes(raw)


def _utf8(text: str) -> bytes:
    """Some frameworks read bytes that are not UTF-8 as surrogates; no service has signed these."""
    return text.encode(errors="replace")


def _check_size(size: int) -> None:
    if size > MAX_BODY_BYTES:
        raise WebhookVerificationError("body_too_large", f"No event has more than {MAX_BODY_BYTES} bytes")


def _is_signed(signed: bytes, signatures: Sequence[str], key: bytes) -> bool:
    expected = hmac.new(key, signed, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(expected, signature) for signature in signatures)
