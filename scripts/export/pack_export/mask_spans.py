"""Converts a mask picture to spans of columns per row."""

from pathlib import Path
from typing import List

import numpy as np


def generated_spans(mask: np.ndarray) -> List[List[int]]:
    """[row, first column, last column] of every black span: black is generated, white is kept."""
    spans = []
    for row, line in enumerate(mask < 128):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]])))
        spans.extend([row, int(first), int(end) - 1] for first, end in zip(edges[::2], edges[1::2]))
    return spans


def mask_params(path: Path) -> dict:
    """The `mask` of a latentsync pack for a square mask picture."""
    import cv2

    picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if picture is None:
        raise FileNotFoundError(path)
    height, width = picture.shape
    if height != width:
        raise ValueError(f"{path} is {width} × {height}, a square was expected")
    return {"size": width, "spans": generated_spans(picture)}
