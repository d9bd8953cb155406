"""From the network's outputs to cues: a ramp per cue, so that what is probably closed closes and silence rests."""

import numpy as np

from .evaluation import closure_scores
from .trajectories import CLOSURE, CUES, DENTAL

#: Closures heard where none is: what the threshold may cost on the speech that it is chosen with.
FALSE_ALARMS = 0.15
#: Jaw, rounding and spreading below this are rest.
REST = 0.03


def finished(outputs: np.ndarray, ramps: list) -> np.ndarray:
    """[steps, 5] in [0, 1]."""
    starts, ends = np.array(ramps).T
    return np.clip((outputs - starts) / (ends - starts), 0, 1)


def ramps_for(utterances: list, outputs_of, half: float) -> list:
    """
    (0 at, 1 at) of every cue, chosen on these utterances; `half` the width of the ramp around the threshold of closure
    and dental, in log odds.
    """
    outputs = [outputs_of(utterance.mel) for utterance in utterances]
    ramps = [(REST, 1.0)] * len(CUES)
    for channel, kind in ((CLOSURE, "closure"), (DENTAL, "dental")):
        ramps[channel] = next(
            ramp
            for threshold in np.arange(-2, 4, half / 10)
            for ramp in [(threshold - half, threshold + half)]
            if false_alarms(utterances, outputs, ramp, channel, kind) <= FALSE_ALARMS
        )
    truth = np.concatenate([utterance.cues.astype(np.float32) for utterance in utterances])
    said = np.concatenate(outputs)
    for channel in range(1, DENTAL):
        # An estimate under doubt stays near the mean. The extremes should be as far out as those of the labels.
        ramps[channel] = (REST, float(np.quantile(said[:, channel], 0.98) / np.quantile(truth[:, channel], 0.98)))
    return [(round(float(start), 3), round(float(end), 3)) for start, end in ramps]


def false_alarms(utterances: list, outputs: list, ramp: tuple, channel: int, kind: str) -> float:
    heard = [np.clip((output - ramp[0]) / (ramp[1] - ramp[0]), 0, 1) for output in outputs]
    return closure_scores(utterances, heard, channel, kind)[1]
