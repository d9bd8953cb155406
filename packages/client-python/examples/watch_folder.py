"""A worker that renders every pair of files that appears in a folder: NAME.mp4 and NAME.wav become NAME.lipsync.mp4.

    python3 watch_folder.py FOLDER            goes on until it is stopped
    python3 watch_folder.py FOLDER --once     for cron: ends when everything that is there has been rendered

It reads LIPSYNC_BASE_URL and LIPSYNC_API_KEY. It may be stopped at any time, and nothing is rendered twice:
NAME.job.json notes what was uploaded, and an idempotency key that names the same render whenever it is asked for again.
What fails for good leaves NAME.failed.txt, which says why; delete it to try again.
"""

import json
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lipsync import ApiError, LipSync, LipSyncError, RenderCancelled, RenderFailed

AT_ONCE = 4
PAUSE_SECONDS = 5
# A file that was written to less than so many seconds ago may still be growing.
SETTLED_SECONDS = 3
# What a job names is gone: the next pass uploads it again.
GONE = ("asset_expired", "asset_not_found", "render_expired", "upload_expired")

client = LipSync()


def waiting(folder: Path) -> list[Path]:
    """The videos that have a voice and no result."""
    return [video for video in sorted(folder.glob("*.mp4")) if is_waiting(video)]


def is_waiting(video: Path) -> bool:
    voice = video.with_suffix(".wav")
    if ".lipsync" in video.suffixes or not voice.exists() or reason(video).exists() or result(video).exists():
        return False
    return time.time() - max(video.stat().st_mtime, voice.stat().st_mtime) > SETTLED_SECONDS


def render(video: Path) -> None:
    job_file = video.with_suffix(".job.json")
    try:
        job = json.loads(job_file.read_text()) if job_file.exists() else upload(video, job_file)
        started = client.renders.create(**job, engines=["musetalk"], sync_mode="cut_off")
        print(f"{video.name}: {started.id}", flush=True)
        completed = client.renders.wait(started)
        client.outputs.download(completed, "musetalk", result(video))
        print(f"{video.name}: {result(video).name}", flush=True)
        job_file.unlink()
    except (LipSyncError, OSError) as error:
        print(f"{video.name}: {error}", file=sys.stderr, flush=True)
        if is_final(error):
            reason(video).write_text(f"{error}\n")
        if is_final(error) or (isinstance(error, ApiError) and error.code in GONE):
            job_file.unlink(missing_ok=True)


def is_final(error: Exception) -> bool:
    """After anything else, such as an outage or an unreadable file, the next pass goes on where this one stopped."""
    if isinstance(error, ApiError):
        return not error.retryable and error.code not in GONE
    return isinstance(error, (RenderFailed, RenderCancelled))


def upload(video: Path, job_file: Path) -> dict[str, str]:
    """What the request is made of, noted before it is sent, so that it is the same after a restart."""
    voice = client.uploads.create(video.with_suffix(".wav"), media_type="audio")
    face = client.uploads.create(video, media_type="video")
    job = {"video": face.id, "audio": voice.id, "idempotency_key": str(uuid.uuid4())}
    part = job_file.with_suffix(".part")
    part.write_text(json.dumps(job))
    # Appears as a whole: half of it would keep the worker from starting again.
    part.replace(job_file)
    return job


def result(video: Path) -> Path:
    return video.with_suffix(".lipsync.mp4")


def reason(video: Path) -> Path:
    return video.with_suffix(".failed.txt")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with ThreadPoolExecutor(AT_ONCE) as workers:
        while True:
            # A client can be shared by threads.
            list(workers.map(render, waiting(folder)))
            if "--once" in sys.argv:
                break
            time.sleep(PAUSE_SECONDS)
