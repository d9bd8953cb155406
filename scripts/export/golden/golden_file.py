"""What is recorded of upstream's pictures: enough numbers to detect one wrong row of pixels, few enough to read."""

import json
from pathlib import Path

import numpy as np

#: Where the golden numbers and their packs are stored.
KEPT = Path(__file__).resolve().parents[3] / "packages/engines/test-data/golden"
#: Largest deviation of an element as a share of the pictures' root mean square; deeper networks accumulate more
#: rounding.
TOLERANCE = {"small": 3e-5, "reduced": 2e-4}
#: Distance between recorded elements; a prime, so that every row and column is sampled.
STRIDE = 613


def write_golden(path: Path, made_by: dict, inputs: dict, pictures: np.ndarray) -> None:
    """Records `pictures` [frames, 3, side, side]."""
    flat = pictures.astype(np.float64).ravel()
    frames = pictures.astype(np.float64).reshape(len(pictures), -1)
    golden = {
        "madeBy": made_by,
        "inputs": inputs,
        "shape": list(pictures.shape),
        "means": [_rounded(value) for value in frames.mean(1)],
        "rms": [_rounded(value) for value in np.sqrt((frames**2).mean(1))],
        "stride": STRIDE,
        "elements": [_rounded(value) for value in flat[::STRIDE]],
        "tolerance": _rounded(TOLERANCE[made_by["networks"]] * float(np.sqrt((flat**2).mean()))),
    }
    path.write_text(json.dumps(golden, indent=1) + "\n")
    print(f"{path}: {pictures.shape}, range {flat.min():.3f} to {flat.max():.3f}")


def _rounded(value: float) -> float:
    return float(f"{value:.7g}")
