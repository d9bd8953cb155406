"""The speech that `audio-encoder.graph.test.ts` checks the graph with: a sentence of a voice that training never heard."""

import json
from pathlib import Path

import numpy as np

from .corpus import with_pauses
from .spectrogram import BANDS, RATE, log_mel, normalized
from .synthesizers import festival
from .trajectories import units_of

TEXT = "My baby's problem is five apples. Bob may move the hot beef soup, we all feel very calm."
#: Range of Whisper's scale, (log10 of the power + 4) / 4, which the bytes 0 to 255 stand for.
RANGE = (-1.5, 1.0)
SEGMENT = 3000


def write_fixture(folder: Path, cues_of) -> None:
    """`speech.mel`, bytes [80, frames]; `speech.json`, what is said when, and what the network hears in some steps."""
    audio, phones = festival(TEXT, "ked_diphone", 1.1)
    audio, units = with_pauses(audio, units_of(phones, "arpabet"), 0.6, 0.6)
    mel = log_mel(0.5 * audio / np.abs(audio).max())
    scale = (RANGE[1] - RANGE[0]) / 255
    stored = np.round(((np.maximum(mel, mel.max() - 8) + 4) / 4 - RANGE[0]) / scale).clip(0, 255).astype(np.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "speech.mel").write_bytes(stored.tobytes())

    # As the graph sees it: a segment of 30 s, silence after the end.
    segment = np.full((BANDS, SEGMENT), -10.0, np.float32)
    segment[:, : stored.shape[1]] = (stored * scale + RANGE[0]) * 4 - 4
    cues = cues_of(normalized(segment))
    described = {
        "text": TEXT,
        "frames": stored.shape[1],
        "range": RANGE,
        "units": [[kind, round(start, 3), round(end, 3), jaw] for start, end, (kind, jaw, _, _) in units],
        "heard": [[step, *(round(float(cue), 4) for cue in cues[step])] for step in range(5, stored.shape[1] // 2, 10)],
    }
    (folder / "speech.json").write_text(json.dumps(described) + "\n")
