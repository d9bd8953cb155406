"""python3 render.py talk.mp4 voice.wav result.mp4"""

import sys

from lipsync import LipSync

video, voice, result = sys.argv[1:]
client = LipSync()  # reads LIPSYNC_BASE_URL and LIPSYNC_API_KEY
render = client.renders.create(
    video=video,  # a path, an open file, bytes, an https address or an asset
    audio=voice,
    engines=["musetalk"],
    sync_mode="cut_off",
)
completed = client.renders.wait(
    render, on_change=lambda state: print(state.stage, state.progress_percent, "%")
)
client.outputs.download(completed, "musetalk", result)
