"""What is recorded of the pictures that upstream cuts out and pastes back."""

import json
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Callable, Iterable, Sequence
from unittest.mock import MagicMock

import numpy as np

from .pixel_inputs import HEIGHT, WIDTH, codes, frame, generated_face

#: Elements of a picture that are recorded.
WANTED = 800


def samples(values: np.ndarray) -> dict:
    """
    Every n-th element in order of memory. n is a prime, so that neither rows, columns nor planes are always hit at the
    same place.
    """
    stride = next(n for n in range(values.size // WANTED + 1, values.size + 2) if _is_prime(n))
    return {"shape": list(values.shape), "stride": stride, "elements": _rounded(values.ravel()[::stride])}


def pasted(blend: Callable[[np.ndarray, np.ndarray], np.ndarray], side: int, region: Sequence[int]) -> dict:
    """
    What `blend` makes of a frame and a generated face, in a region with even edges: the mask, as the levels of a white
    face on black; and a picture, as the codes of yuv420p.
    """
    x1, y1, x2, y2 = region
    mask = blend(np.zeros((HEIGHT, WIDTH, 3), np.uint8), np.full((side, side, 3), 255, np.uint8))
    luma, chroma = codes(blend(frame(), generated_face(side))[y1:y2, x1:x2])
    return {
        "region": list(region),
        "mask": samples(mask[y1:y2, x1:x2, 0]),
        "luma": samples(luma),
        "chroma": samples(chroma),
    }


def around(box: Iterable[float], margin: int = 0) -> list:
    """The box with a margin, widened to even edges, inside the frame."""
    x1, y1, x2, y2 = box
    low = [max(0, int(edge - margin) // 2 * 2) for edge in (x1, y1)]
    high = [min(limit, int(edge + margin + 1) // 2 * 2) for edge, limit in ((x2, WIDTH), (y2, HEIGHT))]
    return low + high


def stand_in(*modules: str) -> None:
    """
    Lets upstream's code be imported without these modules: detectors, readers and writers of media, networks. Nothing
    that is recorded calls them.
    """
    for name in modules:
        # Libraries that ask whether a module exists look at its specification.
        sys.modules.setdefault(name, MagicMock(__spec__=ModuleSpec(name, None)))


def write_pixels(path: Path, recorded: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f" {json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}" for name, value in recorded.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, int(n**0.5) + 1))


def _rounded(values: np.ndarray) -> list:
    """Integers as they are, others to a twentieth of a gray level or better."""
    if values.dtype.kind in "iub":
        return [int(value) for value in values]
    return [float(f"{value:.1f}") for value in values]
