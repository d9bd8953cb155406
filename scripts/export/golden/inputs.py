"""Pictures, sound and a mask computed from formulas that the tests repeat."""

from pathlib import Path

import numpy as np

SAMPLE_RATE = 16_000


def picture(frame: int, side: int) -> np.ndarray:
    """An 8-bit RGB picture [side, side, 3] that differs from frame to frame."""
    element = np.arange(3 * side * side, dtype=np.float64).reshape(3, side, side)
    channels = np.floor(127.5 + 110 * np.sin(0.05 * element + 0.7 * frame) + 0.5)
    return channels.transpose(1, 2, 0).astype(np.uint8)


def normalized(frame: int, side: int) -> np.ndarray:
    """The picture as float32 [3, side, side] in [-1, 1]."""
    return (picture(frame, side).transpose(2, 0, 1) / 127.5 - 1).astype(np.float32)


def sound(seconds: float) -> np.ndarray:
    """Two tones that swell and fade, mono, 16 kHz, float32."""
    n = np.arange(round(seconds * SAMPLE_RATE), dtype=np.float64)
    tones = 0.5 * np.sin(2 * np.pi * 440 * n / SAMPLE_RATE) + 0.25 * np.sin(2 * np.pi * 1500 * n / SAMPLE_RATE)
    return (tones * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * n / SAMPLE_RATE))).astype(np.float32)


def mask_picture(side: int) -> np.ndarray:
    """
    A black half-ellipse in the lower part of a white square, in the size of the networks' pictures: resizing is not
    what they are meant to test.
    """
    y, x = np.mgrid[0:side, 0:side] / side
    generated = (((x - 0.5) / 0.4) ** 2 + ((y - 0.55) / 0.4) ** 2 < 1) & (y > 0.4)
    return np.where(generated, 0, 255).astype(np.uint8)


def write_mask(path: Path, side: int) -> None:
    import cv2

    cv2.imwrite(str(path), np.repeat(mask_picture(side)[..., None], 3, axis=2))
