from __future__ import annotations

import io
import os
import re
import time
import unittest
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

from test_webhooks import BODY, SECRET, sent

README = Path(__file__).parent.parent / "README.md"


def sample(name: str) -> dict[str, Any]:
    """What the sample of this name defines."""
    [code] = re.findall(
        rf"^```python {name}\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    # Frameworks look for the annotations of a function in its module.
    defined: dict[str, Any] = {"__name__": name}
    exec(compile(code, name, "exec"), defined)  # noqa: S102
    return defined


def answers(post: Any) -> list[tuple[int, str]]:
    """To what the service sends, and to another body."""
    headers = sent(at=int(time.time()))
    with mock.patch.dict(os.environ, LIPSYNC_WEBHOOK_SECRET=SECRET), redirect_stdout(io.StringIO()):
        responses = [post(BODY.encode(), headers), post(BODY.encode() + b" ", headers)]
    return [(response.status_code, response.text) for response in responses]


class Frameworks(unittest.TestCase):
    """Skipped by name where they are not installed."""

    @unittest.skipUnless(find_spec("flask"), "there is no flask")
    def test_flask_accepts_what_the_service_signs_and_refuses_the_rest(self) -> None:
        client = sample("flask")["app"].test_client()

        def post(body: bytes, headers: dict[str, str]) -> Any:
            return client.post("/webhooks", data=body, headers=headers)

        self.assertEqual(answers(post), [(204, ""), (400, "wrong_signature")])

    @unittest.skipUnless(find_spec("fastapi") and find_spec("httpx"), "there is no fastapi with httpx")
    def test_fastapi_accepts_what_the_service_signs_and_refuses_the_rest(self) -> None:
        from fastapi.testclient import TestClient

        client = TestClient(sample("fastapi")["app"])

        def post(body: bytes, headers: dict[str, str]) -> Any:
            return client.post("/webhooks", content=body, headers=headers)

        self.assertEqual(answers(post), [(204, ""), (400, "wrong_signature")])
