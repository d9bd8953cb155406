"""A service and its store that answer what a test says, and a clock that only pauses move."""

from __future__ import annotations

import json
import socket
import time
import unittest
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from unittest import mock

from lipsync import LipSync

KEY = "svc_" + "0f" * 32
AT = "2026-01-01T00:00:00.000Z"
FUTURE = "2999-01-01T00:00:00.000Z"


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None
    """More bytes than there are: the connection breaks after those of the body."""


CUT = Reply(0)
"""The connection breaks without an answer."""


@dataclass(frozen=True)
class Received:
    name: str
    """`METHOD /path`."""
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Script = Mapping[str, list[Reply | Callable[[Received], Reply]]]


class ScriptedServer:
    """Answers each `METHOD /path` with its replies in turn; the last one stays."""

    def __init__(self, script: Callable[[str], Script]) -> None:
        self.requests: list[Received] = []
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.title(): value for name, value in self.headers.items()}
                received = Received(f"{self.command} {self.path}", headers, body)
                scripted.requests.append(received)
                reply = scripted.next_reply(received)
                if reply is CUT:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in {
                    "Content-Length": str(reply.announced or len(data)),
                    **reply.headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                # Whoever has seen enough of an answer hangs up.
                with suppress(ConnectionError):
                    self.wfile.write(data)

            do_GET = do_POST = do_PUT = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        self._replies = script(self.base)
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def next_reply(self, received: Received) -> Reply:
        replies = self._replies.get(received.name, [Reply(404)])
        reply = replies[min(len(self.named(received.name)), len(replies)) - 1]
        return reply if isinstance(reply, Reply) else reply(received)

    def named(self, name: str) -> list[Received]:
        return [request for request in self.requests if request.name == name]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class FakeTime:
    """Stands in for the module `time`."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.passed += seconds

    time = staticmethod(time.time)


class ServiceTest(unittest.TestCase):
    """No pause takes time, and none is added by chance."""

    server: ScriptedServer

    def setUp(self) -> None:
        self.time = FakeTime()
        self.random = self.replace("lipsync._retry.random.random", mock.Mock(return_value=0))
        for module in ("_retry", "_watch", "_transport"):
            self.replace(f"lipsync.{module}.time", self.time)

    def replace(self, name: str, value: Any) -> Any:
        patch = mock.patch(name, value)
        self.addCleanup(patch.stop)
        return patch.start()

    def start(self, script: Callable[[str], Script], **options: Any) -> LipSync:
        self.server = ScriptedServer(script)
        self.addCleanup(self.server.close)
        return LipSync(api_key=KEY, base_url=f"{self.server.base}/", **options)


def refusal(status: int, code: str, retryable: bool, **headers: str) -> Reply:
    body = {"error": {"code": code, "message": "For a person.", "retryable": retryable}}
    return Reply(
        status, body, {"X-Request-Id": "req-1", **{k.replace("_", "-"): v for k, v in headers.items()}}
    )


def render(**fields: object) -> dict[str, Any]:
    """A render as the service answers it, at its address in the contract's example."""
    return {
        "id": "ren_1",
        "status": "processing",
        "stage": "rendering",
        "progress_percent": 40,
        "video_asset_id": "ast_v",
        "audio_asset_id": "ast_a",
        "sync_mode": "cut_off",
        "engines": [],
        "created_at": AT,
        "updated_at": AT,
        "expires_at": AT,
        "status_url": "https://api.example.com/v1/renders/ren_1",
        **fields,
    }


def completed(url: str, expires_at: str = FUTURE) -> dict[str, Any]:
    engine = {
        "engine": "musetalk",
        "status": "completed",
        "stage": "completed",
        "progress_percent": 100,
        "usage": {"rendered_frames": 216, "gpu_inference_seconds": None},
        "output": {"url": url, "expires_at": expires_at},
    }
    return render(status="completed", stage="completed", progress_percent=100, engines=[engine])


def upload(base: str, upload_id: str, size: int, expires_at: str = FUTURE) -> Reply:
    return Reply(
        201,
        {
            "id": upload_id,
            "asset_id": f"ast_of_{upload_id}",
            "status": "awaiting_upload",
            "upload_url": f"{base}/store/{upload_id}",
            "expires_at": expires_at,
            "method": "PUT",
            "required_headers": {"Content-Type": "video/mp4", "Content-Length": str(size)},
            "complete_url": f"{base}/v1/uploads/{upload_id}/complete",
        },
    )


def asset(asset_id: str, status: str = "pending", **fields: object) -> dict[str, Any]:
    media = {"size_bytes": 3, "duration_seconds": 0, "codec": "unknown"}
    times = {"created_at": AT, "expires_at": AT}
    return {
        "id": asset_id,
        "media_type": "video",
        "status": status,
        "stage": status,
        "media": media,
        **times,
        **fields,
    }
