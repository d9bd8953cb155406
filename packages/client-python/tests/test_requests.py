from __future__ import annotations

import os
import pickle
import ssl
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any
from unittest import mock

import lipsync
from lipsync import ApiError, LipSync, RenderFailed, UnexpectedResponse
from lipsync._contract import AssetRequest, PreparationRequest, RenderRequest, UploadRequest
from lipsync._retry import RetryPolicy, repeatedly, retry_after
from scripted_server import AT, CUT, KEY, Received, Reply, ServiceTest, asset, refusal, render

URL = "https://media.example.com/face.mp4"
ACCEPTED = Reply(202, render(status="accepted"))
OUTAGES = [
    CUT,
    refusal(503, "service_unavailable", True),
    refusal(429, "rate_limit_exceeded", True),
    refusal(409, "idempotency_in_progress", True),
    Reply(502, b"<html>Bad gateway</html>"),
]


def create(client: LipSync, **more: Any) -> lipsync.RenderRecord:
    return client.renders.create(
        video=URL, audio={"asset_id": "ast_voice"}, engines=["musetalk"], sync_mode="cut_off", **more
    )


class Requests(ServiceTest):
    def test_creates_one_render_however_often_the_request_is_repeated(self) -> None:
        client = self.start(lambda _: {"POST /v1/renders": [*OUTAGES, ACCEPTED]})
        self.assertEqual(create(client).id, "ren_1")
        create(client)
        keys = [request.json.pop("idempotency_key") for request in self.server.requests]
        self.assertRegex(keys[0], "^[0-9a-f]{32}$")
        self.assertEqual(len(set(keys[: len(OUTAGES) + 1])), 1)
        self.assertNotEqual(keys[-1], keys[0])

    def test_sends_what_the_contract_asks_for_and_nothing_that_was_left_out(self) -> None:
        client = self.start(lambda _: {"POST /v1/renders": [ACCEPTED]})
        create(client, idempotency_key="order-1", webhook_url="https://hooks.example.com")
        [request] = self.server.requests
        self.assertEqual(
            request.json,
            {
                "video": {"url": URL},
                "audio": {"asset_id": "ast_voice"},
                "engines": ["musetalk"],
                "sync_mode": "cut_off",
                "idempotency_key": "order-1",
                "webhook_url": "https://hooks.example.com",
            },
        )
        self.assertEqual(request.headers["Authorization"], f"Bearer {KEY}")
        self.assertEqual(request.headers["Content-Type"], "application/json")

    def test_takes_no_word_for_a_list_of_engines(self) -> None:
        client = self.start(lambda _: {})
        word: Any = "musetalk"
        with self.assertRaisesRegex(TypeError, r"engines is a list: \['musetalk'\]"):
            client.renders.create(video=URL, audio=URL, engines=word, sync_mode="loop")

    def test_takes_every_field_of_a_request(self) -> None:
        client = self.start(lambda _: {})
        for method, request in (
            (client.renders.create, RenderRequest),
            (client.preparations.create, PreparationRequest),
            (client.uploads.begin, UploadRequest),
            (client.assets.create, AssetRequest),
        ):
            taken = set(method.__annotations__) - {"return", "on_upload"}
            self.assertEqual(taken, set(request.__annotations__))

    def test_answers_with_typed_fields_and_keeps_out_those_it_does_not_know(self) -> None:
        client = self.start(lambda _: {"GET /v1/renders/ren_1": [Reply(body=render(later="new"))]})
        record = client.renders.get("ren_1")
        self.assertEqual(record.created_at, datetime(2026, 1, 1, tzinfo=timezone.utc))
        self.assertIsNone(record.completed_at)
        self.assertFalse(hasattr(record, "later"))

    def test_says_why_the_service_refused_and_asks_once(self) -> None:
        client = self.start(lambda _: {"GET /v1/renders/a%2Fb": [refusal(404, "render_not_found", False)]})
        with self.assertRaises(ApiError) as caught:
            client.renders.get("a/b")
        error = caught.exception
        self.assertEqual(
            (error.code, error.status, error.retryable, error.request_id, str(error)),
            ("render_not_found", 404, False, "req-1", "For a person. (render_not_found)"),
        )
        self.assertEqual(len(self.server.requests), 1)

    def test_does_not_repeat_what_waits_for_the_caller_though_it_is_called_retryable(self) -> None:
        client = self.start(lambda _: {"POST /v1/renders": [refusal(409, "asset_not_ready", True)]})
        with self.assertRaises(ApiError):
            create(client)
        self.assertEqual(len(self.server.requests), 1)

    def test_makes_no_second_asset_when_an_answer_is_lost_but_asks_again_when_it_was_refused(self) -> None:
        lost = self.start(lambda _: {"POST /v1/assets": [CUT, ACCEPTED]})
        with self.assertRaises(lipsync.ConnectionError):
            lost.assets.create(url=URL, media_type="video")
        self.assertEqual(len(self.server.requests), 1)
        made = Reply(202, asset("ast_1"))
        refused = self.start(lambda _: {"POST /v1/assets": [refusal(429, "rate_limit_exceeded", True), made]})
        self.assertEqual(refused.assets.create(url=URL, media_type="video").id, "ast_1")

    def test_gives_up_after_max_retries_with_what_happened_last(self) -> None:
        client = self.start(
            lambda _: {"GET /v1/renders/ren_1": [CUT, Reply(504, b"upstream")]}, max_retries=1
        )
        with self.assertRaises(UnexpectedResponse) as caught:
            client.renders.get("ren_1")
        self.assertEqual(caught.exception.status, 504)
        self.assertEqual(len(self.server.requests), 2)

    def test_waits_as_long_as_the_service_asks_but_not_longer_than_the_call_may_take(self) -> None:
        limited = refusal(429, "rate_limit_exceeded", True, Retry_After="50")
        client = self.start(lambda _: {"GET /v1/renders/ren_1": [limited]})
        with self.assertRaises(ApiError) as caught:
            client.renders.get("ren_1")
        self.assertEqual(caught.exception.retry_after, 50)
        self.assertEqual(self.time.pauses, [50, 50])

    def test_tells_a_time_that_is_over_from_a_connection_that_is_silent(self) -> None:
        def late(_: Received) -> Reply:
            self.time.passed += 31
            return Reply(body=b"{")

        client = self.start(lambda _: {"GET /v1/renders/ren_1": [late]}, timeout=10)
        with self.assertRaisesRegex(lipsync.TimeoutError, "longer than 10 s"):
            client.renders.get("ren_1")
        silent = self.start(lambda _: {"GET /v1/renders/ren_1": [late, Reply(body=render())]})
        self.assertEqual(silent.renders.get("ren_1").id, "ren_1")

    def test_sends_its_key_nowhere_but_to_the_service(self) -> None:
        moved = Reply(302, headers={"Location": "http://127.0.0.1:9/elsewhere"})
        client = self.start(lambda _: {"GET /v1/renders/ren_1": [moved]})
        with self.assertRaisesRegex(UnexpectedResponse, "302.*it moved to http://127.0.0.1:9/elsewhere"):
            client.renders.get("ren_1")

    def test_takes_an_answer_that_is_not_in_the_contract_for_no_answer_of_the_service(self) -> None:
        bodies: list[Any] = [b"<html>", [], {"id": "ren_1"}, render(engines={}), render(created_at="soon")]
        client = self.start(lambda _: {"GET /v1/renders/ren_1": [Reply(body=body) for body in bodies]})
        for _ in bodies:
            with self.assertRaisesRegex(UnexpectedResponse, "not in the contract"):
                client.renders.get("ren_1")

    def test_does_not_try_a_certificate_again_that_cannot_be_verified(self) -> None:
        client = LipSync(api_key=KEY, base_url="https://lipsync.example.com")
        refused = mock.Mock(side_effect=ssl.SSLCertVerificationError("self-signed"))
        self.replace("lipsync._transport.OpenerDirector.open", refused)
        with self.assertRaisesRegex(lipsync.ConnectionError, "self-signed"):
            client.renders.get("ren_1")
        self.assertEqual(refused.call_count, 1)


class Construction(ServiceTest):
    def test_refuses_a_key_or_a_url_that_cannot_be_one_without_repeating_the_key(self) -> None:
        url = "https://lipsync.example.com"
        with mock.patch.dict(os.environ, clear=True):
            for api_key, base_url, reason in (
                (None, url, "pass api_key"),
                (KEY, None, "pass base_url"),
                (KEY + "\n", url, "malformed"),
                (KEY[:-1], url, "malformed"),
                (KEY.replace("svc", "SVC"), url, "malformed"),
                (KEY, "lipsync.example.com", "not the URL"),
                (KEY, "file:///etc", "not the URL"),
                (KEY, "https://me:secret@lipsync.example.com", "not the URL"),
                (KEY, "https://lipsync.example.com:port", "not the URL"),
                (KEY, "https://lipsync.example.com\n", "not the URL"),
            ):
                with self.assertRaisesRegex(ValueError, reason) as caught:
                    LipSync(api_key=api_key, base_url=base_url)
                self.assertNotIn(KEY[4:-1], str(caught.exception))

    def test_takes_both_from_the_environment_and_shows_no_secret(self) -> None:
        settings = {"LIPSYNC_API_KEY": KEY, "LIPSYNC_BASE_URL": "https://lipsync.example.com/"}
        with mock.patch.dict(os.environ, settings):
            self.assertEqual(repr(LipSync()), "LipSync(base_url='https://lipsync.example.com')")
        LipSync(api_key="svc_" + "aB" * 32, base_url="http://[::1]:8080/lipsync")
        output = lipsync.Output(url="https://store/x?signature=abc", expires_at=datetime.now(timezone.utc))
        self.assertNotIn("signature", repr(output))


class Repetitions(ServiceTest):
    def attempts(self, failure: Exception, policy: RetryPolicy) -> list[float]:
        beginnings = []

        def attempt(*_: object) -> None:
            beginnings.append(self.time.passed - started_at)
            raise failure

        started_at = self.time.passed
        with self.assertRaises(type(failure)):
            repeatedly(policy, attempt)
        return beginnings

    def test_come_after_pauses_that_double_up_to_8_seconds_of_which_chance_takes_its_share(self) -> None:
        failure, endless = lipsync.ConnectionError("broken"), float("inf")
        self.random.return_value = 1
        longest = self.attempts(failure, RetryPolicy(max_retries=6, timeout=endless))
        self.assertEqual(longest, [0, 0.5, 1.5, 3.5, 7.5, 15.5, 23.5])
        self.random.return_value = 0.5
        self.assertEqual(self.attempts(failure, RetryPolicy(max_retries=2, timeout=endless)), [0, 0.25, 0.75])

    def test_come_no_sooner_than_the_service_asks_and_not_after_the_deadline(self) -> None:
        limited = UnexpectedResponse("it", 429, "", 3)
        policy = RetryPolicy(max_retries=float("inf"), timeout=10)
        self.assertEqual(self.attempts(limited, policy), [0, 3, 6, 9])

    def test_count_from_the_last_progress(self) -> None:
        attempts = 0

        def attempt(_: float, progressed: Callable[[], None]) -> str:
            nonlocal attempts
            attempts += 1
            progressed()
            if attempts < 10:
                raise lipsync.ConnectionError("broken")
            return "done"

        self.assertEqual(repeatedly(RetryPolicy(max_retries=1, timeout=float("inf")), attempt), "done")

    def test_understand_seconds_and_dates_of_retry_after_and_nothing_else(self) -> None:
        self.assertEqual(retry_after("120"), 120)
        self.assertEqual(retry_after("Wed, 31 Dec 2025 00:00:00 GMT"), 0)
        later = retry_after("Fri, 31 Dec 2999 00:00:00 GMT")
        self.assertGreater(later or 0, 1e9)
        self.assertIsNone(retry_after("soon"))
        self.assertIsNone(retry_after(None))


class Errors(ServiceTest):
    def test_are_those_of_python_as_well_where_it_has_the_same_ones(self) -> None:
        self.assertTrue(issubclass(lipsync.ConnectionError, ConnectionError))
        self.assertTrue(issubclass(lipsync.TimeoutError, TimeoutError))
        self.assertTrue(issubclass(lipsync.TimeoutError, lipsync.LipSyncError))

    def test_reach_another_process_whole(self) -> None:
        client = self.start(lambda _: {"GET /v1/renders/ren_1": [Reply(body=render(created_at=AT))]})
        reason = lipsync.ErrorBody(code="no_face_detected", message="No face.", retryable=False)
        for error in (
            RenderFailed(client.renders.get("ren_1")),
            ApiError(404, reason, "req-1", 3.0),
            UnexpectedResponse("upload", 400, "RequestTimeout"),
            lipsync.ConnectionError("The upload was not answered", "upload"),
            lipsync.TimeoutError("late"),
            lipsync.WebhookVerificationError("missing_header", "no"),
        ):
            copied = pickle.loads(pickle.dumps(error))  # noqa: S301
            self.assertEqual((str(copied), vars(copied)), (str(error), vars(error)))
