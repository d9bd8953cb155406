"""Pictures and sound computed from formulas that the tests repeat."""

import numpy as np

SAMPLE_RATE = 16_000


def picture(frame: int, side: int) -> np.ndarray:
    """An 8-bit RGB picture [side, side, 3] that differs from frame to frame."""
    element = np.arange(3 * side * side, dtype=np.float64).reshape(3, side, side)
    channels = np.floor(127.5 + 110 * np.sin(0.05 * element + 0.7 * frame) + 0.5)
    return channels.transpose(1, 2, 0).astype(np.uint8)


def normalised(frame: int, side: int) -> np.ndarray:
    """The picture as float32 [3, side, side] in [-1, 1]."""
    return (picture(frame, side).transpose(2, 0, 1) / 127.5 - 1).astype(np.float32)


def sound(seconds: float) -> np.ndarray:
    """Two tones that swell and fade, mono, 16 kHz, float32."""
    n = np.arange(round(seconds * SAMPLE_RATE), dtype=np.float64)
    tones = 0.5 * np.sin(2 * np.pi * 440 * n / SAMPLE_RATE) + 0.25 * np.sin(2 * np.pi * 1500 * n / SAMPLE_RATE)
    return (tones * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * n / SAMPLE_RATE))).astype(np.float32)
