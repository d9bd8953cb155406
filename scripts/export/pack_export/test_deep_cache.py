import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import onnx
import torch
from onnx import TensorProto
from torch import nn

from pack_export.export_role import ExportOptions, RoleExporter
from pack_export.networks.deep_cache import Shallow, Whole, deep_cache_roles

WIDTH, CHANNELS, SIDE, AUDIO = 8, 4, 4, {"states": 1, "width": 6}
LATENT = {"channels": CHANNELS, "height": SIDE, "width": SIDE}


class Convolution(nn.Conv2d):
    """Takes frames in [1, channels, frames, h, w]."""

    def forward(self, x):
        return super().forward(x[0].transpose(0, 1)).transpose(0, 1)[None]


class Resnet(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.in_channels = channels
        self.convolution, self.time = Convolution(channels, WIDTH, 1), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, time):
        return torch.tanh(self.convolution(x) + self.time(time)[..., None, None, None])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.audio = nn.Linear(AUDIO["width"], WIDTH)

    def forward(self, x, encoder_hidden_states):
        return SimpleNamespace(sample=x + self.audio(encoder_hidden_states.mean(1)).t()[None, :, :, None, None])


class Motion(nn.Module):
    def forward(self, x, time, encoder_hidden_states):
        return x + x.mean(2, keepdim=True)


class TimeCode(nn.Module):
    def forward(self, timestep):
        return torch.cos(timestep.float()[:, None] * torch.linspace(0.01, 1, WIDTH))


class Unet(nn.Module):
    """LatentSync's UNet in the names and connections of its last block; all below is one layer."""

    def __init__(self):
        super().__init__()
        self.time_proj, self.time_embedding = TimeCode(), nn.Linear(WIDTH, WIDTH)
        self.conv_in = Convolution(3 * CHANNELS + 1, WIDTH, 3, padding=1)
        self.below = Resnet(WIDTH)
        last = nn.Module()
        last.resnets = nn.ModuleList([Resnet(2 * WIDTH), Resnet(2 * WIDTH)])
        last.attentions = nn.ModuleList([Attention(), Attention()])
        last.motion_modules = nn.ModuleList([Motion(), Motion()])
        self.up_blocks = nn.ModuleList([last])
        self.conv_norm_out, self.conv_act = nn.GroupNorm(2, WIDTH), nn.SiLU()
        self.conv_out = Convolution(WIDTH, CHANNELS, 3, padding=1)

    def forward(self, latent, timestep, encoder_hidden_states):
        time = self.time_embedding(self.time_proj(timestep))
        entered = self.conv_in(latent)
        below = self.below(entered, time)
        x, block = below, self.up_blocks[0]
        for beside, *layers in zip((below, entered), block.resnets, block.attentions, block.motion_modules):
            resnet, attention, motion = layers
            x = attention(resnet(torch.cat([x, beside], 1), time), encoder_hidden_states=encoder_hidden_states).sample
            x = motion(x, time, encoder_hidden_states=encoder_hidden_states)
        return SimpleNamespace(sample=self.conv_out(self.conv_act(self.conv_norm_out(x))))


class DeepCacheTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.unet = Unet().eval().requires_grad_(False)
        self.whole, self.shallow = Whole(self.unet), Shallow(self.unet)
        self.audio = torch.randn(5, 10, AUDIO["width"])
        self.earlier, self.later = ((torch.randn(1, 13, 5, SIDE, SIDE), torch.tensor([time])) for time in (951, 901))

    def test_the_two_networks_are_one(self):
        prediction, deep = self.whole(*self.earlier, self.audio)
        self.assertTrue(torch.equal(prediction, self.unet(*self.earlier, encoder_hidden_states=self.audio).sample))
        self.assertTrue(torch.allclose(self.shallow(*self.earlier, self.audio, deep), prediction, atol=1e-6))

    def test_a_later_step_reuses_what_comes_from_below_and_nothing_else(self):
        _, deep = self.whole(*self.earlier, self.audio)

        def from_below(_, inputs):
            return (torch.cat([deep, inputs[0][:, WIDTH:]], dim=1), *inputs[1:])

        hook = self.unet.up_blocks[-1].resnets[-1].register_forward_pre_hook(from_below)
        wanted = self.unet(*self.later, encoder_hidden_states=self.audio).sample
        hook.remove()
        prediction = self.shallow(*self.later, self.audio, deep)
        self.assertTrue(torch.allclose(prediction, wanted, atol=1e-6))
        self.assertFalse(torch.allclose(prediction, self.whole(*self.later, self.audio)[0], atol=1e-3))

    def test_the_graphs_exchange_features_in_single_precision(self):
        with tempfile.TemporaryDirectory() as folder:
            exporter = RoleExporter(Path(folder), ExportOptions(precision="float16"))
            whole, shallow = (exporter.export(role) for role in deep_cache_roles(self.unet, LATENT, AUDIO))
            self.assertEqual(whole["outputs"]["deep"], shallow["inputs"]["deep"])
            self.assertEqual(whole["outputs"]["deep"]["dims"], [1, WIDTH, "frames", SIDE, SIDE])
            for entry, side in ((whole, "output"), (shallow, "input")):
                model = onnx.load(str(Path(folder) / entry["file"]))
                onnx.checker.check_model(model, full_check=True)
                types = {value.name: value.type.tensor_type.elem_type for value in getattr(model.graph, side)}
                self.assertEqual(types["deep"], TensorProto.FLOAT)


if __name__ == "__main__":
    unittest.main()
