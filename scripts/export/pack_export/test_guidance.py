import unittest

import torch

from pack_export.export_role import Role
from pack_export.latentsync_pack import pictures_for
from pack_export.networks.guidance import both_conditions
from pack_export.probe import ProbeInput
from pack_export.tensor_spec import TensorSpec


class Network(torch.nn.Module):
    """Per condition and frame: the latent, and beside it what is heard."""

    def forward(self, latent, timestep, audio):
        conditions, _, frames = latent.shape
        return (latent + audio.mean(1).reshape(conditions, 1, frames)) * timestep


ROLE = Role(
    name="unet3d",
    module=Network(),
    inputs=[TensorSpec("latent", [1, 2, "frames"]), TensorSpec("timestep", [1]), TensorSpec("audio", ["frames", 3])],
    outputs=[TensorSpec("prediction", [1, 2, "frames"])],
    probe=ProbeInput(dims={}, fill={}),
)


class GuidanceTest(unittest.TestCase):
    def test_both_at_once_are_the_one_without_sound_and_the_one_with_it(self):
        torch.manual_seed(5)
        latent, time, audio = torch.randn(1, 2, 4), torch.tensor([3.0]), torch.randn(4, 3)
        role = both_conditions(ROLE)
        alone = [ROLE.module(latent, time, sound) for sound in (torch.zeros_like(audio), audio)]
        self.assertTrue(torch.equal(role.module(latent, time, audio), torch.cat(alone)))
        self.assertEqual([spec.dims[0] for spec in [*role.inputs, *role.outputs]], [1, 1, "frames", 2])

    def test_a_card_takes_as_many_pictures_at_once_as_fill_it(self):
        self.assertEqual([pictures_for(place, side) for place, side in [("cuda", 256), ("cuda", 512), ("cpu", 256)]], [8, 2, 1])


if __name__ == "__main__":
    unittest.main()
