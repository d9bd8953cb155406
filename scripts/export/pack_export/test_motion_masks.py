import unittest
from pathlib import Path
from unittest import mock

import torch

from pack_export.networks import motion_masks


class PlainMasksTest(unittest.TestCase):
    def test_masks_move_with_their_module_and_are_no_part_of_its_weights(self):
        class MotionModule(torch.nn.Module):
            """Holds its masks as upstream's does."""

            def __init__(self):
                super().__init__()
                self.mask_64 = self.create_mask("./masks/mask_64.png", 2, 320, 12)
                self.mask_8 = self.create_mask("./masks/mask_8.png", 2, 1280, 12)

        def read_mask(path: Path) -> torch.Tensor:
            side = {"mask_64.png": 64, "mask_8.png": 8}[path.name]
            return torch.eye(side)

        with mock.patch.object(motion_masks, "read_mask", read_mask):
            motion_masks.use_plain_masks(MotionModule, Path("masks"))
            module = MotionModule()

        self.assertTrue(torch.equal(module.mask_8, torch.eye(8)[None, None, None]))
        # A device that needs no hardware.
        module.to("meta")
        self.assertEqual([mask.device.type for mask in (module.mask_64, module.mask_8)], ["meta", "meta"])
        # Loading the published weights is strict.
        self.assertEqual(list(module.state_dict()), [])


if __name__ == "__main__":
    unittest.main()
