"""A mask for the small networks, in the size of their pictures: resizing is not what they are meant to test."""

from pathlib import Path

import numpy as np


def mask_picture(side: int) -> np.ndarray:
    """A black half-ellipse in the lower part of a white square."""
    y, x = np.mgrid[0:side, 0:side] / side
    generated = (((x - 0.5) / 0.4) ** 2 + ((y - 0.55) / 0.4) ** 2 < 1) & (y > 0.4)
    return np.where(generated, 0, 255).astype(np.uint8)


def write_mask(path: Path, side: int) -> None:
    import cv2

    cv2.imwrite(str(path), np.repeat(mask_picture(side)[..., None], 3, axis=2))
