from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import lipsync
from lipsync import LipSync, LipSyncError, StreamSource, UnexpectedResponse
from scripted_server import (
    CUT,
    FUTURE,
    Received,
    Reply,
    Script,
    ServiceTest,
    asset,
    completed,
    refusal,
    render,
    upload,
)

BYTES = bytes(i % 251 for i in range(300_000))
PAST = "2026-01-01T00:00:00.000Z"
DENIED = Reply(403, b"<Error><Code>AccessDenied</Code></Error>")


class TransferTest(ServiceTest):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "face.mp4"
        self.file.write_bytes(BYTES)


class Uploads(TransferTest):
    def store(self, *puts: Reply, size: int = len(BYTES)) -> LipSync:
        return self.start(
            lambda base: {
                "POST /v1/uploads": [upload(base, "upl_1", size)],
                "PUT /store/upl_1": [*puts],
                "POST /v1/uploads/upl_1/complete": [CUT, Reply(202, asset("ast_of_upl_1"))],
            }
        )

    def test_send_a_file_with_the_required_headers_again_in_full_when_the_connection_breaks(self) -> None:
        client = self.store(CUT, Reply(500), Reply(400, b"<Code>RequestTimeout</Code>"), Reply(200))
        progress: list[tuple[int, int]] = []
        made = client.uploads.create(
            str(self.file), media_type="video", on_progress=lambda *sent: progress.append(sent)
        )
        self.assertEqual((made.id, made.status), ("ast_of_upl_1", "pending"))
        self.assertEqual(
            self.server.requests[0].json,
            {"media_type": "video", "content_type": "video/mp4", "size_bytes": len(BYTES)},
        )
        puts = self.server.named("PUT /store/upl_1")
        self.assertEqual([put.body == BYTES for put in puts], [True] * 4)
        self.assertEqual(puts[-1].headers["Content-Type"], "video/mp4")
        self.assertNotIn("Authorization", puts[-1].headers)
        self.assertEqual(progress.count((0, len(BYTES))), 4)
        self.assertEqual(progress[-1], (len(BYTES), len(BYTES)))

    def test_get_a_new_address_when_the_first_has_expired_by_this_clock_or_the_stores(self) -> None:
        for expires_at, first_put in ((PAST, Reply(500)), (FUTURE, DENIED)):

            def script(base: str, expires_at: str = expires_at, first_put: Reply = first_put) -> Script:
                return {
                    "POST /v1/uploads": [
                        upload(base, "upl_1", len(BYTES), expires_at),
                        upload(base, "upl_2", len(BYTES)),
                    ],
                    "PUT /store/upl_1": [first_put],
                    "PUT /store/upl_2": [Reply(200)],
                    "POST /v1/uploads/upl_2/complete": [Reply(202, asset("ast_of_upl_2"))],
                }

            client = self.start(script)
            self.assertEqual(client.uploads.create(self.file, media_type="video").id, "ast_of_upl_2")
            self.assertEqual(self.server.named("PUT /store/upl_2")[0].body, BYTES)

    def test_stop_at_a_store_that_refuses_every_address(self) -> None:
        client = self.store(DENIED)
        with self.assertRaisesRegex(lipsync.UnexpectedResponse, r"403 \(AccessDenied\)"):
            client.uploads.create(self.file, media_type="video")
        self.assertEqual(len(self.server.named("PUT /store/upl_1")), 2)

    def test_take_bytes_and_open_files_from_where_they_stand(self) -> None:
        client = self.store(CUT, Reply(200))
        client.uploads.create(BYTES, media_type="video", content_type="video/mp4")
        self.assertEqual(self.server.requests[2].body, BYTES)
        client = self.store(CUT, Reply(200), size=200_000)
        with self.file.open("rb") as file:
            file.seek(100_000)
            client.uploads.create(file, media_type="video")
        self.assertEqual(self.server.requests[0].json["size_bytes"], 200_000)
        self.assertEqual(self.server.named("PUT /store/upl_1")[-1].body, BYTES[100_000:])

    def test_send_a_stream_once_because_it_cannot_be_read_again(self) -> None:
        client = self.store(CUT, Reply(200))
        source = StreamSource(stream=io.BytesIO(BYTES), size=len(BYTES), content_type="video/mp4")
        with self.assertRaises(lipsync.ConnectionError) as broken:
            client.uploads.create(source, media_type="video")
        self.assertEqual(broken.exception.exchange, "upload")
        self.assertEqual(len(self.server.named("PUT /store/upl_1")), 1)

    def test_end_with_what_a_callback_or_a_file_raises_and_do_not_take_it_for_the_network(self) -> None:
        def full(sent: int, _total: int) -> None:
            if sent > 0:
                raise OSError("no space left")

        client = self.store(Reply(200))
        with self.assertRaisesRegex(OSError, "^no space left$"):
            client.uploads.create(self.file, media_type="video", on_progress=full)
        short = StreamSource(stream=io.BytesIO(b"x"), size=len(BYTES), content_type="video/mp4")
        with self.assertRaisesRegex(LipSyncError, "ended after 1 of 300000 bytes"):
            client.uploads.create(short, media_type="video")
        self.assertEqual(len(self.server.named("POST /v1/uploads")), 2)

    def test_do_not_begin_before_every_source_of_a_render_was_found(self) -> None:
        client = self.store(Reply(200))
        (self.folder / "folder.wav").mkdir()
        for name in ("no.wav", "folder.wav"):
            with self.subTest(name), self.assertRaises(OSError):
                client.renders.create(
                    video=self.file, audio=self.folder / name, engines=["musetalk"], sync_mode="loop"
                )
        self.assertEqual(self.server.requests, [])

    def test_make_the_inputs_of_a_render_and_tell_which_is_sent(self) -> None:
        client = self.start(
            lambda base: {
                "POST /v1/uploads": [upload(base, "upl_1", len(BYTES)), upload(base, "upl_2", 12)],
                "PUT /store/upl_1": [Reply(200)],
                "PUT /store/upl_2": [Reply(200)],
                "POST /v1/uploads/upl_1/complete": [Reply(202, asset("ast_of_upl_1"))],
                "POST /v1/uploads/upl_2/complete": [Reply(202, asset("ast_of_upl_2"))],
                "POST /v1/renders": [Reply(202, render())],
            }
        )
        told = mock.Mock()
        client.renders.create(
            video=self.file,
            audio=b"RIFF....WAVE",
            engines=["musetalk"],
            sync_mode="loop",
            on_upload=told,
        )
        request = self.server.requests[-1].json
        inputs = {"video": {"asset_id": "ast_of_upl_1"}, "audio": {"asset_id": "ast_of_upl_2"}}
        self.assertEqual({name: request[name] for name in inputs}, inputs)
        self.assertEqual(told.call_args_list[-1].args, ("audio", 12, 12))


WHOLE = Reply(200, BYTES, {"ETag": '"one"'})
# Sends a part of what it announced.
BROKEN = Reply(200, BYTES[:100_000], {"ETag": '"one"'}, announced=len(BYTES))


def rest(entity_tag: str) -> Any:
    def reply(request: Received) -> Reply:
        start = int(request.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        return Reply(206, BYTES[start:], {"ETag": entity_tag})

    return reply


class Downloads(TransferTest):
    def test_continue_where_the_connection_broke_at_a_new_address_when_the_first_was_refused(self) -> None:
        client = self.start(
            lambda base: {
                "GET /v1/renders/ren_1": [
                    Reply(body=completed(f"{base}/first")),
                    Reply(body=completed(f"{base}/second")),
                ],
                "GET /first": [BROKEN, Reply(403)],
                "GET /second": [rest('"one"')],
            }
        )
        received: list[int] = []
        target = self.folder / "result.mp4"
        record = client.renders.get("ren_1")
        client.outputs.download(
            record, "musetalk", target, on_progress=lambda count, _total: received.append(count)
        )
        self.assertEqual(target.read_bytes(), BYTES)
        [request] = self.server.named("GET /second")
        self.assertEqual((request.headers["Range"], request.headers["If-Range"]), ("bytes=100000-", '"one"'))
        self.assertNotIn("Authorization", request.headers)
        self.assertEqual(received, sorted(received))

    def test_pass_over_what_is_there_already_when_the_store_sends_everything_again(self) -> None:
        client = self.start(
            lambda base: {
                "GET /v1/renders/ren_1": [Reply(body=completed(f"{base}/file"))],
                "GET /file": [BROKEN, WHOLE],
            }
        )
        self.assertEqual(client.outputs.download("ren_1", "musetalk"), BYTES)

    def test_ask_for_a_fresh_address_when_that_of_the_record_has_expired(self) -> None:
        client = self.start(
            lambda base: {
                "GET /v1/renders/ren_1": [
                    Reply(body=completed(f"{base}/old", PAST)),
                    Reply(body=completed(f"{base}/fresh")),
                ],
                "GET /fresh": [WHOLE],
            }
        )
        memory = io.BytesIO()
        client.outputs.download(client.renders.get("ren_1"), "musetalk", memory)
        self.assertEqual(memory.getvalue(), BYTES)

    def test_end_at_once_when_no_fresh_address_is_to_be_had(self) -> None:
        client = self.start(
            lambda base: {
                "GET /v1/renders/ren_1": [
                    Reply(body=completed(f"{base}/old")),
                    refusal(410, "render_expired", False),
                ],
                "GET /old": [Reply(403)],
            }
        )
        with self.assertRaises(lipsync.ApiError):
            client.outputs.download(client.renders.get("ren_1"), "musetalk")
        self.assertEqual(len(self.server.named("GET /v1/renders/ren_1")), 2)

    def test_look_up_what_the_record_that_create_returned_does_not_have_yet(self) -> None:
        client = self.start(
            lambda base: {
                "POST /v1/renders": [Reply(202, render(status="accepted"))],
                "GET /v1/renders/ren_1": [Reply(body=completed(f"{base}/file"))],
                "GET /file": [WHOLE],
            }
        )
        created = client.renders.create(
            video="https://media.example.com/talk.mp4",
            audio="https://media.example.com/voice.wav",
            engines=["musetalk"],
            sync_mode="loop",
        )
        self.assertEqual(client.outputs.download(created, "musetalk"), BYTES)

    def test_leave_no_file_when_the_bytes_changed_in_between(self) -> None:
        client = self.start(
            lambda base: {
                "GET /v1/renders/ren_1": [Reply(body=completed(f"{base}/file"))],
                "GET /file": [BROKEN, rest('"two"')],
            }
        )
        with self.assertRaisesRegex(LipSyncError, "changed"):
            client.outputs.download("ren_1", "musetalk", self.folder / "result.mp4")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["face.mp4"])

    def test_say_why_an_engine_has_no_output(self) -> None:
        engine = completed("")["engines"][0]
        reason = {"code": "engine_failed", "message": "It failed.", "retryable": True}
        failed = {**engine, "status": "failed", "output": None, "error": reason}
        client = self.start(lambda _: {"GET /v1/renders/ren_1": [Reply(body=render(engines=[failed]))]})
        with self.assertRaisesRegex(LipSyncError, r"musetalk is failed: It failed. \(engine_failed\)"):
            client.outputs.download("ren_1", "musetalk")
        with self.assertRaisesRegex(LipSyncError, "not asked for"):
            client.outputs.download("ren_1", "highsync")


class Addresses(TransferTest):
    def test_are_opened_if_they_lead_to_the_web_whatever_the_service_names(self) -> None:
        secret = self.file.as_uri()
        client = self.start(
            lambda _: {
                "GET /v1/renders/ren_1": [Reply(body=completed(secret))],
                "POST /v1/uploads": [upload("file://", "upl_1", len(BYTES))],
            }
        )
        with self.assertRaisesRegex(LipSyncError, "neither http nor https"):
            client.outputs.download("ren_1", "musetalk")
        with self.assertRaisesRegex(LipSyncError, "neither http nor https"):
            client.uploads.create(self.file, media_type="video")
        self.assertEqual(len(self.server.requests), 2)

    def test_are_only_those_that_the_service_named_wherever_the_store_redirects(self) -> None:
        moved = Reply(307, headers={"Location": "http://127.0.0.1:9/bucket/file?signature=secret"})
        client = self.start(
            lambda base: {
                "GET /v1/renders/ren_1": [Reply(body=completed(f"{base}/file"))],
                "GET /file": [moved],
                "POST /v1/uploads": [upload(base, "upl_1", len(BYTES))],
                "PUT /store/upl_1": [moved],
            }
        )
        where = r"307 \(it moved to [^?]*/bucket/file\)"
        with self.assertRaisesRegex(UnexpectedResponse, where) as down:
            client.outputs.download("ren_1", "musetalk")
        with self.assertRaisesRegex(UnexpectedResponse, where) as up:
            client.uploads.create(self.file, media_type="video")
        self.assertEqual([each.exception.exchange for each in (down, up)], ["download", "upload"])
