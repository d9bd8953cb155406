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

    def deviation(self) -> float:
        """The larger deviation of the two halves."""
        small = networks.small("highsync")
        banked = mutual_attention.with_banks(small.reference, small.denoiser, packs.SMALL_BLOCKS)
        with torch.no_grad():
            predictions = exported_step(small, *banked)
        recorded = json.loads((KEPT / "highsync/step.json").read_text())
        worst = 0
        for wanted, prediction in zip((recorded["unconditional"], recorded["conditional"]), predictions):
            off = max(abs(a - b) for a, b in zip(numbers_of(prediction), wanted))
            worst = max(worst, off / wanted[1])
        return worst

    def test_the_networks_compute_what_upstream_makes_them_compute(self):
        self.assertLess(self.deviation(), TOLERANCE)

    def test_another_gain_of_the_audio_would_be_noticed(self):
        self.replace("AUDIO_GAIN", 3.01)
        self.assertGreater(self.deviation(), 10 * TOLERANCE)

    def test_banks_paired_in_another_order_would_be_noticed(self):
        paired = mutual_attention.attention_blocks

        def misplaced(unet, kind):
            widest, *others = paired(unet, kind)
            return [widest, *(reversed(others) if kind is packs.SMALL_BLOCKS[0] else others)]

        self.replace("attention_blocks", misplaced)
        self.assertGreater(self.deviation(), 10 * TOLERANCE)

    def replace(self, name: str, value) -> None:
        self.addCleanup(setattr, mutual_attention, name, getattr(mutual_attention, name))
        setattr(mutual_attention, name, value)


if __name__ == "__main__":
    unittest.main()
