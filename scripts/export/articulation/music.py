"""Music, composed by chance: tones made by formulas, and bands of instruments that fluidsynth plays."""

import random
import struct
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from .spectrogram import RATE

#: Debian's package `timgm6mb-soundfont`.
INSTRUMENTS = "/usr/share/sounds/sf2/TimGM6mb.sf2"
PIECES = 80
TICKS, BEATS = 480, 48
MAJOR, MINOR = (0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10)
#: General MIDI: what may play the tune, the chords and the bass.
TUNE = (0, 11, 24, 26, 40, 56, 61, 65, 71, 73, 80, 81, 52, 53)
CHORDS = (0, 4, 16, 19, 25, 27, 29, 48, 50, 61, 88, 89, 91)
BASS = (32, 33, 35, 38, 39, 43)
DRUM_CHANNEL, KICK, SNARE, HAT, CLAP, CYMBAL = 9, 36, 38, 42, 39, 49


def accompaniment(count: int, r: random.Random) -> np.ndarray:
    """Music of so many samples."""
    if r.random() < 0.35:
        return r.choice([plucked, organ, drums])(np.arange(count) / RATE, r)
    played = piece(r.randrange(PIECES))
    start = r.randrange(max(1, len(played) - count))
    return np.resize(played[start:], count)


@cache
def piece(number: int) -> np.ndarray:
    r = random.Random(f"piece {number}")
    with tempfile.TemporaryDirectory() as folder:
        score, sound = Path(folder, "piece.mid"), Path(folder, "piece.raw")
        score.write_bytes(composed(r))
        command = ["fluidsynth", "-ni", "-g", "0.5", "-r", str(RATE), "-O", "float", "-T", "raw", "-F", sound]
        subprocess.run([*command, INSTRUMENTS, score], capture_output=True, check=True)
        played = np.fromfile(sound, "<f4").reshape(-1, 2).mean(1)
    return played[int(0.3 * RATE) :].astype(np.float32)


def composed(r: random.Random) -> bytes:
    """A MIDI file: four chords in turn, a bass, a tune and drums, each there or not."""
    key, scale, tempo = r.randint(45, 56), r.choice([MAJOR, MINOR]), r.uniform(70, 150)
    pitch = lambda step: key + 12 * (step // 7) + scale[step % 7]
    progression = [r.choice([0, 3, 4, 5, 1, 2]) for _ in range(4)]
    events = []

    def play(channel: int, note: int, beat: float, beats: float, strength: int) -> None:
        at, loudness = int(beat * TICKS), max(1, min(127, strength + r.randint(-12, 12)))
        events.append((at, 1, bytes([0x90 | channel, note, loudness])))
        events.append((at + max(1, int(beats * TICKS)), 0, bytes([0x80 | channel, note, 0])))

    parts = {part: r.random() < chance for part, chance in {"drums": 0.65, "bass": 0.75, "tune": 0.7}.items()}
    for channel, players in enumerate((CHORDS, BASS, TUNE)):
        events.append((0, 0, bytes([0xC0 | channel, r.choice(players)])))
    strum, walk, density = r.choice([0.5, 1, 2, 4]), r.choice([0.5, 1, 2]), r.choice([0.25, 0.5, 0.5, 1])
    beat_of_snare, hats, step = r.choice([SNARE, CLAP]), r.choice([0.25, 0.5, 1]), 7
    for bar in range(BEATS // 4):
        root = progression[bar % 4]
        for beat in np.arange(0, 4, strum):
            for third in (0, 2, 4):
                play(0, pitch(root + third), 4 * bar + beat, 0.95 * strum, 75)
        for beat in np.arange(0, 4, walk) if parts["bass"] else ():
            play(1, pitch(root + r.choice([0, 0, 0, 4])) - 12, 4 * bar + beat, 0.9 * walk, 90)
        for beat in np.arange(0, 4, density) if parts["tune"] else ():
            step = max(5, min(18, step + r.choice([-2, -1, -1, 0, 1, 1, 2])))
            if r.random() < 0.7:
                play(2, pitch(step), 4 * bar + beat, r.choice([0.5, 1, 1.5]) * density, 90)
        for beat in np.arange(0, 4, hats) if parts["drums"] else ():
            play(DRUM_CHANNEL, HAT, 4 * bar + beat, 0.1, 70)
            if beat % 2 == 0 or r.random() < 0.15:
                play(DRUM_CHANNEL, KICK, 4 * bar + beat, 0.1, 105)
            if beat % 2 == 1:
                play(DRUM_CHANNEL, beat_of_snare, 4 * bar + beat, 0.1, 100)
        if parts["drums"] and bar % 4 == 0:
            play(DRUM_CHANNEL, CYMBAL, 4 * bar, 0.5, 90)

    track, now = b"\0\xff\x51\x03" + struct.pack(">I", int(6e7 / tempo))[1:], 0
    for at, _, message in sorted(events):
        track += variable_length(at - now) + message
        now = at
    track += b"\0\xff\x2f\0"
    return b"MThd" + struct.pack(">IHHH", 6, 0, 1, TICKS) + b"MTrk" + struct.pack(">I", len(track)) + track


def variable_length(value: int) -> bytes:
    """A number in bytes of seven bits, all but the last with the eighth bit set."""
    digits = [value & 127]
    while value := value >> 7:
        digits.append(value & 127 | 128)
    return bytes(reversed(digits))


def plucked(time: np.ndarray, r: random.Random) -> np.ndarray:
    """Chords of plucked and bowed notes."""
    sound, decay, brightness = np.zeros(len(time)), r.uniform(0.08, 1.5), r.uniform(0.7, 2)
    for start in np.arange(0, len(time) / RATE, r.uniform(0.12, 0.6)):
        since = time - start
        envelope = np.clip(since / 0.01, 0, 1) * np.exp(-np.maximum(0, since) / decay)
        for _ in range(r.randint(1, 4)):
            hertz = 55 * 2 ** (r.randint(0, 48) / 12)
            for harmonic in range(1, 8):
                if hertz * harmonic < RATE / 2:
                    phase = 2 * np.pi * hertz * harmonic * since + 6 * r.random()
                    sound += envelope * np.sin(phase) / harmonic**brightness
    return sound


def organ(time: np.ndarray, r: random.Random) -> np.ndarray:
    """Chords that last, with or without tremolo."""
    sound, brightness, length = np.zeros(len(time)), r.uniform(0.5, 2), r.uniform(0.5, 6)
    for start in np.arange(0, len(time) / RATE, length):
        held = np.clip((time - start) / 0.02, 0, 1) * np.clip((start + length - time) / 0.02, 0, 1)
        held = held * swell(time, r.choice([0, 0.3]), r.uniform(3, 7))
        for _ in range(r.randint(1, 4)):
            hertz = 55 * 2 ** (r.randint(0, 48) / 12)
            for harmonic in range(1, 12):
                if hertz * harmonic < RATE / 2:
                    sound += held * np.sin(2 * np.pi * hertz * harmonic * time + 6 * r.random()) / harmonic**brightness
    return sound


def drums(time: np.ndarray, r: random.Random) -> np.ndarray:
    noise = np.random.default_rng(r.randrange(1 << 32)).standard_normal(len(time))
    sound, every = np.zeros(len(time)), r.uniform(0.1, 0.5)
    for start in np.arange(0, len(time) / RATE, every):
        beat = 3 * np.sin(2 * np.pi * r.uniform(50, 150) * time) if r.random() < 0.4 else noise
        sound += beat * (time >= start) * np.exp(-np.maximum(0, time - start) / r.uniform(0.02, 0.15))
    return sound


def swell(time: np.ndarray, depth: float, hertz: float) -> np.ndarray:
    return 1 + depth * np.sin(2 * np.pi * hertz * time)
