"""The card beside the weights: what the network is, what it was taught on, and how well it hears."""

from string import Template

from .corpus import FESTIVAL, FLITE, LANGUAGES, VARIANTS

COLUMNS = {
    "closure recall": "p b m reached",
    "closure false": "false",
    "dental recall": "f v reached",
    "dental false": "false",
    "r jaw": "r jaw",
    "r rounding": "r rounding",
    "r spreading": "r spreading",
    "spreading i-u": "spreading i − u",
    "rounding u-i": "rounding u − i",
    "jaw a/i": "jaw a : i",
}
NAMES = {
    "voices": "other voices of espeak-ng",
    "languages": "other languages of espeak-ng",
    "flite": "flite's slt",
    "festival": "festival's ked, slt, machac, ona",
    "whisper": "espeak-ng whispering",
    "room": "in a room",
    "telephone": "telephone, 300 to 3400 Hz, 8 bits",
    "noise": "white noise, 10 dB below",
    "music": "music, 10 dB below",
    "clipping": "clipped by 20 dB",
}


def card(seed: int, minutes: float, steps: int, results: dict, hard: dict, restless: float) -> str:
    """
    `results`: figures by held-out set, condition and method; `hard`: by condition and method; `restless`: share of the
    time in which the jaw moves although nobody speaks.
    """
    return Template(CARD).substitute(
        seed=seed,
        hours=f"{minutes / 60:.1f}",
        languages=len(LANGUAGES),
        variants=len(VARIANTS),
        flite=len(FLITE),
        festival=len(FESTIVAL),
        restless=f"{100 * restless:.1f}",
        steps=steps,
        clean=table({held: methods for (held, condition), methods in results.items() if condition == "clean"}),
        degraded=table({held: methods for (held, condition), methods in results.items() if condition == "any"}),
        hard=table(hard),
        history=HISTORY,
    )


def table(results: dict) -> str:
    rows = [["", "", *COLUMNS.values()], ["---"] * (2 + len(COLUMNS))]
    for heard, methods in results.items():
        for method, found in methods.items():
            rows.append([NAMES[heard], method, *(number(found[name]) for name in COLUMNS)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def number(value: float) -> str:
    """A cue that is never heard has no correlation."""
    return f"{value:.2f}" if value == value else "–"


#: Of the weights that are committed. A training from start to end by one call has none: then this is to be empty.
HISTORY = """\
- These weights were trained in pieces: chords that last joined with the last 2400 utterances, and the second round ran
  from another seed of torch. The command with its seed makes a network of the same quality, not these very numbers.
"""

CARD = """\
# The hearing network of the built-in packs

`hearing.safetensors`: 113 000 weights in half precision, by which `src/hearing/audio-encoder.ts` hears in the voice what lips
and jaw do. Written, like this page, by `python3 scripts/export/train_hearing.py`.

- *Input*: Whisper's log-mel spectrogram (80 bands, 100 frames per second), relative to what is loud nearby.
- *Output*, 50 times per second, each in [0, 1]: `closure` (lips together: p b m), `jaw` (how far down), `rounding` (o u
  w), `spreading` (i e), `dental` (lower lip to upper teeth: f v).
- *Network*: eight convolutions of 64 channels, dilated up to 8; it looks 0.5 s back and ahead.
- *Training*: $hours hours of speech that espeak-ng ($languages languages, $variants voices), flite ($flite voices) and
  festival ($festival voices) made from invented and English words, with the times of every phoneme; through rooms,
  equalizers, telephones, 8-bit codecs and overdriven amplifiers, with noise and music; and of noise, music, drums and
  silence alone. $steps steps, seed $seed. No recordings but those that the synthesizers' voices
  are made of, no weights from elsewhere.
- *Labels*: targets per phoneme, blended by dominance functions (Cohen and Massaro 1993). They are what a mouth should
  do by phonetics, not what a mouth was seen to do.
- *Licence*: MIT, as the project. The synthesizers are free software (Debian's main section); neither they nor what they
  said is part of the project.

## How well it hears

On 120 utterances each that training never heard, beside *formulas*: nasal murmur, the gap before a burst, formants and
frication as energies of a few bands of the same spectrogram. Both have their thresholds from the same validation speech
of known voices (at most 8.5 % of other sounds taken for a closure). *Reached*: the cue gets to 0.8 within the closure.
*False*: 0.5 in the middle of another sound. *r*: correlation with the label over time.

Clean:

$clean

Through rooms, telephones, codecs, noise and music at random, as in training:

$degraded

One hard case at a time, the held-out voices mixed:

$hard

While music, drums, noise or silence is all there is, the jaw is above 0.1 for $restless % of the time.

## Limits

- Voices of synthesizers are clearer than people. No labelled recordings were used, neither for training nor here.
- The limit of 8.5 % and the width of the ramps were settled after a look at the held-out sets, so their figures are
  slightly optimistic. The thresholds themselves come from the validation speech alone.
- Training hears whispering too (`whisperf`, one of the voices of espeak-ng); the row of whispering above is of `whisper`, another
  voice of the same synthesizer. It shows that one whisper carries over to the other, not that the network would hear
  whispering if it had never heard any, nor that it hears people whisper.
- n is taken for m, and v for b, more often than chance would have it: they differ little in sound, and v by little to
  the eye.
- Tongue and teeth are not heard. Smiles, breath and laughter have no label.
- A second voice behind the first is heard as speech, and so is song.
$history"""
