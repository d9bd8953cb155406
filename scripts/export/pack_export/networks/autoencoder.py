"""Stable Diffusion's autoencoder (diffusers' AutoencoderKL), without its scaling."""

from typing import List

import torch

from ..export_role import Role
from ..probe import ProbeInput
from ..tensor_spec import TensorSpec


class Encoder(torch.nn.Module):
    """Image → mean and log-variance, stacked on the channels; sampling from them is left to the caller."""

    def __init__(self, vae: torch.nn.Module):
        super().__init__()
        self.vae = vae

    def forward(self, image):
        return self.vae.encode(image).latent_dist.parameters


class Decoder(torch.nn.Module):
    """Latent → image."""

    def __init__(self, vae: torch.nn.Module):
        super().__init__()
        self.vae = vae

    def forward(self, latent):
        return self.vae.decode(latent).sample


def autoencoder_roles(vae: torch.nn.Module, latent: dict, resolution: int) -> List[Role]:
    channels, height, width = latent["channels"], latent["height"], latent["width"]
    image = ["batch", 3, resolution, resolution]
    probe = ProbeInput(dims={"batch": 2}, fill={"image": "wave", "latent": "wave"})
    return [
        Role(
            name="vae_encoder",
            module=Encoder(vae),
            inputs=[TensorSpec("image", image, range=(-1, 1))],
            outputs=[TensorSpec("latent", ["batch", 2 * channels, height, width], name="moments")],
            probe=ProbeInput(dims=probe.dims, fill={"image": "wave"}),
            attention=True,
            # The one network that an H200 runs slower so, by a sixth, in PyTorch too (docs/gpu-sizing.md).
            channels_last=False,
        ),
        Role(
            name="vae_decoder",
            module=Decoder(vae),
            inputs=[TensorSpec("latent", ["batch", channels, height, width])],
            outputs=[TensorSpec("image", image, range=(-1, 1))],
            probe=ProbeInput(dims=probe.dims, fill={"latent": "wave"}),
            attention=True,
        ),
    ]


def latent_params(vae: torch.nn.Module, resolution: int) -> dict:
    """Shape of one picture's latent, and the factor that the service multiplies it with."""
    side = resolution // 2 ** (len(vae.config.block_out_channels) - 1)
    return {
        "channels": vae.config.latent_channels,
        "height": side,
        "width": side,
        "scale": float(vae.config.scaling_factor),
    }


def plain_attention(model: torch.nn.Module) -> torch.nn.Module:
    """
    diffusers' attention as single operations, for graphs without fused attention: the exporter of torch 2.0, which
    MuseTalk requires, supports no other.
    """
    from diffusers.models.attention_processor import AttnProcessor

    model.set_attn_processor(AttnProcessor())
    return model
