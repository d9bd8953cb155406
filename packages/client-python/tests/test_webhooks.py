from __future__ import annotations

import hashlib
import hmac
import io
import json
import unittest
from email.message import Message
from typing import Any

from lipsync import RenderEvent, WebhookVerificationError, verify_webhook
from scripted_server import AT, render

SECRET = "a1" * 32
OLD_SECRET = "b2" * 32
RECORD = {**render(status="completed"), "note": "ü"}
BODY = json.dumps({"id": "evt_1", "type": "render.completed", "created_at": AT, "data": RECORD})
NOW = 1_767_225_600


def sent(secret: str = SECRET, body: str = BODY, at: int = NOW) -> dict[str, str]:
    """The headers that the service sends."""
    v1 = hmac.new(bytes.fromhex(secret), f"{at}.dlv_1.{body}".encode(), hashlib.sha256).hexdigest()
    return {"Svc-Event-ID": "evt_1", "Svc-Delivery-ID": "dlv_1", "Svc-Signature": f"t={at},v1={v1}"}


def without(name: str) -> dict[str, str]:
    return {key: value for key, value in sent().items() if key != name}


class Verification(unittest.TestCase):
    def test_returns_the_event_that_the_service_signed_whatever_holds_body_and_headers(self) -> None:
        message = Message()
        for name, value in sent().items():
            message[name.lower()] = value
        data = BODY.encode()
        bodies: list[Any] = [BODY, data, io.BytesIO(data)]
        for body in bodies:
            event = verify_webhook(body, message, SECRET, now=NOW)
            self.assertIsInstance(event, RenderEvent)
            self.assertEqual((event.type, event.data.id), ("render.completed", "ren_1"))

    def test_accepts_what_either_secret_signed_while_one_is_replaced(self) -> None:
        for secret in (SECRET, OLD_SECRET):
            verify_webhook(BODY, sent(secret), [SECRET, OLD_SECRET], now=NOW)
        both = sent(OLD_SECRET)["Svc-Signature"] + "," + sent()["Svc-Signature"].split(",")[1]
        verify_webhook(BODY, {**sent(), "Svc-Signature": both}, SECRET, now=NOW)

    def test_tells_an_event_of_a_preparation_from_one_of_a_render(self) -> None:
        body = json.dumps({"id": "evt_2", "type": "preparation.failed", "created_at": AT, "data": RECORD})
        event = verify_webhook(body, sent(body=body), SECRET, now=NOW)
        self.assertFalse(hasattr(event.data, "engines"))

    def test_refuses_what_the_service_did_not_send(self) -> None:
        signature = sent()["Svc-Signature"]
        later = {**sent(), "Svc-Signature": signature.replace(str(NOW), str(NOW + 1))}
        forged = {**sent(), "Svc-Signature": f"t={NOW}" + ",v1=" + "0" * 64}
        four = {**sent(), "Svc-Signature": f"t={NOW}" + (",v1=" + "0" * 64) * 5}
        for headers, body, now, reason in (
            (sent(OLD_SECRET), BODY, NOW, "wrong_signature"),
            (sent(), BODY + " ", NOW, "wrong_signature"),
            ({**sent(), "Svc-Delivery-ID": "dlv_2"}, BODY, NOW, "wrong_signature"),
            (later, BODY, NOW, "wrong_signature"),
            (forged, BODY, NOW, "wrong_signature"),
            # As aiohttp reads a byte that is not UTF-8.
            ({**sent(), "Svc-Delivery-ID": "dlv_\udcff"}, BODY, NOW, "wrong_signature"),
            (sent(), BODY + "\udcff", NOW, "wrong_signature"),
            (sent(), "", NOW, "wrong_signature"),
            (without("Svc-Signature"), BODY, NOW, "missing_header"),
            (without("Svc-Delivery-ID"), BODY, NOW, "missing_header"),
            ({**sent(), "Svc-Signature": signature[1:]}, BODY, NOW, "malformed_signature"),
            (four, BODY, NOW, "malformed_signature"),
            (sent(), BODY, NOW + 301, "timestamp_out_of_tolerance"),
            (sent(), BODY, NOW - 301, "timestamp_out_of_tolerance"),
            (sent(body="hello"), "hello", NOW, "malformed_event"),
            (sent(body="[]"), "[]", NOW, "malformed_event"),
            (sent(), "x" * (1024 * 1024 + 1), NOW, "body_too_large"),
        ):
            with self.subTest(reason, body=body[:20]), self.assertRaises(WebhookVerificationError) as caught:
                verify_webhook(body, headers, SECRET, now=now)
            self.assertEqual(caught.exception.reason, reason)

    def test_reads_no_more_than_1_mib_of_a_stream_and_nothing_of_it_when_the_headers_are_wrong(self) -> None:
        for now, most in ((NOW, 1024 * 1024 + 64 * 1024), (NOW + 301, 0)):
            endless = io.BytesIO(bytes(4 * 1024 * 1024))
            with self.assertRaises(WebhookVerificationError):
                verify_webhook(endless, sent(), SECRET, now=now)
            self.assertEqual(endless.tell(), most)

    def test_does_not_work_with_what_cannot_be_right(self) -> None:
        malformed: list[Any] = ["", "a1" * 31, SECRET + "a", "whsec_xyz", SECRET + "\n", []]
        for secrets in malformed:
            with self.subTest(secrets), self.assertRaises(ValueError):
                verify_webhook(BODY, sent(), secrets, now=NOW)
        wrong: list[Any] = [{"tolerance": -1}, {"tolerance": float("nan")}, {"now": float("inf")}]
        for options in wrong:
            with self.subTest(options), self.assertRaises(ValueError):
                verify_webhook(BODY, sent(), SECRET, **options)
        parsed: Any = json.loads(BODY)
        with self.assertRaises(TypeError):
            verify_webhook(parsed, sent(), SECRET, now=NOW)
