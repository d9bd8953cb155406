"""LatentSync's UNet3D over a window of frames, which may be shorter than the one it was trained with."""

import torch

from ..export_role import Role
from ..probe import ProbeInput
from ..tensor_spec import TensorSpec
from .musetalk_unet import WINDOW_STEPS


class Denoiser(torch.nn.Module):
    def __init__(self, unet: torch.nn.Module):
        super().__init__()
        self.unet = unet

    def forward(self, latent, timestep, audio):
        return self.unet(latent, timestep, encoder_hidden_states=audio).sample


def latentsync_unet_role(unet: torch.nn.Module, latent: dict, audio: dict) -> Role:
    channels, height, width = latent["channels"], latent["height"], latent["width"]
    return Role(
        name="unet3d",
        module=Denoiser(unet),
        inputs=[
            TensorSpec("latent", [1, 3 * channels + 1, "frames", height, width]),
            TensorSpec("timestep", [1], dtype="int64"),
            TensorSpec("audio", ["frames", WINDOW_STEPS * audio["states"], audio["width"]]),
        ],
        outputs=[TensorSpec("prediction", [1, channels, "frames", height, width])],
        # A timestep whose embedding would suffer from half precision, and a window that is not full.
        probe=ProbeInput(dims={"frames": 3}, fill={"latent": "wave", "timestep": 951, "audio": "wave"}),
        attention=True,
    )
