"""What formulas hear in the same spectrogram: the baseline."""

import numpy as np
from scipy.ndimage import maximum_filter1d

from .spectrogram import DEPTH, mel_edges
from .trajectories import CUES


def analytic_cues(mel: np.ndarray) -> np.ndarray:
    """[steps, 5] of a normalized spectrogram [80, 2 × steps]."""
    level = (mel.astype(np.float32) - 1) * (DEPTH / 2)
    power = (10**level).reshape(level.shape[0], -1, 2).mean(2)
    low, first, back, front, high = (np.sqrt(weights @ power) for weights in BAND_WEIGHTS)
    voice = 0.7 * first + 0.3 * (low + back + front)
    loud = max(np.percentile(voice, 97), 1e-3)
    relative = np.clip(voice / loud, 0, 1)
    opening = ramp(relative**0.6, 0.16, 0.95)
    tilt = (front - 0.25 * back) / (front + 0.25 * back + 0.02 * loud)
    voiced = ramp(relative, 0.05, 0.2)

    # A closure is a gap within speech, or a murmur: voiced low down and nearly silent above. Lips rather than tongue if
    # what follows starts with the formants of a labial, low ones.
    decibels = 20 * np.log10(voice / loud + 1e-3)
    speech_around = np.minimum(before(decibels), after(decibels))
    gap = ramp(-decibels, 18, 30) * ramp(speech_around, -20, -10)
    murmur = ramp(np.log10((low + 1e-4 * loud) / (first + front + 1e-4 * loud)), -0.3, 0.3) * ramp(low / loud, 0.03, 0.1)
    labial = ramp(-after(tilt, 4), -0.5, 0.3)
    closure = np.maximum(gap, murmur) * labial
    noisy = ramp(np.log10((high + 1e-4 * loud) / (first + 1e-4 * loud)), -0.3, 0.5)
    # f is fainter than s and not as high.
    dental = noisy * ramp(-20 * np.log10(high / loud + 1e-3), 8, 20)
    return np.stack([closure, opening, ramp(-tilt, 0.1, 0.8) * voiced, ramp(tilt, 0, 0.6) * voiced, dental], 1)


def ramp(value: np.ndarray, start: float, end: float) -> np.ndarray:
    return np.clip((value - start) / (end - start), 0, 1)


def before(value: np.ndarray, steps: int = 7) -> np.ndarray:
    """The maximum of the previous steps."""
    return maximum_filter1d(value, steps, origin=steps // 2, mode="nearest")


def after(value: np.ndarray, steps: int = 7) -> np.ndarray:
    return maximum_filter1d(value, steps, origin=-(steps // 2), mode="nearest")


def band_weights(low: float, high: float) -> np.ndarray:
    """Energy between two frequencies. Mel filters have unit area, so each counts with its width."""
    edges = mel_edges()
    inside = np.minimum((edges[1:-1] - low) / 100, (high - edges[1:-1]) / 200)
    return np.clip(inside, 0, 1) * (edges[2:] - edges[:-2]) / 80


BAND_WEIGHTS = [band_weights(*band) for band in ((60, 450), (300, 1400), (400, 1100), (1700, 3200), (3500, 8000))]
assert len(CUES) == 5
