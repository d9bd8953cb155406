"""
LatentSync's UNet with DeepCache (arXiv 2312.00858, github.com/horseee/DeepCache) as two graphs. Between steps that are
near in time a UNet's deep features hardly change, so a step may take them from an earlier one. Upstream caches at branch
0, of which only the last layer of the last block remains, and on the way to it the first convolution. The whole network
returns what enters this layer from below; the shallow one takes it.
"""

from dataclasses import replace
from typing import List

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


def deep_cache_roles(unet: torch.nn.Module, latent: dict, audio: dict) -> List[Role]:
    plain = latentsync_unet_role(unet, latent, audio)
    deep = TensorSpec("deep", [1, deep_channels(unet), "frames", latent["height"], latent["width"]])
    return [
        replace(plain, module=Whole(unet), outputs=[*plain.outputs, deep]),
        # Its weights are a hundredth of the whole network's. In the same file, they would count as all of them.
        replace(
            plain,
            name="unet3d_shallow",
            module=Shallow(unet),
            inputs=[*plain.inputs, deep],
            probe=replace(plain.probe, fill={**plain.probe.fill, "deep": "wave"}),
        ),
    ]
