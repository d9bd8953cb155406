"""
LatentSync's UNet over an interval of DeepCache (arXiv 2312.00858, github.com/horseee/DeepCache). Between steps that are near
in time a UNet's deep features hardly change, so the first step of an interval makes them and the others take them. Upstream
caches at branch 0, of which only the last layer of the last block remains, and on the way to it the first convolution. One
graph computes all steps of an interval, so that the features never leave its device.
"""

from dataclasses import replace
from functools import reduce
from typing import Sequence

import torch

from ..export_role import Role
from ..tensor_spec import TensorSpec
from .unet import latentsync_unet_role

#: Steps of which upstream computes one with the whole network.
INTERVAL = 3


class Whole(torch.nn.Module):
    """The whole network, with its deep features as a second output."""

    def __init__(self, unet: torch.nn.Module):
        super().__init__()
        self.unet = unet

    def forward(self, latent, timestep, audio):
        entered = []
        # The layer takes the features from below, and beside them what left the first convolution.
        last = self.unet.up_blocks[-1].resnets[-1]
        hook = last.register_forward_pre_hook(lambda _, inputs: entered.append(inputs[0]))
        try:
            prediction = self.unet(latent, timestep, encoder_hidden_states=audio).sample
        finally:
            hook.remove()
        return prediction, entered[0][:, : deep_channels(self.unet)]


class Shallow(torch.nn.Module):
    """What is left of the network when its deep features are known."""

    def __init__(self, unet: torch.nn.Module):
        super().__init__()
        block = unet.up_blocks[-1]
        self.time, self.time_embedding, self.enter = unet.time_proj, unet.time_embedding, unet.conv_in
        self.resnet, self.attention, self.motion = block.resnets[-1], block.attentions[-1], block.motion_modules[-1]
        self.leave = torch.nn.Sequential(unet.conv_norm_out, unet.conv_act, unet.conv_out)

    def forward(self, latent, timestep, audio, deep):
        time = self.time_embedding(self.time(timestep).to(latent.dtype))
        x = self.resnet(torch.cat([deep, self.enter(latent)], dim=1), time)
        x = self.attention(x, encoder_hidden_states=audio).sample
        return self.leave(self.motion(x, time, encoder_hidden_states=audio))


def deep_channels(unet: torch.nn.Module) -> int:
    return unet.up_blocks[-1].resnets[-1].in_channels - unet.conv_in.out_channels


class Update(torch.nn.Module):
    """
    Guidance and the step of the sampler: the noisy channels become the sum of themselves and the predictions, each times its
    coefficient. Those behind them stay.
    """

    def __init__(self, channels: int):
        super().__init__()
        self._channels = channels

    def forward(self, latent, predictions: Sequence[torch.Tensor], coefficients, step: int):
        noisy, known = latent[:, : self._channels], latent[:, self._channels :]
        terms = (part * coefficients[step, i] for i, part in enumerate([noisy, *predictions]))
        return torch.cat([reduce(torch.add, terms), known], dim=1)


class Interval(torch.nn.Module):
    """A whole step and shallow ones. Conditions come one after the other: a batch of both would need twice the memory."""

    def __init__(self, unet: torch.nn.Module, steps: int, guided: bool):
        super().__init__()
        self.whole, self.shallow, self.update = Whole(unet), Shallow(unet), Update(unet.conv_out.out_channels)
        self._steps, self._guided = steps, guided

    def forward(self, latent, timestep, coefficients, audio):
        sounds = [torch.zeros_like(audio), audio] if self._guided else [audio]
        predictions, features = zip(*(self.whole(latent, timestep[:1], sound) for sound in sounds))
        latent = self.update(latent, predictions, coefficients, 0)
        for step in range(1, self._steps):
            time = timestep[step : step + 1]
            predictions = [self.shallow(latent, time, sound, deep) for sound, deep in zip(sounds, features)]
            latent = self.update(latent, predictions, coefficients, step)
        return latent


def interval_role(unet: torch.nn.Module, latent: dict, audio: dict, steps: int, guided: bool) -> Role:
    plain = latentsync_unet_role(unet, latent, audio)
    seen, _, heard = plain.inputs
    # Of the latent, of the prediction without sound where there is guidance, and of the one with it.
    coefficients = TensorSpec("coefficients", [steps, 3 if guided else 2])
    return replace(
        plain,
        module=Interval(unet, steps, guided),
        inputs=[seen, TensorSpec("timestep", [steps], dtype="int64"), coefficients, heard],
        outputs=[replace(seen, name="denoised")],
        probe=replace(plain.probe, fill={**plain.probe.fill, "coefficients": "wave"}),
        single="update",
    )
