"""What MuseTalk's own functions make of a frame before and after its networks."""

from types import SimpleNamespace

import cv2
import numpy as np
import torch

from .pixel_inputs import HEIGHT, face_classes, frame, landmarks
from .pixel_record import around, pasted, samples, stand_in

#: Settings of release 1.5.
SIDE = 256
CHEEKS = 90
MARGIN = 10

#: One that is enlarged for the network and one that is reduced.
CROPS = [[250, 140, 402, 332], [130, 40, 510, 470]]
#: The same, and with edges that halve a chroma sample; the last one with sides that cannot be halved, too.
PASTES = [*CROPS, [251, 141, 403, 333], [131, 41, 511, 471], [251, 141, 402, 334]]

FACES = [
    {"name": "upright", "points": landmarks(320, 200, 80)},
    {"name": "turned", "points": landmarks(300.4, 210.3, 90.7, 0.3)},
    {"name": "close to the upper border", "points": landmarks(320, 60, 100)},
    {"name": "close to the lower border", "points": landmarks(320, 370, 86)},
    {"name": "with release 1.0's shift", "points": landmarks(320.5, 200.5, 80.3), "shift": 7, "margin": 0},
    {"name": "over the left border", "points": landmarks(60, 200, 80)},
]
#: What upstream's other detector finds; it stands in for a box that does not suit.
DETECTED = (1, 110, 139, 300)


def record() -> dict:
    return {
        "boxes": [_box(**face) for face in FACES],
        "crops": [{"box": box, "picture": samples(_crop(box))} for box in CROPS],
        "parsing": _parsing(),
        "pastes": [_paste(box) for box in PASTES],
    }


def _box(name: str, points: np.ndarray, shift: int = 0, margin: int = MARGIN) -> dict:
    """The box that preprocessing finds, and the room below that inference adds to it."""
    stand_in("mmpose", "mmpose.apis", "mmpose.structures", "face_detection")
    from musetalk.utils import preprocessing

    points = np.round(points, 1)
    body = np.concatenate([np.zeros((23, 2)), points, np.zeros((42, 2))])
    found = SimpleNamespace(pred_instances=SimpleNamespace(keypoints=[body]))
    preprocessing.merge_data_samples = lambda _: found
    preprocessing.read_imgs = lambda _: [frame()]
    preprocessing.fa = SimpleNamespace(get_detections_for_batch=lambda _: [DETECTED])
    [(x1, y1, x2, y2)], _ = preprocessing.get_landmark_and_bbox(["frame"], shift)
    box = [int(edge) for edge in (x1, y1, x2, min(y2 + margin, HEIGHT))]
    return {"name": name, "landmarks": points.ravel().tolist(), "shift": shift, "margin": margin, "box": box}


def _crop(box: list) -> np.ndarray:
    x1, y1, x2, y2 = box
    return cv2.resize(frame()[y1:y2, x1:x2], (SIDE, SIDE), interpolation=cv2.INTER_LANCZOS4)


def _parser(seen: list):
    """Upstream's parser with a network that finds the same classes in every picture, which it adds to `seen`."""
    from musetalk.utils.face_parsing import FaceParsing

    scores = torch.nn.functional.one_hot(torch.from_numpy(face_classes()).long(), 19).permute(2, 0, 1)[None].float()
    FaceParsing.model_init = lambda _: lambda image: seen.append(image) or [scores]
    return FaceParsing(left_cheek_width=CHEEKS, right_cheek_width=CHEEKS)


def _parsing() -> dict:
    """How many pixels of every row and column each mode generates."""
    from PIL import Image

    parser = _parser([])
    masks = {mode: np.array(parser(Image.new("RGB", (8, 8)), mode=mode)) == 255 for mode in ("jaw", "raw", "neck")}
    return {mode: {"rows": mask.sum(1).tolist(), "columns": mask.sum(0).tolist()} for mode, mask in masks.items()}


def _paste(box: list) -> dict:
    """The parser's input, and the square around the face after the paste."""
    from musetalk.utils.blending import get_crop_box, get_image

    seen = []
    parser = _parser(seen)

    def blend(body: np.ndarray, face: np.ndarray) -> np.ndarray:
        fitted = cv2.resize(face[..., ::-1], (box[2] - box[0], box[3] - box[1]))
        return get_image(body[..., ::-1], fitted, box, mode="jaw", fp=parser)[..., ::-1]

    paste = pasted(blend, SIDE, around(get_crop_box(box, 1.5)[0]))
    # In thousandths, because the elements are rounded to tenths.
    return {"box": box, "parsed": samples(1000 * seen[1][0].numpy()), **paste}
