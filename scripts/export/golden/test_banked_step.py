import json
import unittest

import torch

from golden import networks, packs
from golden.banked_step import exported_step, numbers_of
from golden.golden_file import KEPT
from pack_export.networks import mutual_attention

#: Largest deviation as a share of a prediction's root mean square.
TOLERANCE = 2e-5


class BankedStepTest(unittest.TestCase):
    """Compares the exporter's version of HighSync's two networks with upstream's own control of the same two."""

    def test_the_networks_compute_what_upstream_makes_them_compute(self):
        small = networks.small("highsync")
        banked = mutual_attention.with_banks(small.reference, small.denoiser, packs.SMALL_BLOCKS)
        with torch.no_grad():
            predictions = exported_step(small, *banked)
        recorded = json.loads((KEPT / "highsync/step.json").read_text())
        for wanted, prediction in zip((recorded["unconditional"], recorded["conditional"]), predictions):
            deviation = max(abs(a - b) for a, b in zip(numbers_of(prediction), wanted))
            self.assertLess(deviation / wanted[1], TOLERANCE)


if __name__ == "__main__":
    unittest.main()
