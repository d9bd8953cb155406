"""
Classifier-free guidance as upstream's LatentSync runs it: both conditions as one batch of two. At 256 pixels the UNet's
operators are too short to keep a large card busy, so that two windows at once take less time than one after the other.
"""

from dataclasses import replace

import torch

from ..export_role import Role
from ..tensor_spec import TensorSpec


class BothConditions(torch.nn.Module):
    """The network for a window without its sound and with it; further inputs are features of both."""

    def __init__(self, network: torch.nn.Module):
        super().__init__()
        self.network = network

    def forward(self, latent, timestep, audio, *features):
        both = torch.cat([latent, latent])
        return self.network(both, timestep, torch.cat([torch.zeros_like(audio), audio]), *features)


def both_conditions(role: Role) -> Role:
    """The role with all outputs, and the features among its inputs, for two conditions instead of one."""
    return replace(
        role,
        module=BothConditions(role.module),
        inputs=[_of_both(spec) if spec.key == "deep" else spec for spec in role.inputs],
        outputs=[_of_both(spec) for spec in role.outputs],
    )


def _of_both(spec: TensorSpec) -> TensorSpec:
    return replace(spec, dims=[2, *spec.dims[1:]])
