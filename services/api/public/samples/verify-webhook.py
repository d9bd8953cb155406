import hashlib
import hmac
import json
import re
import time

TOLERANCE_SECONDS = 5 * 60
MAX_BODY_BYTES = 1024 * 1024  # events have a few thousand


def verify_webhook(signature, delivery_id, body, signing_secret, now_seconds=None):
    """Checks one webhook delivery and returns the event. ValueError: answer 400.

    signature: header Svc-Signature; delivery_id: header Svc-Delivery-ID; body: the request's body as a stream, such
    as Flask's request.stream; signing_secret: hexadecimal, from your administrator. Answer 2xx at once, deduplicate
    by event["id"].
    """
    if not re.fullmatch(r"[0-9a-f]{64}", signing_secret):
        raise RuntimeError("malformed signing secret")  # with an empty key anybody can sign
    match = re.fullmatch(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", signature or "")
    if match is None:
        raise ValueError("malformed signature")
    timestamp, v1 = match.groups()
    now = time.time() if now_seconds is None else now_seconds
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("too old or too new")

    raw_body = b""
    while chunk := body.read(64 * 1024):
        raw_body += chunk
        if len(raw_body) > MAX_BODY_BYTES:
            raise ValueError("the body is too large")
    signed = f"{timestamp}.{delivery_id}.".encode() + raw_body
    expected = hmac.new(bytes.fromhex(signing_secret), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, v1):
        raise ValueError("wrong signature")
    return json.loads(raw_body)
