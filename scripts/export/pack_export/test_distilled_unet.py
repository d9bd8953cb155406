import tempfile
import unittest
from pathlib import Path

import torch

from pack_export.checkpoint_file import Tensor
from pack_export.checkpoint_manifest import PUBLISHED, Manifest, read_manifests
from pack_export.distilled_unet import load_distilled, mlx_form

UNET = read_manifests()["latentsync-unet"]
BLOCK = "mid_block.attentions.0.transformer_blocks.0"
#: A tensor of every kind, and what github.com/sb1992/latentsync-mlx makes of it, by its README.
KINDS = {
    "conv_in.weight": ((4, 3, 3, 2), lambda w: {"conv_in.weight": w.permute(0, 2, 3, 1)}),
    "time_embedding.linear_1.weight": ((4, 2), lambda w: {"time_embedding.layers.0.weight": w}),
    "time_embedding.linear_2.bias": ((4,), lambda w: {"time_embedding.layers.2.bias": w}),
    "down_blocks.0.downsamplers.0.conv.weight": (
        (2, 5, 3, 3),
        lambda w: {"down_blocks.0.downsample.conv.weight": w.permute(0, 2, 3, 1)},
    ),
    "up_blocks.0.upsamplers.0.conv.bias": ((2,), lambda w: {"up_blocks.0.upsample.conv.bias": w}),
    "mid_block.resnets.1.conv1.bias": ((3,), lambda w: {"mid_block.resnet_1.conv1.bias": w}),
    "mid_block.resnets.0.conv1.bias": ((3,), lambda w: {"mid_block.resnet_0.conv1.bias": w}),
    "down_blocks.0.attentions.0.proj_in.weight": (
        (4, 2, 1, 1),
        lambda w: {"down_blocks.0.attentions.0.proj_in.weight": w[..., 0, 0]},
    ),
    f"{BLOCK}.attn1.to_out.0.weight": ((2, 2), lambda w: {"mid_block.attention.transformer_blocks.0.attn1.to_out.weight": w}),
    f"{BLOCK}.ff.net.2.bias": ((2,), lambda w: {"mid_block.attention.transformer_blocks.0.ff.linear3.bias": w}),
    f"{BLOCK}.ff.net.0.proj.weight": (
        (6, 2),
        lambda w: {
            "mid_block.attention.transformer_blocks.0.ff.linear1.weight": w[:3],
            "mid_block.attention.transformer_blocks.0.ff.linear2.weight": w[3:],
        },
    ),
    "pos_encoder.pe": ((1, 4, 2), lambda w: {"pos_encoder.pe": w}),
}
REDUCED = Manifest(
    "a reduced UNet",
    {key: Tensor("float", shape) for key, (shape, _) in KINDS.items()},
    optional=frozenset({"pos_encoder.pe"}),
    under="state_dict",
    path=PUBLISHED / "latentsync-unet.txt",
)


class DistilledUnetTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "student.pt"
        torch.manual_seed(7)
        self.state = {key: torch.randn(shape) for key, (shape, _) in KINDS.items()}
        self.in_mlx = {}
        for key, (_, convert) in KINDS.items():
            self.in_mlx.update(convert(self.state[key].half()))

    def load(self, content: dict) -> dict:
        torch.save(content, self.file)
        return dict(load_distilled(self.file, REDUCED))

    def assert_same(self, loaded: dict, wanted: dict):
        self.assertEqual(loaded.keys(), wanted.keys())
        for key, tensor in wanted.items():
            self.assertTrue(torch.equal(loaded[key], tensor), key)

    def test_the_forms_of_upstream_and_without_an_entry_are_taken_as_they_are(self):
        self.assert_same(self.load({"state_dict": self.state, "global_step": 9}), self.state)
        self.assert_same(self.load(self.state), self.state)

    def test_what_was_converted_for_mlx_is_converted_back(self):
        self.assert_same(self.load(self.in_mlx), {key: tensor.half() for key, tensor in self.state.items()})

    def test_what_a_network_computes_for_itself_may_be_missing(self):
        del self.in_mlx["pos_encoder.pe"]
        self.assertNotIn("pos_encoder.pe", self.load(self.in_mlx))

    def test_other_tensors_are_refused_in_the_names_of_the_file(self):
        self.in_mlx["conv_in.weight"] = self.in_mlx["conv_in.weight"].permute(0, 3, 1, 2)
        message = r"converted for MLX:\n  1 of another shape: conv_in.weight is \[4, 3, 3, 2\], not \[4, 3, 2, 3\]"
        with self.assertRaisesRegex(SystemExit, message):
            self.load(self.in_mlx)
        with self.assertRaisesRegex(SystemExit, "1 of 12 tensors missing: conv_in.weight"):
            self.load({key: tensor for key, tensor in self.state.items() if key != "conv_in.weight"})
        self.file.unlink()
        with self.assertRaisesRegex(SystemExit, "is missing"):
            load_distilled(self.file, REDUCED)

    def test_no_two_tensors_of_the_published_network_have_one_name_in_mlx(self):
        gated = sum(".ff.net.0.proj." in key for key in UNET.tensors)
        self.assertEqual(len(mlx_form(UNET).tensors), len(UNET.tensors) + gated)


if __name__ == "__main__":
    unittest.main()
