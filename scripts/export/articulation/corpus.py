"""Labelled speech: invented words in many voices and languages, through rooms, telephones, noise and music."""

import random
from typing import NamedTuple, Optional

import numpy as np
from scipy.signal import butter, fftconvolve, sosfilt

from .phonemes import Posture
from .spectrogram import RATE, log_mel, normalized
from .synthesizers import espeak, festival, flite
from .trajectories import Unit, trajectories, units_of


class Utterance(NamedTuple):
    voice: str
    #: float16 [80, 2 × steps], normalized.
    mel: np.ndarray
    #: float16 [steps, 5]
    cues: np.ndarray
    units: list


#: What training hears, and how often. Flite's and festival's voices are made of recordings of people.
TRAINING = {"espeak": 8, "flite": 4, "festival": 6, "nothing": 2}
FLITE = ["kal16", "awb", "rms"]
FESTIVAL = """kal_diphone lp_diphone pc_diphone czech_dita czech_ph czech_krb hy_fi_mv_diphone suo_fi_lj_diphone
    msu_ru_nsh_clunits""".split()
LANGUAGES = """en-us en de fr es it pt nl sv pl cs ru el fi ro da nb sk tr id sw hr ca et lv sl eo la cy af bs is lt mk ga
    sq ms ka lb""".split()
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


def utterance(seed: str, held_out: Optional[str] = None, condition: str = "any") -> Utterance:
    """The utterance of this seed; `held_out` is a key of SOURCES, `condition` one of CONDITIONS."""
    while True:
        r = random.Random(seed)
        source = held_out or r.choices(list(TRAINING), TRAINING.values())[0]
        voice, audio, phones, alphabet = SOURCES[source](r, held_out is not None)
        units = units_of(phones, alphabet)
        vowels = sum(unit.posture.kind == "vowel" for unit in units)
        # Some voices spell words that they cannot pronounce.
        if source == "nothing" or (len(audio) > RATE and vowels > 0.2 * len(units)):
            break
        seed += "'"
    generator = np.random.default_rng(r.randrange(1 << 32))
    if condition == "any" and r.random() < 0.5:
        audio, units = sped_up(audio, units, r.uniform(0.82, 1.22))
    audio, units = with_pauses(audio, units, r.uniform(0, 0.8), r.uniform(0, 0.8))
    cues = trajectories(units, len(audio) / RATE)
    mel = normalized(log_mel(CONDITIONS[condition](audio, r, generator).astype(np.float32)))
    return Utterance(voice, mel.astype(np.float16), cues.astype(np.float16), units)


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


def nobody(r: random.Random, _: bool) -> tuple:
    """Silence, noise, music or drums, during which the mouth rests."""
    kind = r.choice(["silence", "noise", "swelling", "music", "music", "drums"])
    count = int(RATE * r.uniform(2, 5))
    noise = np.random.default_rng(r.randrange(1 << 32)).standard_normal(count)
    sounds = {
        "silence": lambda: 1e-4 * noise,
        "noise": lambda: noise,
        "swelling": lambda: low_passed(noise, r) * (1 + r.random() * np.sin(2 * np.pi * time_of(noise) * r.uniform(0.1, 3))),
        "music": lambda: music(time_of(noise), r),
        "drums": lambda: drums(time_of(noise), noise, r),
    }
    audio = sounds[kind]().astype(np.float32)
    return kind, audio, [], "ipa"


SOURCES = {
    "espeak": lambda r, _: spoken_by_espeak(r, r.choice(LANGUAGES), r.choice(VARIANTS)),
    "voices": lambda r, _: spoken_by_espeak(r, r.choice(LANGUAGES), r.choice(HELD_OUT["voices"])),
    "whisper": lambda r, _: spoken_by_espeak(r, r.choice(LANGUAGES), "whisper"),
    "languages": lambda r, _: spoken_by_espeak(r, r.choice(HELD_OUT["languages"]), r.choice(VARIANTS)),
    "flite": spoken_by_flite,
    "festival": spoken_by_festival,
    "nothing": nobody,
}

CYRILLIC = str.maketrans("abdefghijklmnoprstuvwyzc", "абдефгхийклмнопрстувуызц")
ONSETS = "b p m f v w d t n k g s z l r h j sh ch th y br pr fl st sp bl pl dr tr kr gl sm sn tw kw".split()
NUCLEI = "a e i o u a e i o u ee oo ai ou au ie oi ea".split()
CODAS = ["", "", "", *"m n p b t s l r f v k d mp nt st ks".split()]
WORDS = """the a in we they people maybe before above problem simple move back time family make became improve map film
    fob five very wave above phone photo beam bomb room home mother number member moment happen open paper people apple
    pepper baby bubble obvious remember blue food you choose move who see feel mean deep leave team speak father start
    calm palm body hot god on dog law call saw""".split()


def invented(r: random.Random) -> str:
    return sentence(r, r.randint(3, 10), lambda: "".join(syllable(r) for _ in range(r.choice([1, 1, 2, 2, 2, 3]))))


def english(r: random.Random) -> str:
    return sentence(r, r.randint(5, 13), lambda: r.choice(WORDS))


def sentence(r: random.Random, count: int, word) -> str:
    return " ".join(word() + (r.choice(",.") if r.random() < 0.15 else "") for _ in range(count)) + "."


def syllable(r: random.Random) -> str:
    return r.choice(ONSETS) + r.choice(NUCLEI) + (r.choice(CODAS) if r.random() < 0.5 else "")


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


def degraded(audio: np.ndarray, r: random.Random, generator: np.random.Generator) -> np.ndarray:
    """By each of the effects or not, and at any level."""
    audio = at_full_scale(audio)
    for effect, probability in EFFECTS.items():
        if r.random() < probability:
            audio = effect(audio, r, generator)
    return at_full_scale(audio) * 10 ** (-r.uniform(0, 40) / 20)


def in_a_room(audio: np.ndarray, r: random.Random, generator: np.random.Generator) -> np.ndarray:
    count = int(RATE * r.uniform(0.05, 0.35))
    echo = generator.standard_normal(count) * np.exp(-np.arange(count) / (count / 5))
    echo[0] = r.uniform(2, 8)
    return at_full_scale(fftconvolve(audio, echo)[: len(audio)])


def by_telephone(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    band = r.choice([(250, 3400), (300, 3400), (100, 4000), (60, 6500), (200, 5000)])
    return sosfilt(butter(4, band, "band", fs=RATE, output="sos"), audio)


def equalized(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    shelf = sosfilt(butter(1, r.uniform(500, 3000), r.choice(["low", "high"]), fs=RATE, output="sos"), audio)
    return 0.7 * shelf + 0.5 * audio


def overdriven(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    return np.tanh(audio * r.uniform(2, 8))


def in_noise(audio: np.ndarray, r: random.Random, generator: np.random.Generator) -> np.ndarray:
    noise = generator.standard_normal(len(audio))
    return mixed(audio, low_passed(noise, r) if r.random() < 0.6 else noise, r.uniform(5, 35))


def over_music(audio: np.ndarray, r: random.Random, _) -> np.ndarray:
    return mixed(audio, music(time_of(audio), r), r.uniform(5, 25))


def through_8_bits(audio: np.ndarray, *_) -> np.ndarray:
    """µ-law, as on telephones."""
    audio = at_full_scale(audio)
    coded = np.round(np.sign(audio) * np.log1p(255 * np.abs(audio)) / np.log(256) * 127) / 127
    return np.sign(coded) * np.expm1(np.abs(coded) * np.log(256)) / 255


EFFECTS = {
    in_a_room: 0.3,
    by_telephone: 0.25,
    equalized: 0.3,
    overdriven: 0.15,
    in_noise: 0.5,
    over_music: 0.15,
    through_8_bits: 0.1,
}


def at_full_scale(audio: np.ndarray) -> np.ndarray:
    return audio / max(1e-3, np.abs(audio).max())


def mixed(audio: np.ndarray, other: np.ndarray, decibels: float) -> np.ndarray:
    """With `other` so far below."""
    return audio + other / (other.std() + 1e-9) * audio.std() * 10 ** (-decibels / 20)


def low_passed(noise: np.ndarray, r: random.Random) -> np.ndarray:
    return sosfilt(butter(1, r.uniform(60, 1500), "low", fs=RATE, output="sos"), noise)


def music(time: np.ndarray, r: random.Random) -> np.ndarray:
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


def drums(time: np.ndarray, noise: np.ndarray, r: random.Random) -> np.ndarray:
    sound, every = np.zeros(len(time)), r.uniform(0.1, 0.5)
    for start in np.arange(0, len(time) / RATE, every):
        beat = 3 * np.sin(2 * np.pi * r.uniform(50, 150) * time) if r.random() < 0.4 else noise
        sound += beat * (time >= start) * np.exp(-np.maximum(0, time - start) / r.uniform(0.02, 0.15))
    return sound


def time_of(audio: np.ndarray) -> np.ndarray:
    return np.arange(len(audio)) / RATE


CONDITIONS = {
    "any": degraded,
    "clean": lambda audio, r, g: audio,
    "room": in_a_room,
    "telephone": lambda audio, r, g: through_8_bits(
        sosfilt(butter(4, (300, 3400), "band", fs=RATE, output="sos"), audio)
    ),
    "noise": lambda audio, r, g: mixed(audio, g.standard_normal(len(audio)), 10),
    "music": lambda audio, r, g: mixed(audio, music(time_of(audio), r), 10),
    "clipping": lambda audio, r, g: np.clip(at_full_scale(audio), -0.1, 0.1),
}
