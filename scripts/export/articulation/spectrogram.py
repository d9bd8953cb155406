"""The network's input: Whisper's log-mel spectrogram relative to what is loud nearby, as `speech.ts` computes it."""

import numpy as np

#: Samples per second of all audio here.
RATE = 16_000
BANDS, WINDOW, HOP = 80, 400, 160
#: Log10 of the power that counts as loud even if everything is quieter: a vowel at −45 dB.
FAINTEST = -2.5
#: Orders of magnitude below what is loud (50 dB) that the network sees.
DEPTH = 5
#: Half the width of the window that defines what is loud, in steps of 20 ms.
REACH = 125


def log_mel(audio: np.ndarray) -> np.ndarray:
    """[80, samples / 160]: log10 of the power in each band, without Whisper's floor and scale."""
    padded = np.pad(audio, WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][: len(audio) // HOP]
    power = np.abs(np.fft.rfft(frames * HANN, axis=1)) ** 2
    return np.log10(np.maximum(1e-10, FILTERS @ power.T.astype(np.float32)))


def normalized(mel: np.ndarray) -> np.ndarray:
    """[80, 2 × steps] in [-1, 1]; 1 is the loudest value within 2.5 s, smoothed over as much."""
    loud = np.repeat(loudest_nearby(mel), 2)
    return (1 + (2 / DEPTH) * np.clip(mel[:, : loud.size] - loud, -DEPTH, 0)).astype(np.float32)


def loudest_nearby(mel: np.ndarray) -> np.ndarray:
    """Log10 of the power that counts as loud in each step."""
    steps = mel.shape[1] // 2
    level = mel[:, : 2 * steps].reshape(BANDS, steps, 2).max(axis=(0, 2))
    around = np.pad(level, REACH, constant_values=-np.inf)
    loudest = np.lib.stride_tricks.sliding_window_view(around, 2 * REACH + 1).max(1)
    window = np.ones(2 * REACH + 1)
    smooth = np.convolve(loudest, window)[REACH : REACH + steps] / np.convolve(np.ones(steps), window)[REACH : REACH + steps]
    return np.maximum(smooth, FAINTEST)


def mel_edges() -> np.ndarray:
    """Corners of the triangular bands in Hz, on Slaney's scale: linear below 1 kHz, logarithmic above."""
    top = 15 + np.log(8) / (np.log(6.4) / 27)
    mels = np.linspace(0, top, BANDS + 2)
    return np.where(mels >= 15, 1000 * np.exp(np.log(6.4) / 27 * (mels - 15)), mels * 200 / 3)


def mel_filters() -> np.ndarray:
    """[80, 201], each of unit area."""
    edges, hertz = mel_edges(), np.fft.rfftfreq(WINDOW, 1 / RATE)
    width, ramps = np.diff(edges), edges[:, None] - hertz[None]
    triangles = np.maximum(0, np.minimum(-ramps[:-2] / width[:-1, None], ramps[2:] / width[1:, None]))
    return (triangles * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


HANN = np.hanning(WINDOW + 1)[:-1].astype(np.float32)
FILTERS = mel_filters()
