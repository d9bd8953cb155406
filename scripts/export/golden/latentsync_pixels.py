"""What LatentSync's own functions make of a frame before and after its networks."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from pack_export.mask_spans import mask_params

from .pixel_inputs import HEIGHT, WIDTH, frame, landmarks
from .pixel_record import around, pasted, samples, stand_in

SIDES = [256, 512]

#: Points of the detector's 106 that upstream averages, and the points of 68 that stand for them.
BROWS_AND_NOSE = [
    ([43, 48, 49, 51, 50], slice(17, 22)),
    (range(101, 106), slice(22, 27)),
    ([74, 77, 83, 86], slice(27, 36)),
]


def _whole(points: np.ndarray) -> np.ndarray:
    """The face with the means of its brows and nose on whole pixels, to which upstream rounds them."""
    for _, group in BROWS_AND_NOSE:
        points[group] += np.round(points[group].mean(0)) - points[group].mean(0)
    return points


FACES = [
    {"name": "turned", "points": _whole(landmarks(300.4, 210.3, 90.7, 0.3))},
    {"name": "over the right border", "points": _whole(landmarks(590, 220, 80, -0.2))},
    {"name": "between pixels", "points": landmarks(320.3, 200.2, 130.4)},
]


def record(upstream: Path) -> dict:
    stand_in("insightface", "insightface.app", "decord", "imageio", "soundfile", "ffmpeg")
    mask = upstream / "latentsync" / "utils" / "mask.png"
    return {
        "mask": mask_params(mask),
        "masks": [samples(np.round(255 * _mask(side, mask)).astype(np.uint8)) for side in SIDES],
        "faces": [_face(side=SIDES[0], **face) for face in FACES] + [_face(side=SIDES[1], **FACES[0])],
    }


def _mask(side: int, mask: Path) -> np.ndarray:
    """[side, side]: 1 where the face is kept."""
    from latentsync.utils.image_processor import load_fixed_mask

    return load_fixed_mask(side, str(mask))[0].numpy()


def _face(name: str, points: np.ndarray, side: int) -> dict:
    """
    The transform, the crop and the paste, in single precision. Upstream computes in half, which moves its grid by up
    to half a pixel in a frame of 1080 rows, and which torch 2.13 gets wrong on a CPU.
    """
    from latentsync.pipelines.lipsync_pipeline import LipsyncPipeline
    from latentsync.utils.affine_transform import AlignRestore
    from latentsync.utils.image_processor import ImageProcessor

    processor = ImageProcessor(side, "cpu", mask_image=torch.ones(3, side, side))
    processor.restorer = AlignRestore(resolution=side, dtype=torch.float32)
    processor.face_detector = lambda _: ([0, 0, WIDTH, HEIGHT], _as_106(points))
    crop, box, matrix = processor.affine_transform(frame())

    def blend(body: np.ndarray, face: np.ndarray) -> np.ndarray:
        face = torch.from_numpy(face.transpose(2, 0, 1) / np.float32(127.5) - 1)
        pipeline = SimpleNamespace(image_processor=processor)
        return LipsyncPipeline.restore_video(pipeline, face[None], body[None], [box], [matrix])[0]

    return {
        "name": name,
        "side": side,
        "landmarks": np.round(points, 3).ravel().tolist(),
        "matrix": [float(f"{value:.7g}") for value in matrix[0].numpy().ravel()],
        "crop": samples(crop.numpy().transpose(1, 2, 0)),
        **pasted(blend, side, around(_bounds(matrix[0].numpy(), box), 2)),
    }


def _as_106(points: np.ndarray) -> np.ndarray:
    """Points of the detector whose means are those of the 68."""
    found = np.zeros((106, 2))
    for theirs, ours in BROWS_AND_NOSE:
        found[list(theirs)] = points[ours].mean(0)
    return found


def _bounds(matrix: np.ndarray, box: list) -> list:
    """The upright rectangle around the aligned face in the frame."""
    x1, y1, x2, y2 = box
    corners = np.array([[x, y] for x in (x1, x2) for y in (y1, y2)]) - matrix[:, 2]
    found = np.linalg.solve(matrix[:, :2], corners.T)
    return [*found.min(1), *found.max(1)]
