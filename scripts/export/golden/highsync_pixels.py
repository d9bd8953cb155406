"""What HighSync's own functions make of frames before and after its networks."""

from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np

from .pixel_inputs import HEIGHT, WIDTH, frame
from .pixel_record import around, pasted, samples, stand_in

SIDE = 512
NOT_FOUND = (0, 0, 0, 0)

#: Corners of the detector's boxes, frame by frame. Within a shot they move in straight lines, which smoothing keeps.
BOXES = [
    *((200 + 2 * i, 100 + i, 340 + 4 * i, 280 + 3 * i) for i in range(8)),
    *(NOT_FOUND for _ in range(3)),
    # Heights that differ by more than 1.4 times.
    *((330 + i, 60 + i, 430 + 5 * i, 160 + 11 * i) for i in range(8)),
    # A jump; then a face that leaves the picture.
    *((20 - 4 * i, 300 + 3 * i, 160 - 4 * i, 470 + 3 * i) for i in range(8)),
]


def record(upstream: Path) -> dict:
    stand_in("deepface", "insightface", "insightface.app", "mediapipe")
    stand_in("denoiser", "denoiser.dsp", "imageio", "librosa", "omegaconf", "soundfile", "torchaudio", "diffusers")
    stand_in("src.models.unet_2d_condition", "src.models.unet_3d_echo", "src.models.whisper.audio2feature")
    stand_in("src.pipelines.face_animate", "src.utils.util")
    shots, crops, pictures = _cropped()
    return {
        "boxes": [list(box) for box in BOXES],
        "shots": shots,
        "crops": crops,
        "crop": samples(pictures[0]),
        "rectangle": _rectangle(upstream),
        "paste": _paste(crops[0]),
    }


def _cropped():
    """The shot and the crop of every frame, and the pictures that the network gets, as bytes."""
    import image_processor as home

    found = iter(BOXES)
    home.DeepFace = SimpleNamespace(extract_faces=lambda **_: [_detection(*next(found))])
    tensors, boxes, _ = home.ImageProcessor((SIDE, SIDE)).preprocess_frames_jump([frame() for _ in BOXES])
    shots = [number for number, shot in enumerate(boxes) for _ in shot]
    pictures = [np.round((tensor[0].numpy() + 1) * 127.5) for shot in tensors for tensor in shot]
    rgb = [picture[::-1].transpose(1, 2, 0).astype(np.uint8) for picture in pictures]
    return shots, [list(box) for shot in boxes for box in shot], rgb


def _detection(x1: int, y1: int, x2: int, y2: int) -> dict:
    area = {"x": x1, "y": y1, "w": x2 - x1, "h": y2 - y1}
    return {"facial_area": area, "confidence": 0.9 if x2 > x1 else 0.0}


def _rectangle(upstream: Path) -> dict:
    """The generated rectangle of the latent."""
    from inference import create_mask

    path = str(upstream / "masks" / "mask_64.png")
    generated = create_mask(path, path, 1)[0, 0].numpy()
    rows, columns = np.nonzero(generated.max(1))[0], np.nonzero(generated.max(0))[0]
    assert generated[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].min() == 1
    names = ("top", "bottom", "left", "right")
    return dict(zip(names, (int(edge) for edge in (rows[0], rows[-1], columns[0], columns[-1]))))


def _paste(box: list) -> dict:
    """With upstream's mask, applied like in its loop over the frames."""
    from inference import create_mask_alpha

    x1, y1, x2, y2 = box
    kept = create_mask_alpha(WIDTH, HEIGHT, box)

    def blend(body: np.ndarray, face: np.ndarray) -> np.ndarray:
        covered = body.copy()
        covered[y1:y2, x1:x2] = cv2.resize(face, (x2 - x1, y2 - y1))
        return (body * kept + covered * (1 - kept)).astype(np.uint8)

    return pasted(blend, SIDE, around(box))
