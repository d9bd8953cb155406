"""What lips and jaw do for each phoneme, in the alphabets of espeak-ng (IPA), flite and festival."""

import unicodedata
from typing import NamedTuple, Optional


class Posture(NamedTuple):
    """
    The mouth's target in a phoneme; None where the phoneme leaves it to its neighbors.

    kind: vowel, closure (lips together), dental (lower lip to upper teeth), consonant, neutral, rest (no speech)
    jaw: 0 closed, 1 as far down as speech gets; rounding: lips drawn together and forward; spreading: corners apart
    """

    kind: str
    jaw: Optional[float] = None
    rounding: Optional[float] = None
    spreading: Optional[float] = None


def postures(symbol: str, alphabet: str) -> list:
    """The parts of a phoneme, equally long: one, or two in a diphthong or an affricate."""
    letters = [letter for letter in unicodedata.normalize("NFD", in_ipa(symbol, alphabet)) if is_letter(letter)]
    return [posture(letter) for letter in letters] or [Posture("rest", 0, 0, 0)]


def posture(letter: str) -> Posture:
    if letter in VOWELS:
        return Posture("vowel", *VOWELS[letter])
    if letter in "mpbɓʙ":
        return Posture("closure", 0)
    if letter in "fvɱʋⱱ":
        return Posture("dental", 0.1)
    if letter in "hɦʔ":
        return Posture("neutral")
    return Posture("consonant", *CONSONANTS.get(letter, (0.2, None, None)))


def is_letter(character: str) -> bool:
    """Not a length mark, stress, tone or accent."""
    return unicodedata.category(character) not in ("Mn", "Lm", "Sk", "Po", "So") and character not in "ː|_-?*;!^\"'"


#: jaw, rounding, spreading
VOWELS = {
    "i": (0.22, 0, 0.9), "ɪ": (0.30, 0, 0.6), "y": (0.20, 0.85, 0.1), "ʏ": (0.28, 0.7, 0.1), "ɨ": (0.25, 0, 0.4),
    "ᵻ": (0.25, 0, 0.4), "ʉ": (0.20, 0.7, 0), "ɯ": (0.25, 0, 0.3), "u": (0.18, 1, 0), "ʊ": (0.26, 0.7, 0),
    "e": (0.40, 0, 0.7), "ø": (0.35, 0.75, 0), "ɘ": (0.35, 0, 0.3), "ɵ": (0.35, 0.6, 0), "ɤ": (0.40, 0, 0.1),
    "o": (0.38, 0.85, 0), "ə": (0.35, 0.05, 0.1), "ɚ": (0.32, 0.35, 0), "ɛ": (0.58, 0, 0.5), "œ": (0.50, 0.6, 0),
    "ɜ": (0.42, 0.15, 0.1), "ɝ": (0.36, 0.35, 0), "ʌ": (0.62, 0, 0.1), "ɔ": (0.58, 0.65, 0), "æ": (0.78, 0, 0.45),
    "ɐ": (0.70, 0, 0.1), "a": (0.95, 0, 0.15), "ɑ": (1.0, 0.05, 0), "ɒ": (0.85, 0.35, 0), "ɶ": (0.90, 0.3, 0),
}  # fmt: skip
CONSONANTS = {
    "w": (0.18, 0.95, 0), "ʍ": (0.18, 0.95, 0), "ɥ": (0.20, 0.85, 0.1), "β": (0.12, 0.2, 0.1), "ɸ": (0.12, 0.4, 0),
    "ʃ": (0.15, 0.6, 0), "ʒ": (0.15, 0.6, 0), "ɕ": (0.15, 0.35, 0.1), "ʑ": (0.15, 0.35, 0.1), "ʂ": (0.15, 0.5, 0),
    "ʐ": (0.15, 0.5, 0), "ɹ": (0.22, 0.45, 0), "ɻ": (0.22, 0.45, 0), "s": (0.08, 0, 0.35), "z": (0.08, 0, 0.35),
    "j": (0.20, 0, 0.6), "l": (0.30, 0, 0.2), "ɫ": (0.30, 0.15, 0.1), "θ": (0.20, 0, 0.2), "ð": (0.20, 0, 0.2),
}  # fmt: skip


def in_ipa(symbol: str, alphabet: str) -> str:
    if alphabet == "ipa":
        return symbol
    if alphabet == "arpabet":
        return ARPABET.get(symbol, symbol)
    if alphabet == "russian":
        # Soft consonants are written twice.
        return RUSSIAN.get(symbol, symbol[0])
    unstressed = symbol.rstrip("0123456789")
    return LETTERS.get(unstressed, unstressed)


#: Where it differs from IPA.
ARPABET = {
    "aa": "ɑ", "ae": "æ", "ah": "ʌ", "ao": "ɔ", "aw": "aʊ", "ax": "ə", "axr": "ɚ", "ay": "aɪ", "ch": "tʃ", "dh": "ð",
    "dx": "d", "eh": "ɛ", "el": "l", "em": "m", "en": "n", "er": "ɚ", "ey": "eɪ", "hh": "h", "hv": "h", "ih": "ɪ",
    "iy": "i", "jh": "dʒ", "nx": "n", "ng": "ŋ", "ow": "oʊ", "oy": "ɔɪ", "r": "ɹ", "sh": "ʃ", "th": "θ", "uh": "ʊ",
    "uw": "u", "y": "j", "zh": "ʒ", "pau": "", "brth": "", "h#": "", "#": "", "ssil": "",
}  # fmt: skip
#: Of festival's Italian, Catalan, Czech and Finnish voices.
LETTERS = {
    "e": "ɛ", "E": "ɛ", "O": "ɔ", "S": "ʃ", "SS": "ʃ", "Z": "ʒ", "rr": "r", "tS": "tʃ", "dZ": "dʒ", "J": "n", "L": "l", "a:": "a", "e:": "ɛ",
    "i:": "i", "o:": "o", "u:": "u", "ax": "ə", "c~": "ts", "ch~": "x", "ch": "x", "sx": "ʃ", "zx": "ʒ", "cx": "tʃ",
    "#": "", "pau": "", "_": "",
}  # fmt: skip
#: Of festival's Russian voice. Stressed vowels are written twice.
RUSSIAN = {
    "aa": "a", "a": "ɐ", "ay": "ə", "ae": "ə", "ee": "ɛ", "e": "ɛ", "ii": "i", "i": "ɪ", "oo": "o", "uu": "u",
    "u": "ʊ", "ur": "ʊ", "yy": "ɨ", "y": "ɨ", "sh": "ʃ", "zh": "ʒ", "sch": "ɕ", "ch": "tɕ", "c": "ts", "h": "x",
    "hh": "x", "pau": "",
}  # fmt: skip
