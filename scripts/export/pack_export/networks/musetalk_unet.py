"""MuseTalk's UNet: both latents and the audio window → the clean latent, in one step."""

import torch

from ..export_role import Role
from ..probe import ProbeInput
from ..tensor_spec import TensorSpec

#: Number of 20 ms steps around a frame.
WINDOW_STEPS = 10


class OneStep(torch.nn.Module):
    def __init__(self, unet: torch.nn.Module):
        super().__init__()
        self.unet = unet

    def forward(self, latent, timestep, audio):
        return self.unet(latent, timestep, encoder_hidden_states=audio).sample


def musetalk_unet_role(unet: torch.nn.Module, latent: dict, audio: dict) -> Role:
    channels, height, width = latent["channels"], latent["height"], latent["width"]
    return Role(
        name="unet",
        module=OneStep(unet),
        inputs=[
            TensorSpec("latent", ["batch", 2 * channels, height, width]),
            TensorSpec("timestep", [1], dtype="int64"),
            TensorSpec("audio", ["batch", WINDOW_STEPS * audio["states"], audio["width"]]),
        ],
        outputs=[TensorSpec("latent", ["batch", channels, height, width], name="clean")],
        probe=ProbeInput(dims={"batch": 2}, fill={"latent": "wave", "timestep": 0, "audio": "wave"}),
        attention=True,
    )
