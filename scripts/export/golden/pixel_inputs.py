"""Frames, faces and parsed classes computed from formulas that the tests repeat."""

from typing import Tuple

import numpy as np

WIDTH, HEIGHT = 640, 480
#: Side of the map that the face parser classifies.
PARSED_SIDE = 512


def frame() -> np.ndarray:
    """
    An RGB picture [height, width, 3] of waves and blocks. It is defined by its full-range BT.601 codes: the service
    reads it as yuv420p, with luma rounded like here and chroma rounded once per two rows and columns.
    """
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    waves = 40 * np.sin(0.045 * x + 0.03 * y) + 20 * np.sin(0.5 * x) * np.sin(0.4 * y)
    blocks = np.where((x // 40 + y // 40) % 2 == 1, 15, -15)
    luma = np.floor(120 + waves + blocks + 0.5)
    u = 25 * np.sin(0.02 * x - 0.015 * y)
    v = 25 * np.cos(0.017 * x + 0.02 * y)
    rgb = np.stack([luma + 1.402 * v, luma - 0.344136 * u - 0.714136 * v, luma + 1.772 * u], axis=-1)
    return np.floor(np.clip(rgb, 0, 255) + 0.5).astype(np.uint8)


def generated_face(side: int) -> np.ndarray:
    """An RGB picture [side, side, 3] in place of what a network generates: broad waves of color, fine ones of light."""
    y, x = (np.mgrid[0:side, 0:side] + 0.5) / side
    detail = 15 * np.sin(2 * np.pi * 24 * x) * np.sin(2 * np.pi * 20 * y)
    waves = np.stack([60 * np.sin(2 * np.pi * (2 * x + 3 * y) + channel) for channel in range(3)], axis=-1)
    return np.floor(127.5 + waves + detail[..., None] + 0.5).astype(np.uint8)


def codes(rgb: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Luma [h, w] and chroma [2, h/2, w/2] of a picture of even size, as full-range BT.601 codes before rounding."""
    red, green, blue = np.moveaxis(rgb.astype(np.float64), -1, 0)
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    chroma = np.stack([128 + (blue - luma) / 1.772, 128 + (red - luma) / 1.402])
    height, width = luma.shape
    return luma, chroma.reshape(2, height // 2, 2, width // 2, 2).mean((2, 4))


def landmarks(x: float, y: float, size: float, turn: float = 0) -> np.ndarray:
    """68 points [68, 2] of a face with the middle between its ears at (x, y); `size` is half its width."""
    jaw = [(-np.cos(a), 1.2 * np.sin(a)) for a in np.linspace(0, np.pi, 17)]
    brows = [(side * 0.5 + i * 0.15, -0.35 - 0.05 * (2 - abs(i))) for side in (-1, 1) for i in range(-2, 3)]
    nose = [(0, -0.15 + 0.15 * i) for i in range(4)] + [(0.1 * i, 0.4) for i in range(-2, 3)]
    ring = [(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 7)[:6]]
    eyes = [(side * 0.45 - 0.15 * c, -0.15 + 0.06 * s) for side in (-1, 1) for c, s in ring]
    lips = [(-0.35 * np.cos(a), 0.7 - 0.15 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 13)[:12]]
    inner = [(-0.25 * np.cos(a), 0.7 - 0.05 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 9)[:8]]
    points = size * np.array(jaw + brows + nose + eyes + lips + inner)
    cos, sin = np.cos(turn), np.sin(turn)
    return points @ np.array([[cos, sin], [-sin, cos]]) + [x, y]


def face_classes() -> np.ndarray:
    """
    [512, 512]: background, and a face with skin (1), nose (10), inside of the mouth (11), lips (12, 13) and neck (14).
    """
    y, x = np.mgrid[0:PARSED_SIDE, 0:PARSED_SIDE].astype(np.float64)

    def ellipse(middle: float, across: float, down: float) -> np.ndarray:
        return ((x - 256) / across) ** 2 + ((y - middle) / down) ** 2 < 1

    classes = np.zeros((PARSED_SIDE, PARSED_SIDE), np.uint8)
    classes[(np.abs(x - 256) < 90) & (y > 380)] = 14
    classes[ellipse(250, 140.5, 180.5)] = 1
    classes[ellipse(250, 28.5, 45.5)] = 10
    lips = ellipse(340, 60.5, 25.5)
    classes[lips & (y < 340)] = 12
    classes[lips & (y >= 340)] = 13
    classes[ellipse(340, 40.5, 10.5)] = 11
    return classes
