"""The small networks in the place of HighSync's: its pipeline hands banks over through a control object."""

from types import SimpleNamespace

import torch


class SmallControl:
    """Upstream's ReferenceAttentionControl for networks that answer and take banks as tensors."""

    def __init__(self, unet, mode: str, **_):
        self.unet = unet

    def update(self, writer: "SmallControl", **_) -> None:
        self.unet.banks = writer.unet.banks

    def clear(self) -> None:
        self.unet.banks = None


def as_upstream_networks(networks: SimpleNamespace) -> None:
    """Puts wrappers with upstream's signatures around the reference and the denoising network."""
    networks.reference, networks.denoiser = _Reference(networks.reference), _Denoiser(networks.denoiser)


class _Reference(torch.nn.Module):
    device, dtype = torch.device("cpu"), torch.float32

    def __init__(self, network: torch.nn.Module):
        super().__init__()
        self.network, self.banks = network, None

    def forward(self, latent, *_, **__):
        self.banks = self.network(latent)


class _Denoiser(torch.nn.Module):
    """Two halves under guidance: without reference, then with it."""

    device, dtype, in_channels = torch.device("cpu"), torch.float32, 4

    def __init__(self, network: torch.nn.Module):
        super().__init__()
        self.network, self.banks = network, None

    def forward(self, latent, timestep, audio_cond_fea, **_):
        without, given = latent.chunk(2)
        silence, sound = audio_cond_fea.chunk(2)
        return (torch.cat([self.network(without, timestep, silence), self.network(given, timestep, sound, *self.banks)]),)
