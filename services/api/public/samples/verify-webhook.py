import hashlib
import hmac
import json
import re
import time

TOLERANCE_SECONDS = 5 * 60


def verify_webhook(signature, delivery_id, raw_body, signing_secret, now_seconds=None):
    """Checks one webhook delivery and returns the event.

    signature: header Svc-Signature; delivery_id: header Svc-Delivery-ID; raw_body: the bytes as received;
    signing_secret: hexadecimal, from your administrator. Answer 2xx at once, deduplicate by event["id"].
    """
    match = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", signature)
    if match is None:
        raise ValueError("malformed signature")
    timestamp, v1 = match.groups()
    if not re.fullmatch(r"[0-9a-f]{64}", signing_secret):
        raise ValueError("malformed signing secret")  # with an empty key anybody can sign

    signed = f"{timestamp}.{delivery_id}.".encode() + raw_body
    expected = hmac.new(bytes.fromhex(signing_secret), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, v1):
        raise ValueError("wrong signature")

    now = time.time() if now_seconds is None else now_seconds
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("too old or too new")
    return json.loads(raw_body)
