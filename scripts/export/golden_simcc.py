"""
Golden numbers for reading points from SimCC scores: what mmpose's own functions make of scores that are a formula.

    python scripts/export/golden_simcc.py --upstream mmpose --out scripts/models/test-data/simcc.json
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np

from golden.arguments import repository

KEYPOINTS, WIDTH, HEIGHT, SPLIT_RATIO = 133, 288, 384, 2


def scores(places: int, step: int) -> np.ndarray:
    """[keypoints, places], of whole numbers: the same in every language. scripts/models/src/get/dwpose.graph.test.ts repeats it."""
    index = np.arange(KEYPOINTS * places, dtype=np.int64)
    values = ((index * index * step + index * 7) % 9973) / 9973
    return values.astype(np.float32).reshape(KEYPOINTS, places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", type=Path, required=True, help="checkout of open-mmlab/mmpose")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    # By its file: the package around it wants OpenMMLab's whole engine.
    path = given.upstream / "mmpose" / "codecs" / "utils" / "post_processing.py"
    spec = importlib.util.spec_from_file_location("post_processing", path)
    upstream = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(upstream)

    x, y = scores(WIDTH * SPLIT_RATIO, 31), scores(HEIGHT * SPLIT_RATIO, 37)
    y[40] -= 1  # nowhere above zero along one axis
    x[41] = 0.5  # the same everywhere
    locations, _ = upstream.get_simcc_maximum(x[None], y[None])
    keypoints = locations[0] / SPLIT_RATIO
    recorded = {"madeBy": repository(given.upstream), "keypoints": keypoints.tolist()}
    given.out.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    sys.exit(main())
