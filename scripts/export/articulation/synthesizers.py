"""Speech with the time of each phone, from espeak-ng, flite and festival."""

import ctypes
import re
import subprocess
import tempfile
import wave
from functools import cache
from math import gcd
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.signal import resample_poly

from .spectrogram import RATE


class Phone(NamedTuple):
    """Times in seconds. `release` is when the lips or the tongue part again; what follows is burst and breath."""

    symbol: str
    start: float
    release: float
    end: float


#: espeak-ng's event for a voiceless stop comes with its burst. The silence of its closure lies before.
ESPEAK_HOLD = 0.04
#: Share of a voiceless stop that its closure takes in segments of flite and festival; burst and breath take the rest.
HELD_SHARE = 0.67
#: Other closures end this long before the next phone's time.
BURST = 0.012


def flite(text: str, voice: str, stretch: float) -> tuple:
    with tempfile.TemporaryDirectory() as folder:
        sound = f"{folder}/speech.wav"
        command = ["flite", "-voice", voice, "--setf", f"duration_stretch={stretch}", "-psdur", "-t", text, "-o", sound]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        ends = [(symbol, float(end)) for symbol, end in re.findall(r"(\w+):([\d.]+)", printed)]
        return read_sound(sound), phones_between(ends)


def festival(text: str, voice: str, stretch: float) -> tuple:
    with tempfile.TemporaryDirectory() as folder:
        sound, segments = f"{folder}/speech.wav", f"{folder}/speech.segments"
        commands = f"""
            (voice_{voice}) (Parameter.set 'Duration_Stretch {stretch})
            (set! u (Utterance Text "{text}")) (utt.synth u)
            (utt.save.wave u "{sound}" 'riff) (utt.save.segs u "{segments}")"""
        subprocess.run(["festival", "--batch", f"(begin {commands})"], capture_output=True, check=True)
        rows = re.findall(r"^\s*([\d.]+)\s+\d+\s+(\S+)", Path(segments).read_text(), re.MULTILINE)
        return read_sound(sound), phones_between([(symbol, float(end)) for end, symbol in rows])


def pico(text: str, voice: str) -> np.ndarray:
    """It does not tell the times."""
    with tempfile.TemporaryDirectory() as folder:
        sound = f"{folder}/speech.wav"
        subprocess.run(["pico2wave", "-l", voice, "-w", sound, text], capture_output=True, check=True)
        return read_sound(sound)


def phones_between(ends: list) -> list:
    phones, start = [], 0.0
    for symbol, end in ends:
        if end > start:
            held = HELD_SHARE * (end - start) if symbol.startswith("p") and symbol != "pau" else end - start - BURST
            phones.append(Phone(symbol, start, start + max(held, 0.01), end))
        start = end
    return phones


def read_sound(path: str) -> np.ndarray:
    with wave.open(path) as sound:
        hertz, data = sound.getframerate(), sound.readframes(sound.getnframes())
    return at_rate(np.frombuffer(data, "<i2").astype(np.float32) / 32768, hertz)


def at_rate(audio: np.ndarray, hertz: int) -> np.ndarray:
    common = gcd(RATE, hertz)
    return resample_poly(audio, RATE // common, hertz // common).astype(np.float32)


def espeak(text: str, voice: str, rate: int, pitch: int, pitch_range: int) -> tuple:
    """Words per minute; pitch and its range from 0 to 100."""
    library, hertz = espeak_library()
    chunks, events = [], []

    def receive(samples, count, received) -> int:
        if samples and count > 0:
            chunks.append(np.ctypeslib.as_array(samples, (count,)).copy())
        position = 0
        while received[position].type != EVENT_LIST_END:
            event = received[position]
            if event.type == EVENT_PHONEME:
                events.append((event.sample / hertz, event.symbol.split(b"\0")[0].decode("utf8", "replace")))
            position += 1
        return 0

    callback = Callback(receive)
    library.espeak_SetSynthCallback(callback)
    if library.espeak_SetVoiceByName(voice.encode()) != 0:
        raise ValueError(f"espeak-ng has no voice {voice}")
    for parameter, value in ((1, rate), (3, pitch), (4, pitch_range)):
        library.espeak_SetParameter(parameter, value, 0)
    data = text.encode()
    library.espeak_Synth(data, len(data) + 1, 0, 1, 0, UTF8, None, None)
    library.espeak_Synchronize()
    audio = np.concatenate(chunks).astype(np.float32) / 32768 if chunks else np.zeros(0, np.float32)
    return at_rate(audio, hertz), phones_from_events(events, len(audio) / hertz)


def phones_from_events(events: list, total: float) -> list:
    starts = []
    for i, (time, symbol) in enumerate(events):
        earliest = events[i - 1][0] if i else 0.0
        starts.append(max(earliest, time - ESPEAK_HOLD) if symbol.startswith("p") else time)
    phones = []
    for (time, symbol), start, end in zip(events, starts, [*starts[1:], total]):
        if end > start:
            phones.append(Phone(symbol, start, time if time > start else max(end - BURST, start + 0.01), end))
    return phones


EVENT_LIST_END, EVENT_PHONEME = 0, 7
AUDIO_RETRIEVAL, PHONEME_EVENTS, PHONEME_IPA, UTF8 = 1, 1, 2, 1


class Event(ctypes.Structure):
    """espeak_EVENT of speak_lib.h; the last member is a union."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("symbol", ctypes.c_char * 8),
    ]


Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))


@cache
def espeak_library() -> tuple:
    """The library and its rate in Hz."""
    library = ctypes.CDLL("libespeak-ng.so.1")
    return library, library.espeak_Initialize(AUDIO_RETRIEVAL, 200, None, PHONEME_EVENTS | PHONEME_IPA)
