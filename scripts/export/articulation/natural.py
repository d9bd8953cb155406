"""Recordings of people, for validation only: VOICE/NAME.wav with the words in VOICE/NAME.txt, and music under `music`."""

from pathlib import Path

import numpy as np

from .alignment import aligned
from .corpus import Utterance
from .effects import mixed
from .spectrogram import RATE, log_mel, normalized
from .synthesizers import read_sound
from .trajectories import trajectories, units_of


def natural_speech(folder: Path, below: float | None = None) -> list:
    """What their voices say in English, with phones aligned; over music, so many decibels below, if that is given."""
    music = [read_sound(str(path)) for path in sorted(folder.glob("music/*.wav"))]
    utterances = []
    for i, path in enumerate(sorted(folder.glob("*/*.txt"))):
        audio = read_sound(str(path.with_suffix(".wav")))
        audio = audio[: len(audio) // 320 * 320]
        units = units_of(aligned(audio, path.read_text()), "arpabet")
        if below is not None:
            played = music[i % len(music)]
            audio = mixed(audio, np.resize(np.roll(played, -i * RATE), len(audio)), below)
        cues = trajectories(units, len(audio) / RATE)
        utterances.append(Utterance(path.parent.name, normalized(log_mel(audio)), cues, units))
    return utterances
