"""From phones to how the mouth moves, 50 times per second."""

from typing import NamedTuple

import numpy as np

from .phonemes import Posture, postures

STEPS_PER_SECOND = 50
CUES = ("closure", "jaw", "rounding", "spreading", "dental")
CLOSURE, JAW, ROUNDING, SPREADING, DENTAL = range(5)


class Unit(NamedTuple):
    """A phone or half of one, in seconds."""

    start: float
    end: float
    posture: Posture


def units_of(phones: list, alphabet: str) -> list:
    units = []
    for symbol, start, release, end in phones:
        parts = postures(symbol, alphabet)
        held = release if parts[-1].kind in ("closure", "dental") else end
        length = (held - start) / len(parts)
        units += [Unit(start + i * length, start + (i + 1) * length, part) for i, part in enumerate(parts)]
    return units


def trajectories(units: list, seconds: float) -> np.ndarray:
    """
    [steps, 5] in [0, 1]. Jaw and lips follow dominance functions (Cohen and Massaro 1993): each unit pulls with a
    strength that fades with distance in time. Closures and lip to teeth are reached in full.
    """
    steps, fine = round(seconds * STEPS_PER_SECOND), 4
    time = (np.arange(steps * fine) + 0.5) / (STEPS_PER_SECOND * fine)
    pull, total = np.zeros((3, time.size)), np.full((3, time.size), 1e-3)
    reached = {"closure": np.zeros(time.size), "dental": np.zeros(time.size)}
    for start, end, (kind, *targets) in units:
        distance = np.maximum(0, np.abs(time - (start + end) / 2) - 0.3 * (end - start))
        for i, target in enumerate(targets):
            if target is not None:
                dominance = strength(kind, i, target) * np.exp(-((distance / reach(kind, i)) ** 1.3))
                pull[i] += dominance * target
                total[i] += dominance
        if kind in reached:
            reached[kind] = np.maximum(reached[kind], held_between(time, start - LEAD, end))
    fading = np.minimum(1, (total - 1e-3) / 0.05)
    rows = np.stack([reached["closure"], *(pull / total * fading), reached["dental"]])
    return rows.reshape(len(CUES), steps, fine).mean(2).T.astype(np.float32)


#: Lips meet slightly before the sound stops, and take this long to meet and to part, in seconds.
LEAD = 0.005
LIPS_TAKE = 0.055


def held_between(time: np.ndarray, start: float, end: float) -> np.ndarray:
    ramp = np.clip(1 - np.maximum(start - time, time - end) / LIPS_TAKE, 0, 1)
    return ramp * ramp * (3 - 2 * ramp)


def strength(kind: str, channel: int, target: float) -> float:
    """How much jaw (0), rounding (1) and spreading (2) insist on their target."""
    rounded = 1.4 if channel == 1 and target > 0.4 else 1
    return rounded * {"closure": 0.9, "dental": 0.9, "consonant": (0.55, 0.9, 0.5)[channel]}.get(kind, 1)


def reach(kind: str, channel: int) -> float:
    """Seconds over which a unit's pull fades. Lips round early."""
    return 0.055 if kind == "rest" else 0.075 if channel == 1 else 0.05
