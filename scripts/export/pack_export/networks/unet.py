"""The UNets of MuseTalk and LatentSync."""

import torch

from ..export_role import Role
from ..probe import ProbeInput
from ..tensor_spec import TensorSpec

#: Number of 20 ms steps around a frame.
WINDOW_STEPS = 10


class Unet(torch.nn.Module):
    def __init__(self, unet: torch.nn.Module):
        super().__init__()
        self.unet = unet

    def forward(self, latent, timestep, audio):
        return self.unet(latent, timestep, encoder_hidden_states=audio).sample


def musetalk_unet_role(unet: torch.nn.Module, latent: dict, audio: dict) -> Role:
    """Both latents and the audio window → the clean latent, in one step."""
    channels, height, width = latent["channels"], latent["height"], latent["width"]
    return Role(
        name="unet",
        module=Unet(unet),
        inputs=[
            TensorSpec("latent", ["batch", 2 * channels, height, width]),
            TensorSpec("timestep", [1], dtype="int64"),
            TensorSpec("audio", ["batch", WINDOW_STEPS * audio["states"], audio["width"]]),
        ],
        outputs=[TensorSpec("latent", ["batch", channels, height, width], name="clean")],
        probe=ProbeInput(dims={"batch": 2}, fill={"latent": "wave", "timestep": 0, "audio": "wave"}),
        attention=True,
    )


def latentsync_unet_role(unet: torch.nn.Module, latent: dict, audio: dict) -> Role:
    """Over a window of frames, which may be shorter than the one that the UNet was trained with."""
    channels, height, width = latent["channels"], latent["height"], latent["width"]
    return Role(
        name="unet3d",
        module=Unet(unet),
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
