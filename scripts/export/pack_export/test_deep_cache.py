import math
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import torch
from torch import nn

from pack_export.export_role import ExportOptions, RoleExporter
from pack_export.networks.deep_cache import Interval, Shallow, Whole, interval_role
from pack_export.probe import feed

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

    def test_an_interval_is_its_steps_with_guidance_and_update_between_them(self):
        (latent, _), times = self.earlier, torch.tensor([951, 901, 851])
        coefficients = torch.randn(3, 3)
        expected, deep = latent, {}
        for time, (keep, unheard, heard) in zip(times, coefficients):
            predictions = []
            for name, sound in (("silence", torch.zeros_like(self.audio)), ("sound", self.audio)):
                if name in deep:
                    prediction = self.shallow(expected, time[None], sound, deep[name])
                else:
                    prediction, deep[name] = self.whole(expected, time[None], sound)
                predictions.append(prediction)
            noisy = keep * expected[:, :CHANNELS] + unheard * predictions[0] + heard * predictions[1]
            expected = torch.cat([noisy, expected[:, CHANNELS:]], dim=1)
        made = Interval(self.unet, 3, guided=True)(latent, times, coefficients, self.audio)
        self.assertTrue(torch.allclose(made, expected, atol=1e-6))

    def test_without_guidance_silence_is_not_computed(self):
        made = Interval(self.unet, 1, guided=False)(*self.earlier, torch.tensor([[0.0, 1.0]]), self.audio)
        self.assertTrue(torch.equal(made[:, :CHANNELS], self.whole(*self.earlier, self.audio)[0]))

    def exported(self, precision: str):
        """The interval's role, and its graph."""
        role = interval_role(self.unet, LATENT, AUDIO, 3, guided=True)
        with tempfile.TemporaryDirectory() as folder:
            entry = RoleExporter(Path(folder), ExportOptions(precision=precision)).export(role)
            model = onnx.load(str(Path(folder) / entry["file"]))
        onnx.checker.check_model(model, full_check=True)
        return role, model

    def test_all_steps_and_conditions_of_a_graph_share_its_weights(self):
        for precision in ("float32", "float16"):
            _, model = self.exported(precision)
            sizes = [math.prod(tensor.dims) for tensor in model.graph.initializer]
            # Beside shapes and factors of norms, which are small.
            weights = [parameter.numel() for parameter in self.unet.parameters() if parameter.numel() > WIDTH]
            self.assertEqual(sorted(size for size in sizes if size > WIDTH), sorted(weights))

    @unittest.skipIf(find_spec("onnx.reference") is None, "this onnx is too old")
    def test_in_half_precision_the_latent_is_updated_in_single(self):
        from onnx.reference import ReferenceEvaluator

        role, model = self.exported("float16")
        feeds = {spec.graph_name: feed(spec, role.probe).numpy() for spec in role.inputs}
        (latent,) = ReferenceEvaluator(model).run(None, {**feeds, "coefficients": np.float32([[0.3, 0, 0], [1, 0, 0], [1, 0, 0]])})
        self.assertTrue(np.array_equal(latent[:, CHANNELS:], feeds["latent"][:, CHANNELS:]))
        self.assertTrue(np.array_equal(latent[:, :CHANNELS], np.float32(0.3) * feeds["latent"][:, :CHANNELS]))


if __name__ == "__main__":
    unittest.main()
