"""What happens to speech on its way to a file: manners of speaking, rooms, microphones, other sounds, codecs."""

import random
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.signal import butter, fftconvolve, sosfilt

from .music import accompaniment
from .spectrogram import RATE


def degraded(audio: np.ndarray, r: random.Random, others: list) -> np.ndarray:
    """By each of the effects or not, and at any level. `others`: other voices."""
    audio = at_full_scale(audio)
    for effect, probability in EFFECTS.items():
        if r.random() < probability:
            audio = effect(audio, r, others)
    return at_full_scale(audio) * 10 ** (-r.uniform(0, 40) / 20)


def with_breath(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    """Noise that rises and falls with the voice, mostly high up."""
    breath = filtered(noise_like(audio, r), "high", r.uniform(500, 3000))
    return audio + breath * loudness(audio, 0.02) * 10 ** (-r.uniform(8, 24) / 20)


def swaying(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    """Louder and softer, brighter and darker from syllable to syllable, as people are and synthesizers are not."""
    dark = filtered(audio, "low", r.uniform(700, 2500))
    gain, tilt = (10 ** (slow(len(audio), r, depth) / 20) for depth in (r.uniform(0, 8), r.uniform(0, 8)))
    return at_full_scale(gain * (tilt * dark + (audio - dark)))


def smeared(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    """Silent closures that are not quite silent: what was said a moment ago goes on, as with lax or hurried lips."""
    count = int(RATE * r.uniform(0.02, 0.05))
    tail = np.random.default_rng(r.randrange(1 << 32)).standard_normal(count) * np.linspace(1, 0, count) ** 2
    return mixed(audio, fftconvolve(audio, tail)[: len(audio)], r.uniform(8, 20))


def in_a_room(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    generator = np.random.default_rng(r.randrange(1 << 32))
    count = int(RATE * r.uniform(0.05, 0.6))
    echo = generator.standard_normal(count) * np.exp(-np.arange(count) / (count / 5))
    echo = filtered(echo, "low", r.uniform(1500, 7000))
    echo[: r.randint(1, 80)] = 0
    return mixed(audio, fftconvolve(audio, echo)[: len(audio)], r.uniform(-2, 15))


def by_telephone(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    band = r.choice([(250, 3400), (300, 3400), (100, 4000), (60, 6500), (200, 5000)])
    return sosfilt(butter(4, band, "band", fs=RATE, output="sos"), audio)


def equalized(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    return 0.7 * filtered(audio, r.choice(["low", "high"]), r.uniform(300, 3000)) + 0.5 * audio


def compressed(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    """What is soft comes nearer to what is loud, as in advertisements and broadcasts."""
    level = np.maximum(loudness(audio, r.uniform(0.01, 0.08)), 1e-3)
    return at_full_scale(audio * level ** (1 / r.uniform(1.5, 5) - 1))


def overdriven(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    return np.tanh(audio * r.uniform(2, 8))


def in_noise(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    noise = noise_like(audio, r)
    if r.random() < 0.6:
        noise = filtered(noise, "low", r.uniform(60, 1500))
    if r.random() < 0.3:
        noise = noise * 10 ** (slow(len(audio), r, 12) / 20)
    return mixed(audio, noise, r.uniform(5, 35))


def over_music(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    return mixed(audio, accompaniment(len(audio), r), r.uniform(0, 25))


def among_others(audio: np.ndarray, r: random.Random, others: list) -> np.ndarray:
    """Somebody else speaks in the background."""
    if not others:
        return audio
    other = r.choice(others) / 32768
    return mixed(audio, np.roll(np.resize(other, len(audio)), r.randrange(len(audio))), r.uniform(8, 25))


def through_8_bits(audio: np.ndarray, *_) -> np.ndarray:
    """µ-law, as on telephones."""
    audio = at_full_scale(audio)
    coded = np.round(np.sign(audio) * np.log1p(255 * np.abs(audio)) / np.log(256) * 127) / 127
    return np.sign(coded) * np.expm1(np.abs(coded) * np.log(256)) / 255


def through_a_codec(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    suffix, *options = r.choice(CODECS)
    pcm = ["-f", "s16le", "-ar", str(RATE), "-ac", "1"]
    run = lambda *arguments, **given: subprocess.run(
        ["ffmpeg", "-v", "error", "-y", *arguments], check=True, capture_output=True, **given
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        coded = Path(folder, f"speech.{suffix}")
        run(*pcm, "-i", "-", *options, coded, input=(at_full_scale(audio) * 32767).astype("<i2").tobytes())
        decoded = np.frombuffer(run("-i", coded, *pcm, "-"), "<i2").astype(np.float32) / 32768
    return np.pad(decoded, (0, max(0, len(audio) - len(decoded))))[: len(audio)]


#: All of them start where their source starts.
CODECS = [
    ("mp3", "-c:a", "libmp3lame", "-b:a", "24k"),
    ("mp3", "-c:a", "libmp3lame", "-b:a", "40k"),
    ("ogg", "-c:a", "libopus", "-b:a", "8k"),
    ("ogg", "-c:a", "libopus", "-b:a", "16k"),
    ("m4a", "-c:a", "aac", "-b:a", "20k"),
    ("m4a", "-c:a", "aac", "-b:a", "32k"),
]
EFFECTS = {
    swaying: 0.5,
    with_breath: 0.3,
    smeared: 0.25,
    among_others: 0.1,
    in_a_room: 0.35,
    over_music: 0.25,
    in_noise: 0.4,
    equalized: 0.4,
    compressed: 0.2,
    overdriven: 0.1,
    by_telephone: 0.15,
    through_8_bits: 0.05,
    through_a_codec: 0.08,
}


def at_full_scale(audio: np.ndarray) -> np.ndarray:
    return audio / max(1e-3, np.abs(audio).max())


def mixed(audio: np.ndarray, other: np.ndarray, decibels: float) -> np.ndarray:
    """With `other` so far below."""
    return audio + other / (other.std() + 1e-9) * audio.std() * 10 ** (-decibels / 20)


def filtered(audio: np.ndarray, side: str, hertz: float) -> np.ndarray:
    return sosfilt(butter(1, hertz, side, fs=RATE, output="sos"), audio)


def noise_like(audio: np.ndarray, r: random.Random) -> np.ndarray:
    return np.random.default_rng(r.randrange(1 << 32)).standard_normal(len(audio))


def loudness(audio: np.ndarray, seconds: float) -> np.ndarray:
    return np.sqrt(np.maximum(0, uniform_filter1d(audio**2, max(1, int(seconds * RATE)))))


def slow(count: int, r: random.Random, depth: float) -> np.ndarray:
    """Wanders between −depth and depth, a few times per second."""
    points = np.random.default_rng(r.randrange(1 << 32)).uniform(-depth, depth, 2 + count * 5 // RATE)
    return np.interp(np.arange(count), np.linspace(0, count, len(points)), points)


CONDITIONS = {
    "any": degraded,
    "clean": lambda audio, r, others: audio,
    "room": in_a_room,
    "telephone": lambda audio, r, others: through_8_bits(
        sosfilt(butter(4, (300, 3400), "band", fs=RATE, output="sos"), audio)
    ),
    "noise": lambda audio, r, others: mixed(audio, noise_like(audio, r), 10),
    "music": lambda audio, r, others: mixed(audio, accompaniment(len(audio), r), 10),
    "clipping": lambda audio, r, others: np.clip(at_full_scale(audio), -0.1, 0.1),
}
