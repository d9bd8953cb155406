"""Phones and their times in a recording of English whose words are known, by pocketsphinx."""

import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from pocketsphinx import Decoder

from .synthesizers import phones_between

MODEL = Path("/usr/share/pocketsphinx/model/en-us")
FRAMES_PER_SECOND = 100


def aligned(audio: np.ndarray, text: str) -> list:
    """Phones in flite's and festival's alphabet; none if the recording does not fit the text. `audio` has 16 kHz."""
    grammar, phones = grammar_of(re.findall(r"[a-z]+(?:'[a-z]+)*", text.lower().replace("’", "'")))
    with tempfile.TemporaryDirectory() as folder:
        speech, dictionary = Path(folder, "speech.fsg"), Path(folder, "speech.dict")
        speech.write_text(grammar)
        dictionary.write_text("".join(f"{name} {phone}\n" for name, phone in phones.items()))
        decoder = Decoder(settings({"-hmm": MODEL / "en-us", "-dict": dictionary, "-fsg": speech}))
    decoder.start_utt()
    decoder.process_raw((np.clip(audio, -1, 1) * 32767).astype("<i2").tobytes(), False, True)
    decoder.end_utt()
    if not decoder.hyp():
        return []
    ends = [(phones.get(part.word, "pau"), part.end_frame + 1) for part in decoder.seg() if part.word != "(NULL)"]
    return phones_between([(phone.lower(), frame / FRAMES_PER_SECOND) for phone, frame in ends])


def settings(files: dict):
    config = Decoder.default_config()
    for name, value in {**files, "-logfn": "/dev/null"}.items():
        config.set_string(name, str(value))
    for name, value in {"-beam": 1e-200, "-pbeam": 1e-200, "-wbeam": 1e-200, "-silprob": 0.05, "-lw": 1.0}.items():
        config.set_float(name, value)
    for name in ("-remove_silence", "-bestpath", "-dither"):
        config.set_boolean(name, False)
    return config


def grammar_of(words: list) -> tuple:
    """
    A grammar of phones, each with a name of its own: one word after the other, each by any of its pronunciations. Pauses
    may be anywhere. And the phone of every name.
    """
    phones, transitions, end = {}, [], 0
    for i, word in enumerate(words):
        start, end = end, end + 1
        state = end
        for j, pronunciation in enumerate(pronunciations(word)):
            here = start
            for k, phone in enumerate(pronunciation):
                last = k == len(pronunciation) - 1
                state += not last
                there, name = end if last else state, f"{i}.{j}.{k}"
                phones[name] = phone
                transitions.append(f"TRANSITION {here} {there} 1.0 {name}")
                here = there
        transitions.append(f"TRANSITION {end} {state + 1} 1.0")
        end = state + 1
    head = ["FSG_BEGIN speech", f"NUM_STATES {end + 1}", "START_STATE 0", f"FINAL_STATE {end}"]
    return "\n".join([*head, *transitions, "FSG_END", ""]), phones


def pronunciations(word: str) -> list:
    return dictionary().get(word) or [spelled(word)]


@cache
def dictionary() -> dict:
    found = {}
    for line in (MODEL / "cmudict-en-us.dict").read_text().splitlines():
        entry, *phones = line.split()
        found.setdefault(re.sub(r"\(\d+\)$", "", entry), []).append(phones)
    return found


def spelled(word: str) -> list:
    """What flite reads in a word that is in no dictionary."""
    command = ["flite", "-ps", "-o", "none", "-t", word]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return [{"ax": "AH", "axr": "ER"}.get(phone, phone.upper()) for phone in said if phone != "pau"]
