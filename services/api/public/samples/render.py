"""python3 render.py talk.mp4 voice.wav result.mp4"""

import json
import os
import shutil
import sys
import time
import urllib.request
import uuid

BASE_URL = os.environ["LIPSYNC_BASE_URL"]


def call(method, url, body=None, **headers):
    """One request to the service: its answer, and after how many seconds to ask again."""
    data = None if body is None else json.dumps(body).encode()
    headers["Authorization"] = "Bearer " + os.environ["LIPSYNC_API_KEY"]
    if data is not None:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer), float(answer.headers.get("Retry-After", 2))


def upload(path, media_type, content_type):
    """Uploads a file and returns its asset, whose checks go on in the background."""
    size = os.path.getsize(path)
    wanted = {"media_type": media_type, "content_type": content_type, "size_bytes": size}
    created, _ = call("POST", BASE_URL + "/v1/uploads", wanted)
    with open(path, "rb") as file:
        put = urllib.request.Request(created["upload_url"], file, created["required_headers"], method="PUT")
        urllib.request.urlopen(put).close()
    call("POST", created["complete_url"])
    return {"asset_id": created["asset_id"]}


video, voice, result = sys.argv[1:]
request = {
    "video": upload(video, "video", "video/mp4"),
    "audio": upload(voice, "audio", "audio/wav"),
    "engines": ["musetalk"],
    "sync_mode": "cut_off",
}
# With this key the request can be sent again without rendering twice.
render, _ = call("POST", BASE_URL + "/v1/renders", request, **{"Idempotency-Key": str(uuid.uuid4())})
while render["status"] in ("accepted", "processing"):
    render, pause = call("GET", render["status_url"])
    print(render["stage"], render["progress_percent"], "%")
    if render["status"] in ("accepted", "processing"):
        time.sleep(pause)
if render["status"] != "completed":
    sys.exit(str(render.get("error", render["status"])))
with urllib.request.urlopen(render["engines"][0]["output"]["url"]) as output, open(result, "wb") as file:
    shutil.copyfileobj(output, file)
