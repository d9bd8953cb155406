"""
Where Python finds a face: OpenCV's FaceDetectorYN with YuNet on every fifth frame of videos of 25 frames a second. The
videos are not part of the repository; the test that compares the service's detector with this record looks for them by
their digests.

    python scripts/export/golden_faces.py --yunet yunet_n_640_640.onnx --out golden/faces.json VIDEO…
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import cv2

EVERY = 5
#: Longer side of the picture that the detector sees, as in OpenCV's own demo of its default size.
LONGEST = 640
SCORE = 0.6


def boxes(video: Path, yunet: Path) -> list:
    """For every fifth frame the largest face, x1 y1 x2 y2 in pixels of the video, or None."""
    capture, found, number = cv2.VideoCapture(str(video)), [], 0
    rate = capture.get(cv2.CAP_PROP_FPS)
    if rate != 25:
        raise SystemExit(f"{video} has {rate} frames a second; the record is of 25")
    while True:
        read, frame = capture.read()
        if not read:
            return found
        if number % EVERY == 0:
            found.append(largest(frame, yunet))
        number += 1


def largest(frame, yunet: Path):
    height, width = frame.shape[:2]
    scale = LONGEST / max(width, height)
    size = (round(width * scale), round(height * scale))
    detector = cv2.FaceDetectorYN.create(str(yunet), "", size, SCORE, 0.3)
    _, faces = detector.detect(cv2.resize(frame, size, interpolation=cv2.INTER_AREA))
    if faces is None:
        return None
    x, y, w, h = max(faces, key=lambda face: face[2] * face[3])[:4] / scale
    return [round(float(value), 1) for value in (x, y, x + w, y + h)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--yunet", type=Path, required=True, help="of libfacedetection.train, Apache-2.0")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("videos", type=Path, nargs="+")
    given = parser.parse_args()
    made_by = {"opencv": cv2.__version__, "yunet": hashlib.sha256(given.yunet.read_bytes()).hexdigest()}
    videos = {}
    for video in given.videos:
        digest = hashlib.sha256(video.read_bytes()).hexdigest()
        videos[video.name] = {"sha256": digest, "every": EVERY, "boxes": boxes(video, given.yunet)}
        print(f"{video.name}: a face in {sum(box is not None for box in videos[video.name]['boxes'])} frames")
    lines = [f"  {json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}" for name, value in videos.items()]
    made = json.dumps(made_by)
    given.out.write_text('{\n "madeBy": ' + made + ',\n "videos": {\n' + ",\n".join(lines) + "\n }\n}\n")


if __name__ == "__main__":
    sys.exit(main())
