"""How well cues agree with the labels."""

import numpy as np
from scipy.ndimage import minimum_filter1d

from .trajectories import CLOSURE, CUES, DENTAL, JAW, ROUNDING, SPREADING, STEPS_PER_SECOND

#: A closure counts as reached if the cue gets this far, as false if it is half there in the middle of a sound without one.
REACHED, FALSE = 0.8, 0.5


def figures(utterances: list, cues_of) -> dict:
    """`cues_of` maps a spectrogram to cues [steps, 5]."""
    heard = [cues_of(utterance.mel) for utterance in utterances]
    closures = closure_scores(utterances, heard, CLOSURE, "closure")
    dentals = closure_scores(utterances, heard, DENTAL, "dental")
    truth = np.concatenate([utterance.cues.astype(np.float32) for utterance in utterances])
    said = np.concatenate([cues[: len(utterance.cues)] for utterance, cues in zip(utterances, heard)])
    with np.errstate(invalid="ignore"):
        correlation = [np.corrcoef(said[:, i], truth[:, i])[0, 1] for i in range(len(CUES))]
    i, u, a = (vowel_mean(utterances, heard, is_it) for is_it in (is_i, is_u, is_a))
    return {
        "closure recall": closures[0],
        "closure false": closures[1],
        "dental recall": dentals[0],
        "dental false": dentals[1],
        **{f"r {name}": value for name, value in zip(CUES, correlation)},
        "spreading i-u": i[SPREADING] - u[SPREADING],
        "rounding u-i": u[ROUNDING] - i[ROUNDING],
        "jaw a/i": a[JAW] / max(i[JAW], 0.01),
    }


def closure_scores(utterances: list, heard: list, channel: int, kind: str) -> tuple:
    """Share of the closures (or of lip to teeth) that are reached, and of all other sounds in which they appear."""
    reached, false = [], []
    for (_, _, truth, units), cues in zip(utterances, heard):
        seen = shown(cues[:, channel], kind)
        for start, end, posture in units:
            first, middle, last = (int(time * STEPS_PER_SECOND) for time in (start, (start + end) / 2, end))
            if middle >= len(truth):
                continue
            if posture.kind == kind:
                reached.append(seen[max(0, first - 1) : last + 2].max() >= REACHED)
            elif posture.kind in ("vowel", "consonant", "dental", "closure") and truth[middle, channel] < 0.2:
                false.append(seen[middle] >= FALSE)
    return float(np.mean(reached)) if reached else np.nan, float(np.mean(false)) if false else np.nan


def shown(cue: np.ndarray, kind: str) -> np.ndarray:
    """What comes into the picture: a closure that is heard for three steps (mouth-pose.ts), a brush of the teeth at once."""
    return minimum_filter1d(cue, 3, mode="constant") if kind == "closure" else cue


def vowel_mean(utterances: list, heard: list, is_it) -> np.ndarray:
    means = []
    for utterance, cues in zip(utterances, heard):
        for start, end, posture in utterance.units:
            first, last = int(start * STEPS_PER_SECOND), int(end * STEPS_PER_SECOND)
            if posture.kind == "vowel" and is_it(posture) and first < len(cues):
                means.append(cues[first : max(first + 1, last)].mean(0))
    return np.mean(means, axis=0)


def is_i(posture) -> bool:
    return posture.rounding == 0 and posture.spreading >= 0.6 and posture.jaw < 0.35


def is_u(posture) -> bool:
    return posture.rounding >= 0.8 and posture.jaw < 0.35


def is_a(posture) -> bool:
    return posture.jaw >= 0.9
