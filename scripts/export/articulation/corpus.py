"""Labelled speech: invented words in many voices and languages, through rooms, telephones, noise and music."""

import random
from typing import NamedTuple, Optional, Sequence

import numpy as np

from .alignment import aligned
from .effects import CONDITIONS, at_full_scale, filtered, slow
from .music import accompaniment
from .phonemes import Posture
from .spectrogram import RATE, log_mel, normalized
from .synthesizers import espeak, festival, flite, pico
from .texts import english, invented
from .trajectories import Unit, trajectories, units_of


class Speech(NamedTuple):
    voice: str
    #: 16-bit samples at 16 kHz, clean.
    audio: np.ndarray
    units: list


class Utterance(NamedTuple):
    voice: str
    #: float16 [80, 2 × steps], normalized.
    mel: np.ndarray
    #: float16 [steps, 5]
    cues: np.ndarray
    units: list


#: What training hears, and how often. Flite's and festival's voices are made of recordings of people.
TRAINING = {"espeak": 6, "flite": 5, "festival": 6, "pico": 4}
PICO = ["en-US", "en-GB"]
FLITE = ["kal16", "awb", "rms"]
FESTIVAL = """kal_diphone lp_diphone pc_diphone czech_dita czech_ph czech_krb hy_fi_mv_diphone suo_fi_lj_diphone
    msu_ru_nsh_clunits""".split()
LANGUAGES = """en-us en de fr es it pt nl sv pl cs ru el fi ro da nb sk tr id sw hr ca et lv sl eo la cy af bs is lt mk
    ga sq ms ka lb""".split()
VARIANTS = """m1 m2 m3 m4 m5 m6 f1 f2 f3 f4 croak klatt klatt2 klatt4 klatt6 whisperf Andy Annie Alex Mario Lee Denis
    aunty Michael Gene grandma iven linda max pablo paul rob shelby zac adam anika belinda caleb ed john marcelo mike
    Hugo Reed boris""".split()
#: What it never hears.
HELD_OUT = {
    "voices": "m7 m8 f5 klatt3 whisper steph travis victor david edward Diogo antonio".split(),
    "languages": "hi ja cmn vi bg uk fa ar hu te".split(),
    "flite": ["slt"],
    "festival": ["ked_diphone", "cmu_us_slt_arctic_hts", "czech_machac", "upc_ca_ona_hts"],
}
#: Festival's voices that do not use their language's letters as phonemes.
ALPHABETS = {
    "kal_diphone": "arpabet",
    "ked_diphone": "arpabet",
    "cmu_us_slt_arctic_hts": "arpabet",
    "msu_ru_nsh_clunits": "russian",
}


def spoken(seed: str, held_out: Optional[str] = None) -> Speech:
    """What the voice of this seed says; `held_out` is a key of SOURCES."""
    while True:
        r = random.Random(seed)
        source = held_out or r.choices(list(TRAINING), TRAINING.values())[0]
        voice, audio, phones, alphabet = SOURCES[source](r, held_out is not None)
        units = units_of(phones, alphabet)
        vowels = sum(unit.posture.kind == "vowel" for unit in units)
        # Some voices spell words that they cannot pronounce.
        if source == "nothing" or (len(audio) > RATE and vowels > 0.2 * len(units)):
            return Speech(voice, np.round(at_full_scale(audio) * 32767).astype(np.int16), units)
        seed += "'"


def heard(speech: Speech, seed: str, condition: str = "any", others: Sequence = ()) -> Utterance:
    """What arrives of it; `condition` is one of CONDITIONS, `others` are what other voices say meanwhile."""
    r = random.Random(seed)
    audio, units = speech.audio.astype(np.float32) / 32768, speech.units
    if condition == "any" and r.random() < 0.6:
        audio, units = sped_up(audio, units, r.uniform(0.8, 1.25))
    audio, units = with_pauses(audio, units, r.uniform(0, 0.8), r.uniform(0, 0.8))
    cues = trajectories(units, len(audio) / RATE)
    mel = normalized(log_mel(CONDITIONS[condition](audio, r, others).astype(np.float32)))
    return Utterance(speech.voice, mel.astype(np.float16), cues.astype(np.float16), units)


def spoken_by_espeak(r: random.Random, language: str, variant: str) -> tuple:
    text = english(r) if language.startswith("en") and r.random() < 0.5 else invented(r)
    voice = f"{language}+{variant}"
    audio, phones = espeak(text, voice, r.randint(120, 230), r.randint(15, 90), r.randint(20, 80))
    return voice, audio, phones, "ipa"


def spoken_by_flite(r: random.Random, held_out: bool) -> tuple:
    voice = r.choice(HELD_OUT["flite"] if held_out else FLITE)
    text = english(r) if r.random() < 0.7 else invented(r)
    return voice, *flite(text, voice, r.uniform(0.8, 1.3)), "arpabet"


def spoken_by_festival(r: random.Random, held_out: bool) -> tuple:
    voice = r.choice(HELD_OUT["festival"] if held_out else FESTIVAL)
    alphabet = ALPHABETS.get(voice, "letters")
    text = english(r) if alphabet == "arpabet" and r.random() < 0.7 else invented(r)
    written = text.translate(CYRILLIC) if alphabet == "russian" else text
    return voice, *festival(written, voice, r.uniform(0.85, 1.3)), alphabet


def spoken_by_pico(r: random.Random, _: bool) -> tuple:
    voice, text = r.choice(PICO), english(r)
    said = f'<speed level="{r.randint(75, 140)}"><pitch level="{r.randint(60, 160)}">{text}</pitch></speed>'
    audio = np.pad(pico(said, voice), RATE // 4)
    return voice, audio, aligned(audio, text), "arpabet"


def nobody(r: random.Random, _: bool) -> tuple:
    """Silence, noise, music or drums, during which the mouth rests."""
    kind = r.choice(["silence", "noise", "swelling", "music", "music", "music", "music", "music"])
    count = int(RATE * r.uniform(2, 5))
    noise = np.random.default_rng(r.randrange(1 << 32)).standard_normal(count)
    sounds = {
        "silence": lambda: 1e-4 * noise,
        "noise": lambda: noise,
        "swelling": lambda: filtered(noise, "low", r.uniform(60, 1500)) * 10 ** (slow(count, r, 20) / 20),
        "music": lambda: accompaniment(count, r),
    }
    return kind, sounds[kind](), [], "ipa"


SOURCES = {
    "espeak": lambda r, _: spoken_by_espeak(r, r.choice(LANGUAGES), r.choice(VARIANTS)),
    "voices": lambda r, _: spoken_by_espeak(r, r.choice(LANGUAGES), r.choice(HELD_OUT["voices"])),
    "whisper": lambda r, _: spoken_by_espeak(r, r.choice(LANGUAGES), "whisper"),
    "languages": lambda r, _: spoken_by_espeak(r, r.choice(HELD_OUT["languages"]), r.choice(VARIANTS)),
    "flite": spoken_by_flite,
    "pico": spoken_by_pico,
    "festival": spoken_by_festival,
    "nothing": nobody,
}

CYRILLIC = str.maketrans("abdefghijklmnoprstuvwyzc", "абдефгхийклмнопрстувуызц")


def sped_up(audio: np.ndarray, units: list, speed: float) -> tuple:
    """Faster, with pitch and formants raised as much: a smaller speaker."""
    faster = np.interp(np.arange(0, len(audio) - 1, speed), np.arange(len(audio)), audio).astype(np.float32)
    return faster, [Unit(start / speed, end / speed, posture) for start, end, posture in units]


def with_pauses(audio: np.ndarray, units: list, before: float, after: float) -> tuple:
    padded = np.pad(audio, (int(before * RATE), int(after * RATE)))
    end = len(audio) / RATE + before
    moved = [Unit(start + before, end + before, posture) for start, end, posture in units]
    rest = Posture("rest", 0, 0, 0)
    whole = len(padded) // 320 * 320
    return padded[:whole], [Unit(0, before, rest), *moved, Unit(end, end + after, rest)]
