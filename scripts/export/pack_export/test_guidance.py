import unittest

import torch

from pack_export.export_role import Role
from pack_export.latentsync_pack import pictures_for
from pack_export.networks.guidance import both_conditions
from pack_export.probe import ProbeInput
from pack_export.tensor_spec import TensorSpec


class Network(torch.nn.Module):
    """Per condition and frame: the latent, and beside it what is heard and what another network knew."""

    def forward(self, latent, timestep, audio, deep):
        conditions, _, frames = latent.shape
        return (latent + audio.mean(1).reshape(conditions, 1, frames) + deep) * timestep, -latent


ROLE = Role(
    name="unet3d",
    module=Network(),
    inputs=[TensorSpec("latent", [1, 2, "frames"]), TensorSpec("timestep", [1]), TensorSpec("audio", ["frames", 3]), TensorSpec("deep", [1, 2, "frames"])],
    outputs=[TensorSpec("prediction", [1, 2, "frames"]), TensorSpec("deep", [1, 2, "frames"])],
    probe=ProbeInput(dims={}, fill={}),
)


class GuidanceTest(unittest.TestCase):
    def test_both_at_once_are_the_one_without_sound_and_the_one_with_it(self):
        torch.manual_seed(5)
        latent, time, audio = torch.randn(1, 2, 4), torch.tensor([3.0]), torch.randn(4, 3)
        deep = torch.randn(2, 2, 4)
        at_once = both_conditions(ROLE).module(latent, time, audio, deep)
        alone = [ROLE.module(latent, time, sound, deep[i : i + 1]) for i, sound in enumerate((torch.zeros_like(audio), audio))]
        for together, apart in zip(at_once, zip(*alone)):
            self.assertTrue(torch.equal(together, torch.cat(apart)))

    def test_features_and_outputs_are_those_of_both_and_the_other_inputs_of_one(self):
        role = both_conditions(ROLE)
        self.assertEqual({spec.key: spec.dims[0] for spec in role.inputs}, {"latent": 1, "timestep": 1, "audio": "frames", "deep": 2})
        self.assertEqual({spec.key: spec.dims[0] for spec in role.outputs}, {"prediction": 2, "deep": 2})

    def test_a_card_takes_as_many_pictures_at_once_as_fill_it(self):
        self.assertEqual([pictures_for(place, side) for place, side in [("cuda", 256), ("cuda", 512), ("cpu", 256)]], [8, 2, 1])


if __name__ == "__main__":
    unittest.main()
