from __future__ import annotations

from typing import Any

import lipsync
from lipsync import AssetFailed, LipSync, PreparationFailed, RenderCancelled, RenderFailed
from scripted_server import AT, CUT, Reply, ServiceTest, asset, completed, refusal, render

ERROR = {"code": "no_face_detected", "message": "No face was found.", "retryable": False}


def now(body: Any) -> Reply:
    return Reply(200, body, {"Retry-After": "0"})


class Watching(ServiceTest):
    def at(self, path: str, *replies: Reply) -> LipSync:
        return self.start(lambda _: {f"GET {path}": [*replies]}, max_retries=0)

    def test_shows_every_change_once_through_outages_until_the_last(self) -> None:
        client = self.at(
            "/v1/renders/ren_1",
            now(render(progress_percent=10)),
            now(render(progress_percent=10, updated_at="2027-01-01T00:00:00Z")),
            CUT,
            refusal(503, "service_unavailable", True),
            now(render(progress_percent=30)),
            now(render(progress_percent=30)),
            now(completed("https://store/a")),
        )
        seen = [state.progress_percent for state in client.renders.watch("ren_1")]
        self.assertEqual(seen, [10, 30, 100])
        self.assertEqual(len(self.server.requests), 7)

    def test_waits_and_tells_the_changes(self) -> None:
        client = self.at("/v1/renders/ren_1", now(render()), now(render()), now(completed("https://store/a")))
        changes: list[str] = []
        record = client.renders.wait(
            client.renders.get("ren_1"), on_change=lambda state: changes.append(state.status)
        )
        self.assertEqual(record.engines[0].usage.rendered_frames, 216)
        self.assertEqual(changes, ["processing", "completed"])

    def test_asks_as_often_as_the_service_says_else_ever_more_slowly_until_something_changes(self) -> None:
        same = [Reply(body=render())] * 6
        changed = Reply(body=render(progress_percent=50), headers={"Retry-After": "7"})
        client = self.at("/v1/renders/ren_1", *same, changed, Reply(body=completed("https://store/a")))
        client.renders.wait("ren_1")
        self.assertEqual(self.time.pauses, [1, 1.5, 2.25, 3.375, 5, 5, 7])

    def test_fails_with_the_code_of_what_failed(self) -> None:
        client = self.at("/v1/renders/ren_1", now(render(status="failed", error=ERROR)))
        with self.assertRaises(RenderFailed) as caught:
            client.renders.wait("ren_1")
        error = caught.exception
        self.assertEqual((error.code, error.retryable, error.record.id), ("no_face_detected", False, "ren_1"))
        self.assertEqual(str(error), "Render ren_1 failed: No face was found. (no_face_detected)")

        client = self.at("/v1/renders/ren_1", now(render(status="cancelled")))
        with self.assertRaises(RenderCancelled):
            client.renders.wait("ren_1")

        client = self.at("/v1/preparations/prp_1", now(render(id="prp_1", status="failed", error=ERROR)))
        with self.assertRaises(PreparationFailed):
            client.preparations.wait("prp_1")

        failed = asset("ast_1", "failed", error={**ERROR, "code": "media_corrupt"})
        client = self.at("/v1/assets/ast_1", now(asset("ast_1", "awaiting_upload")), now(failed))
        with self.assertRaises(AssetFailed) as caught_asset:
            client.assets.wait("ast_1")
        self.assertEqual(caught_asset.exception.code, "media_corrupt")

    def test_does_not_ask_on_when_the_resource_is_not_there(self) -> None:
        client = self.at("/v1/renders/ren_1", refusal(410, "render_expired", False))
        with self.assertRaises(lipsync.ApiError):
            client.renders.wait("ren_1")
        self.assertEqual(len(self.server.requests), 1)

    def test_gives_up_when_its_time_is_over_or_the_service_stays_away_for_five_minutes(self) -> None:
        client = self.at("/v1/renders/ren_1", Reply(body=render(), headers={"Retry-After": "3600"}))
        with self.assertRaisesRegex(lipsync.TimeoutError, "ren_1 was still processing after 60 s"):
            client.renders.wait("ren_1", timeout=60)
        self.assertEqual(self.time.pauses, [60])
        client = self.at("/v1/renders/ren_1", refusal(503, "service_unavailable", True, Retry_After="110"))
        with self.assertRaises(lipsync.ApiError):
            client.renders.wait("ren_1")
        self.assertEqual(self.time.pauses, [60, 110, 110])

    def test_holds_the_delivery_of_an_event(self) -> None:
        delivery = {"id": "evt_1", "status": "pending", "attempts": 2, "next_attempt_at": AT}
        client = self.at("/v1/webhooks/evt_1", Reply(body=delivery))
        self.assertEqual(client.webhooks.get("evt_1").attempts, 2)
